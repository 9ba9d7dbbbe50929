//! Histories from files and from standard input.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::atomic::Ordering::Relaxed,
};

use history::{self, History, ReadError, ReadOptions};

use super::watch::{Budget, Stage, Watch};
use crate::{
    error::{Error, Result},
    store::{EXPERIMENT, HISTORY, RESOURCE},
};

/// Standard input, on the command line.
pub const STDIN: &str = "-";

/// Counts what goes through.
struct Counted<'w, R> {
    input: R,
    watch: &'w Watch,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.watch.read_bytes.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}

/// A history that was read, or why it is too large for the memory permitted.
pub type Loaded = Result<History, String>;

/// Reads a history in any format, from the path or, for `-`, from standard input. What lies in a run's folder as its
/// history must be as our recorder writes it.
///
/// # Errors
/// A file that cannot be read, with the place where it cannot.
pub fn load(path: &str, budget: &Budget, watch: &Watch) -> Result<Loaded> {
    let options = ReadOptions { memory_max: budget.memory_bytes, threads: budget.jobs };
    let read = if path == STDIN {
        history::read(Counted { input: io::stdin(), watch }, &options).map(|(_, history)| history)
    } else {
        let failed = |error: io::Error| Error::Data(format!("failed to read the history {path}: {error}"));
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().ok().filter(|file| file.is_file()).map(|file| file.len());
        watch.enter(Stage::Reading(size));
        let input = Counted { input: file, watch };
        if run_of(path).is_some() {
            recorded(input, &options)
        } else {
            history::read(input, &options).map(|(_, history)| history)
        }
    };
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(too_large @ ReadError::TooLarge { .. }) => Ok(Err(too_large.to_string())),
        Err(error) => Err(refused(path, error)),
    }
}

fn recorded(input: impl Read + Send, options: &ReadOptions) -> Result<History, ReadError> {
    let mut history = history::jsonl::read(input, options)?;
    history.check_recorded()?;
    history.check_form()?;
    history.sort();
    Ok(history)
}

/// The folder of the run whose history this path is, if it is one.
pub fn run_of(path: &str) -> Option<&Path> {
    let path = Path::new(path);
    let folder = path.parent()?;
    let is_run = path.file_name().is_some_and(|name| name == HISTORY) && folder.join(EXPERIMENT).is_file();
    is_run.then_some(folder)
}

/// A history that was read and cannot be judged, with the place in its file.
pub fn refused(path: &str, error: ReadError) -> Error {
    Error::Data(placed(path, &error))
}

/// `file:line:column: message`, as far as the place is known.
fn placed(path: &str, error: &ReadError) -> String {
    let path = name(path);
    match error {
        ReadError::Malformed(wrong) => format!("{path}:{}:{}: {}", wrong.line, wrong.column, wrong.message),
        ReadError::IllFormed(wrong) => format!("{path}:{}: {}", wrong.line, wrong.flaw),
        ReadError::Io(cause) => format!("failed to read the history {path}: {cause}"),
        other => format!("{path}: {other}"),
    }
}

/// What a path is called in messages.
pub fn name(path: &str) -> &str {
    if path == STDIN { "<stdin>" } else { path }
}

/// The log of the protected resource beside a history that bears the name of a run's own, if there is one.
pub fn resource_beside(path: &str) -> Option<std::path::PathBuf> {
    let path = Path::new(path);
    let is_run = path.file_name().is_some_and(|name| name == HISTORY);
    is_run.then(|| path.with_file_name(RESOURCE)).filter(|log| log.exists())
}
