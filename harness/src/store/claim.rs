//! Who writes into a run's folder holds a lock of the kernel's on its experiment file as long as the run goes on.
//!
//! It is gone with the process, however that ends, and does not depend on who can see whose process: it is on the file.
//! A reader asks for the lock that many may have, for an instant, and so needs no permission to write.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
};

use crate::input;

/// Held as long as it lives.
#[derive(Debug)]
pub struct Claim(#[expect(dead_code, reason = "the lock is the open file's")] File);

impl Claim {
    /// Holds a file. `None` on a file system without locks: there nobody can tell a run that goes on.
    pub fn hold(path: &Path) -> Option<Claim> {
        // Some network file systems give this lock only to those who may write.
        let file = OpenOptions::new().append(true).open(path).ok()?;
        // Waits for a reader that has it for an instant.
        file.lock().ok().map(|()| Claim(file))
    }

    /// Whether anybody holds it.
    pub fn is_held(path: &Path) -> bool {
        input::of_run(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_held_until_it_is_dropped_and_readers_are_in_nobodys_way() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("experiment.toml");
        std::fs::write(&path, "").expect("a file");
        let reader = File::open(&path).expect("it opens");
        reader.try_lock_shared().expect("a reader has it");
        assert!(!Claim::is_held(&path), "another reader is no run");
        drop(reader);
        let claim = Claim::hold(&path).expect("locks are here");
        assert!(Claim::is_held(&path) && Claim::is_held(&path));
        drop(claim);
        assert!(!Claim::is_held(&path) && !Claim::is_held(&folder.path().join("nothing")));
    }
}
