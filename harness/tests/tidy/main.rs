//! The house itself: who imports whom, what the map says of it, and what nobody uses.

mod circles;
mod dead;
mod map;
mod sources;

use sources::{CRATES, Source};

/// Longer files are named, and nothing more: a file may have a reason.
const LONG: usize = 400;

#[test]
fn long_files_are_named() {
    let sources = sources::all();
    assert!(sources.len() > 300, "the sources were read: {}", sources.len());
    for Source { path, lines, .. } in sources.iter().filter(|source| source.lines > LONG) {
        eprintln!("{path}: {lines} lines");
    }
}

#[test]
fn every_room_is_read() {
    for room in CRATES {
        assert!(sources::of(&room).len() > 5, "{}", room.folder);
    }
}
