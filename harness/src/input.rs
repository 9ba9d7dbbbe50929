//! Files that others wrote, read no further than they can make sense.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
};

use nix::fcntl::OFlag;

use crate::memory;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum Unread {
    /// The system says so.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Perhaps it has no end at all.
    #[error("it is longer than {}", crate::check::quantity::in_words(*.0))]
    TooLong(u64),
    /// Bytes that are no text.
    #[error("line {0} is not UTF-8")]
    NoText(usize),
}

/// What a run tells of itself beside its history: of sixty thousand faults it is some twenty MiB.
const OF_RUN_MAX: u64 = 256 << 20;

/// Opens a file of a run. One that another may write into while it is read, for ever if need be, is none of a run's.
///
/// # Errors
/// A file that cannot be opened, or a pipe.
pub fn of_run(path: &Path) -> io::Result<File> {
    // A pipe that nobody writes into would be waited for.
    let file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    match file.metadata()?.file_type().is_fifo() {
        true => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, not a file")),
        false => Ok(file),
    }
}

/// The text of a file of a run.
///
/// # Errors
/// As [`of_run`] and [`text`].
pub fn text_of_run(path: &Path) -> Result<String, Unread> {
    whole(of_run(path)?, OF_RUN_MAX)
}

/// The text of a run's history: as long as half of the free memory takes.
///
/// # Errors
/// As [`text_of_run`].
pub fn history(path: &Path) -> Result<String, Unread> {
    whole(of_run(path)?, memory::half_of_free().unwrap_or(u64::MAX - 1))
}

/// The text of a file of at most so many bytes.
///
/// # Errors
/// A file that cannot be read, is longer, or is no text.
pub fn text(path: &Path, bytes_max: u64) -> Result<String, Unread> {
    whole(File::open(path)?, bytes_max)
}

fn whole(file: File, bytes_max: u64) -> Result<String, Unread> {
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(Unread::TooLong(bytes_max));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Unread::NoText(1 + before.iter().filter(|byte| **byte == b'\n').count())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_left() {
        let said = |path: &str, max| text(Path::new(path), max).unwrap_err().to_string();
        assert_eq!(said("/dev/zero", 1 << 20), "it is longer than 1 MiB");
        assert!(said("/nonexistent", 1).starts_with("No such file"));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        std::fs::write(&file, b"one\ntwo\n\xff").expect("it is written");
        assert_eq!(text(&file, 9).unwrap_err().to_string(), "line 3 is not UTF-8");
    }
    #[test]
    fn a_pipe_is_no_file_of_a_run_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pipe = folder.path().join("verdict.json");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        assert_eq!(text_of_run(&pipe).unwrap_err().to_string(), "it is a pipe, not a file");
    }
}
