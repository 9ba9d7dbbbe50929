//! The folder of histories of other tools.

use std::fs;
use std::path::PathBuf;

/// One line of the folder's index.
pub struct Vector {
    pub path: PathBuf,
    pub format: String,
    pub model: String,
    pub initial: String,
    pub operations: usize,
    pub infos: usize,
    pub is_linearizable: bool,
}

/// The folder; it need not be there.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors")
}

/// All histories of the index; none, with a word of warning, where the folder is not there.
pub fn vectors() -> Vec<Vector> {
    let Ok(index) = fs::read_to_string(folder().join("INDEX.tsv")) else {
        eprintln!("SKIPPED: {} is not there, so no history of another tool was read", folder().display());
        return Vec::new();
    };
    let vector = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        Vector {
            path: folder().join(fields[0]),
            format: fields[1].to_owned(),
            model: fields[2].to_owned(),
            initial: fields[3].to_owned(),
            operations: fields[4].parse().expect("a number of operations"),
            infos: fields[5].parse().expect("a number of indeterminate operations"),
            is_linearizable: fields[6] == "linearizable",
        }
    };
    index.lines().skip(1).map(vector).collect()
}

/// The histories of one lock that the index does not list.
pub fn lock_lines() -> Vec<PathBuf> {
    let folder = folder().join("synthetic/lock");
    let Ok(files) = fs::read_dir(&folder) else {
        eprintln!("SKIPPED: {} is not there, so no lock lines were read", folder.display());
        return Vec::new();
    };
    files.map(|file| file.expect("the folder can be listed").path()).collect()
}
