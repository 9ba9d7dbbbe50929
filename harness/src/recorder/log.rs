//! A file that takes a line at a time, and never loses one to a full disk.

use std::{
    fs::File,
    io::{self, Write},
    path::PathBuf,
};

use serde::Serialize;

use crate::{error::Result, store::cannot_be_written};

/// Bytes that are kept back at most, while the file takes them.
const KEPT_BACK: usize = 1 << 18;

/// What the file does not take stays here, in order: the file is always a beginning of what was recorded.
pub struct Log {
    path: PathBuf,
    file: File,
    unwritten: Vec<u8>,
}

impl Log {
    /// An empty file.
    pub fn create(path: PathBuf) -> Result<Log> {
        let file = File::create(&path).map_err(|error| cannot_be_written(&path, &error))?;
        Ok(Log { path, file, unwritten: Vec::new() })
    }

    /// Takes a line whatever becomes of the file.
    pub fn append(&mut self, line: &impl Serialize) -> Result<()> {
        // Into memory: no event of ours is refused there.
        let taken = serde_json::to_writer(&mut self.unwritten, line);
        self.unwritten.push(b'\n');
        taken.map_err(|error| cannot_be_written(&self.path, &error.into()))?;
        if self.unwritten.len() < KEPT_BACK { Ok(()) } else { self.flush() }
    }

    /// Writes out what is kept back, as far as the file takes it.
    pub fn flush(&mut self) -> Result<()> {
        let (mut written, mut outcome) = (0, Ok(()));
        while written < self.unwritten.len() && outcome.is_ok() {
            match self.file.write(&self.unwritten[written..]) {
                Ok(0) => outcome = Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => outcome = Err(error),
            }
        }
        self.unwritten.drain(..written);
        outcome.map_err(|error| cannot_be_written(&self.path, &error))
    }

    /// What follows the file's content.
    pub fn unwritten(&self) -> &[u8] {
        &self.unwritten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_file_does_not_take_is_kept_in_order() {
        let mut log = Log::create("/dev/full".into()).expect("a full disk");
        log.append(&1).expect("it is only kept back");
        assert!(log.flush().is_err_and(|error| error.to_string().contains("/dev/full: No space left")));
        log.append(&"two").expect("it is only kept back");
        assert_eq!(log.unwritten(), b"1\n\"two\"\n");
        let big = "x".repeat(KEPT_BACK);
        assert!(log.append(&big).is_err());
        assert_eq!(log.unwritten().len(), 8 + KEPT_BACK + 3, "and is there all the same");
    }
}
