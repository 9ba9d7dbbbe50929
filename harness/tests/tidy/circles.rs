//! Data flows one way: no two modules beside each other import each other, not through others either.
//!
//! Looked at in each folder by itself, where everything below a module counts as that module. A module and the folder that
//! it stands in are no circle: what is common to its parts stands there.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{self, CRATES, Room, Source};

/// From a module to those beside it that it imports, with a file that does.
type Arrows = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn no_modules_beside_each_other_import_each_other() {
    let mut found = Vec::new();
    for room in CRATES {
        let sources = sources::of(&room);
        for (folder, arrows) in folders(&sources) {
            for circle in circles(&arrows) {
                found.push(format!("{}::{}: {circle}", room.name, folder.join("::")));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn rooms_import_only_what_the_house_allows() {
    let mut found = Vec::new();
    for room in CRATES {
        for source in &sources::of(&room) {
            for path in sources::paths(source) {
                let [first, _, ..] = path.as_slice() else { continue };
                if CRATES.iter().any(|other| other.name == first) && !may_import(&room, first) {
                    found.push(format!("{}: {}", source.path, path.join("::")));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn may_import(room: &Room, other: &str) -> bool {
    // A module may bear a room's name, and the program's file imports its own library.
    other == "history" || other == room.name || room.imports.contains(&other)
}

#[test]
fn a_circle_is_found() {
    let file = |path: &str, text: &str| Source {
        path: path.into(),
        module: path.split('/').map(Into::into).collect(),
        lines: 1,
        text: text.into(),
        file: syn::parse_file(text).expect("Rust"),
        is_test: false,
    };
    let sources = [
        file("a/x", "use crate::b::B; use super::y::Y;"),
        file("a/y", "pub struct Y;"),
        file("b", "fn f() { crate::c::g() }"),
        file("c", "use super::a::x;"),
    ];
    let all: Vec<_> = folders(&sources).values().flat_map(circles).collect();
    assert_eq!(all, ["a → b (a/x), b → c (b), c → a (c)"]);
}

/// The arrows between the modules of each folder.
fn folders(sources: &[Source]) -> BTreeMap<Vec<String>, Arrows> {
    let modules: BTreeSet<Vec<String>> = sources
        .iter()
        .flat_map(|source| (0..=source.module.len()).map(|depth| source.module[..depth].to_vec()))
        .collect();
    let mut folders: BTreeMap<Vec<String>, Arrows> = BTreeMap::new();
    for source in sources {
        for path in sources::paths(source) {
            let Some(target) = resolve(&source.module, &path, &modules) else { continue };
            let common = source.module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            let (Some(from), Some(to)) = (source.module.get(common), target.get(common)) else { continue };
            let arrows = folders.entry(source.module[..common].to_vec()).or_default();
            arrows.entry(from.clone()).or_default().insert(to.clone(), source.path.clone());
        }
    }
    folders
}

/// The module that a path leads into.
fn resolve(from: &[String], path: &[String], modules: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let mut at = from.to_vec();
    let mut names = path.iter().peekable();
    match names.peek()?.as_str() {
        "crate" => {
            names.next();
            at.clear();
        }
        "self" => _ = names.next(),
        "super" => {
            while names.next_if(|name| *name == "super").is_some() {
                at.pop();
            }
        }
        _ => {}
    }
    for name in names {
        at.push(name.clone());
        if !modules.contains(&at) {
            at.pop();
            break;
        }
    }
    (at != from).then_some(at)
}

/// A shortest circle through each module that is in one, each once.
fn circles(arrows: &Arrows) -> Vec<String> {
    let mut told: BTreeSet<BTreeSet<&String>> = BTreeSet::new();
    let mut found = Vec::new();
    for start in arrows.keys() {
        let Some(way) = way_back(arrows, start) else { continue };
        if told.insert(way.iter().copied().collect()) {
            let next = way.iter().cycle().skip(1);
            let steps: Vec<_> = way
                .iter()
                .zip(next)
                .map(|(from, to)| format!("{from} → {to} ({})", arrows[*from][*to]))
                .collect();
            found.push(steps.join(", "));
        }
    }
    found
}

fn way_back<'a>(arrows: &'a Arrows, start: &'a String) -> Option<Vec<&'a String>> {
    let mut ways = std::collections::VecDeque::from([vec![start]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for to in arrows.get(way[way.len() - 1]).into_iter().flat_map(BTreeMap::keys) {
            if to == start {
                return Some(way);
            }
            if seen.insert(to) {
                ways.push_back([way.clone(), vec![to]].concat());
            }
        }
    }
    None
}
