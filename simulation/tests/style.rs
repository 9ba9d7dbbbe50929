//! Nothing in the simulation may read a real clock, iterate a hash map, start a thread, or keep global state.

use std::{fs, path::Path};

const FORBIDDEN: [&str; 12] = [
    "HashMap",
    "HashSet",
    "Instant",
    "SystemTime",
    "thread::",
    "thread_local",
    "static mut",
    "OnceLock",
    "LazyLock",
    "tokio::spawn",
    "rand::",
    "f64",
];

#[test]
fn nothing_in_the_simulation_breaks_determinism() {
    let mut seen = 0;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut look = |path: &Path, text: &str| {
        seen += 1;
        for (number, line) in
            text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for word in FORBIDDEN {
                assert!(!line.contains(word), "{}:{}: {word}: {line}", path.display(), number + 1);
            }
            let select = line.contains("select!");
            let biased = text.lines().nth(number + 1).is_some_and(|next| next.contains("biased;"));
            assert!(
                !select || biased,
                "{}:{}: an unbiased select draws from the thread",
                path.display(),
                number + 1
            );
        }
    };
    for sources in ["src", "../harness/src/world/sim"] {
        visit(&here.join(sources), &mut look);
    }
    assert!(seen > 20, "the sources were looked at: {seen}");
}

fn visit(folder: &Path, look: &mut impl FnMut(&Path, &str)) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("sources").map(|entry| entry.expect("entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            visit(&path, look);
        } else {
            look(&path, &fs::read_to_string(&path).expect("source"));
        }
    }
}
