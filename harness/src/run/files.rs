//! A run's history and its resource's log, as they lie in its folder.

use std::{
    fs::File,
    io::{BufWriter, ErrorKind, Read, Write},
    path::Path,
};

use history::{self, History, ReadError, ReadOptions, ResourceEntry};

use crate::{
    error::{Error, Result},
    input, memory,
    recorder::Unwritten,
    store::{HISTORY, RESOURCE, RunFolder},
};

/// What a run recorded.
pub struct Files {
    /// In time order, with dense indexes, and with the resource's log.
    pub history: History,
    /// Whether the run itself has put it into this order, as it does once it is over.
    pub is_final: bool,
    /// What a reader should know about the files, such as a torn last line.
    pub notes: Vec<String>,
}

impl Files {
    /// Reads them, with what their recorder could not write.
    ///
    /// # Errors
    /// A history that cannot be read, or that no recorder can have written, with the line; a log of the like.
    pub fn read(folder: &Path, unwritten: &Unwritten) -> Result<Files> {
        let path = folder.join(HISTORY);
        let (mut history, is_final) = read_history(&path, &unwritten.history)?;
        let mut notes: Vec<String> =
            history.notes.iter().map(|note| format!("{}: {note}", path.display())).collect();
        history
            .check_form()
            .and_then(|()| history.check_vocabulary())
            .map_err(|error| Error::Data(format!("{}: {error}", path.display())))?;
        let log = folder.join(RESOURCE);
        let read = input::of_run(&log).map_err(ReadError::from);
        match read.and_then(|file| history::jsonl::read_resource(file.chain(&*unwritten.resource))) {
            Ok(entries) => history.resource = entries,
            Err(ReadError::Io(error)) if error.kind() == ErrorKind::NotFound => {}
            // As if it were missing: the checks know what to say without it.
            Err(ReadError::Io(error)) => notes.push(format!("{}: {error}: judged without it", log.display())),
            Err(error) => return Err(of(&log, &error)),
        }
        Ok(Files { history, is_final, notes })
    }
}

/// Reads a resource's log; a missing one is an empty one.
///
/// # Errors
/// A log that cannot be read, or that no resource can have written, with the line.
pub fn read_resource(path: &Path) -> Result<Vec<ResourceEntry>> {
    match input::of_run(path) {
        Ok(file) => history::jsonl::read_resource(file).map_err(|error| of(path, &error)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::Data(format!("failed to read {}: {error}", path.display()))),
    }
}

/// Puts a history into the place of what was recorded as it came.
///
/// # Errors
/// It cannot be written; what was recorded is still there.
pub fn write_history(folder: &RunFolder, history: &History) -> Result<()> {
    let write = |file: &mut File| {
        let mut file = BufWriter::new(file);
        history::jsonl::write(&mut file, history.events()).and_then(|()| file.flush())
    };
    folder.write_with(HISTORY, write).map(|_| ())
}

/// In time order, and whether it was so.
fn read_history(path: &Path, rest: &[u8]) -> Result<(History, bool)> {
    let file = input::of_run(path)
        .map_err(|error| Error::Data(format!("failed to read the history {}: {error}", path.display())))?;
    let options = ReadOptions { memory_max: memory::half_of_free(), ..ReadOptions::default() };
    let mut history = history::jsonl::read(file.chain(rest), &options).map_err(|error| of(path, &error))?;
    history.check_recorded().map_err(|error| Error::Data(format!("{}: {error}", path.display())))?;
    let is_final = history.is_numbered();
    history.sort();
    Ok((history, is_final))
}

fn of(path: &Path, error: &ReadError) -> Error {
    Error::Data(format!("{}: {error}", path.display()))
}
