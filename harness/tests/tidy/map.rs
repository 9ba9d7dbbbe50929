//! ARCHITECTURE.md names the rooms as they are.

use std::{collections::BTreeSet, fs};

use crate::sources::{self, CRATES, Source};

#[test]
fn every_module_is_on_the_map_and_nothing_else() {
    let map = fs::read_to_string(sources::workspace().join("ARCHITECTURE.md")).expect("the map");
    let mut wrong = Vec::new();
    for room in CRATES {
        let section = section(&map, room.folder).unwrap_or_else(|| panic!("no section {}", room.folder));
        let sources = sources::of(&room);
        let modules = modules(&sources);
        let named = words(section);
        wrong.extend(modules.difference(&named).map(|name| format!("{}: {name} is not named", room.folder)));
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
        for name in rows.flat_map(|row| words(&format!("`{row}"))) {
            if !exists(&sources, &name) {
                wrong.push(format!("{}: there is no {name}", room.folder));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_map_tells_who_imports_whom() {
    let map = fs::read_to_string(sources::workspace().join("ARCHITECTURE.md")).expect("the map");
    let line = map.lines().find(|line| line.starts_with("Imports: ")).expect("a line of imports");
    for room in CRATES.iter().filter(|room| !room.imports.is_empty()) {
        let all = room.imports.len() + 2 == CRATES.len();
        let imports = if all { "all".to_string() } else { room.imports.join(", ") };
        let arrow = format!("`{} → {imports}`", room.name);
        assert!(line.contains(&arrow), "{arrow} is not in: {line}");
    }
}

/// From a heading to the next.
fn section<'m>(map: &'m str, folder: &str) -> Option<&'m str> {
    let heading = format!("\n### {folder}\n");
    let begin = map.find(&heading)? + heading.len();
    let rest = &map[begin..];
    Some(&rest[..rest.find("\n#").unwrap_or(rest.len())])
}

/// What stands between backticks, taken apart.
fn words(text: &str) -> BTreeSet<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.flat_map(|quoted| quoted.split("::")).map(str::to_string).collect()
}

/// The modules that stand directly in a crate.
fn modules(sources: &[Source]) -> BTreeSet<String> {
    sources.iter().filter_map(|source| source.module.first().cloned()).collect()
}

/// As a module anywhere in the crate, or as a type.
fn exists(sources: &[Source], name: &str) -> bool {
    let says = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    sources.iter().any(|source| source.module.iter().any(|module| module == name) || says(&source.text))
}
