//! Histories of other tools, where the folder that holds them is there.

use std::fs;
use std::path::PathBuf;

use checkers::history::{Event, EventKind, Format, History, Outcome, Process, ReadOptions, edn, read};

/// One line of the folder's index.
struct Vector {
    path: PathBuf,
    format: String,
    operations: usize,
    infos: usize,
}

fn vectors() -> Vec<Vector> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors");
    let Ok(index) = fs::read_to_string(folder.join("INDEX.tsv")) else {
        eprintln!("SKIPPED: {} is not there, so no history of another tool was read", folder.display());
        return Vec::new();
    };
    let vector = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        Vector {
            path: folder.join(fields[0]),
            format: fields[1].to_owned(),
            operations: fields[4].parse().unwrap(),
            infos: fields[5].parse().unwrap(),
        }
    };
    index.lines().skip(1).map(vector).collect()
}

fn history(path: &PathBuf) -> (Format, History) {
    let file = fs::File::open(path).unwrap();
    read(file, &ReadOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_vector_is_read() {
    for Vector { path, format, operations, infos } in vectors() {
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
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors/synthetic/lock");
    let Ok(files) = fs::read_dir(&folder) else {
        eprintln!("SKIPPED: {} is not there, so no lock lines were read", folder.display());
        return;
    };
    for file in files {
        let (format, history) = history(&file.unwrap().path());
        assert_eq!((format, history.operations().len() > 900), (Format::LockLines, true));
        let tokens = |event: &Event| event.kind == EventKind::Ok && event.f == "acquire";
        assert!(history.events().filter(tokens).all(|event| event.value["token"].is_u64()));
        assert!(history.rows().all(|row| row.process() != Process::Nemesis));
    }
}
