//! Random small histories in every format that `fencepost check` reads and of every model, with and without keys, judged
//! as the command judges them, and by a brute force of this program's own that shares nothing with the engine.
//!
//! A history is written in all formats; the verdict must be right, the same in all, and the explanation's smallest part
//! must itself be wrong. Disagreements are printed with their text, and the exit code is then 1.

mod brute;
mod case;
mod compare;
mod domain;
mod expected;
mod generate;
mod history;
mod judge;
mod names;
mod objects;
mod random;
mod spelling;
mod steps;
mod write;
mod write_edn;
mod write_json;

use brute::Twist;
use clap::Parser;
use compare::{Kept, Plan, Table};
use spelling::Format;

#[derive(Parser)]
struct Args {
    /// How many histories; each is written in every format
    #[arg(long, default_value_t = 10_000)]
    histories: usize,
    /// Decides the histories
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these models, such as cas-register; the beginning of a name is enough
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only these formats
    #[arg(long, value_delimiter = ',')]
    formats: Vec<Format>,
    /// Which histories to leave out
    #[arg(long, value_delimiter = ',')]
    without: Vec<Kept>,
    /// Lets the program's own judge be wrong, to see that it is noticed
    #[arg(long)]
    twist: Option<Twist>,
    /// How many kinds of disagreements to print, the shortest history of each
    #[arg(long, default_value_t = 50)]
    show: usize,
}

fn main() {
    let Args { histories, seed, only, formats, without, twist, show } = Args::parse();
    let plan = Plan { seed, histories, only, formats, without, twist };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (table, examples) = compare::compare(&plan, &folder.path().join("history"));
    for ((object, keyed, _), told) in examples.iter().take(show) {
        println!("{}{}, {told}\n", object.name(), if *keyed { " with keys" } else { "" });
    }
    print(&table);
    let wrong: u64 = table.values().map(|counts| counts.wrong).sum();
    if wrong > 0 {
        println!("{wrong} disagreements");
        std::process::exit(1);
    }
}

fn print(table: &Table) {
    println!(
        "model                    keys  format       histories     valid   invalid   unknown   refused  wrong"
    );
    for ((object, keyed, format), counts) in table {
        let compare::Counts { histories, valid, invalid, unknown, refused, wrong } = counts;
        let (object, format) = (object.name(), format.name());
        let keys = if *keyed { "yes" } else { "no" };
        println!(
            "{object:<24} {keys:<5} {format:<12} {histories:>9} {valid:>9} {invalid:>9} {unknown:>9} {refused:>9} {wrong:>6}"
        );
    }
}
