use reports::html;

use crate::sample;

#[test]
fn pages_are_written() {
    for (name, run) in [
        ("broken", sample::broken()),
        ("valid", sample::valid()),
        ("unknown", sample::unknown()),
        ("election", sample::election()),
        ("empty", sample::empty()),
        ("large", sample::large()),
        ("hostile", sample::hostile()),
    ] {
        let page = html::render(&run).unwrap();
        let path = format!("{}/{name}.html", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&path, &page).unwrap();
        eprintln!("{path}: {} bytes, {} operations", page.len(), run.events.len() / 2);
    }
}
