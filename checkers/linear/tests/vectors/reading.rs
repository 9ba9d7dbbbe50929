use std::fs;
use std::path::Path;

use history::{Event, EventKind, Format, History, Outcome, Process, ReadOptions, edn, read};

use crate::index::{Vector, lock_lines, vectors};

fn history(path: &Path) -> (Format, History) {
    let file = fs::File::open(path).unwrap();
    read(file, &ReadOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_vector_is_read() {
    for Vector { path, format, operations, infos, .. } in vectors() {
        let (found, history) = history(&path);
        let expected = if format == "jepsen-log" { Format::JepsenLog } else { Format::Edn };
        assert_eq!(found, expected, "{}", path.display());
        let all = history.operations();
        assert_eq!(all.len(), operations, "{}", path.display());
        let open = all.iter().filter(|operation| operation.outcome() == Outcome::Info).count();
        assert_eq!(open, infos, "{}", path.display());
        assert_eq!(history.notes, [] as [String; 0], "{}", path.display());
    }
}

#[test]
fn edn_that_we_write_reads_alike() {
    for Vector { path, .. } in vectors() {
        let (_, first) = history(&path);
        let mut text = Vec::new();
        edn::write(&mut text, &first).unwrap();
        let (format, second) = read(&text[..], &ReadOptions::default()).unwrap();
        assert_eq!(format, Format::Edn);
        assert!(first.rows().zip(second.rows()).all(|(a, b)| a.value() == b.value()), "{}", path.display());
        assert_eq!(first.events().collect::<Vec<_>>(), second.events().collect::<Vec<_>>());
    }
}

#[test]
fn lock_lines_are_read() {
    for path in lock_lines() {
        let (format, history) = history(&path);
        assert_eq!((format, history.operations().len() > 900), (Format::LockLines, true));
        let tokens = |event: &Event| event.kind == EventKind::Ok && event.f == "acquire";
        assert!(history.events().filter(tokens).all(|event| event.value["token"].is_u64()));
        assert!(history.rows().all(|row| row.process() != Process::Nemesis));
    }
}
