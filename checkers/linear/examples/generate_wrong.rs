//! Writes a history with one wrong answer to standard output, in EDN, to see what explanations cost and say.
//!
//! `generate_wrong KIND [OPERATIONS] [SEED]`; without arguments, it lists the kinds.

#[path = "../tests/support/wrong.rs"]
mod wrong;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |position: usize, default: u64| match arguments.get(position) {
        Some(text) => text.parse().unwrap_or_else(|_| usage()),
        None => default,
    };
    let is_known = |kind: &&String| wrong::KINDS.iter().any(|(known, _)| known == kind);
    let Some(kind) = arguments.first().filter(is_known) else { usage() };
    print!("{}", wrong::history(kind, number(1, 200) as usize, number(2, 1)));
}

fn usage() -> ! {
    let kinds = wrong::KINDS.map(|(kind, model)| format!("  {kind}, judged as a {model}\n"));
    eprint!("usage: generate_wrong KIND [OPERATIONS] [SEED]; kinds are\n{}", kinds.concat());
    std::process::exit(64)
}
