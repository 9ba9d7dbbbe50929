//! Mounts that only one test sees: a small disk, a folder that cannot be written.
#![expect(dead_code, reason = "each test binary uses a part of it")]

use std::{path::Path, process::Command};

use nix::sched::{CloneFlags, unshare};

/// Runs `test` in a thread with mounts of its own, which the processes that it starts see too; they are gone with the
/// last of these. Says so and returns where this process may not mount.
pub fn privately(test: impl FnOnce() + Send + 'static) {
    if !nix::unistd::geteuid().is_root() {
        super::support::skipped("mounts of a test's own need root");
        return;
    }
    let alone = std::thread::spawn(|| {
        // From here on this thread has a view of its own of the file system, and nothing else.
        unshare(CloneFlags::CLONE_NEWNS).expect("root may have mounts of its own");
        mount(&["--make-rprivate", "/"]);
        test();
    });
    if let Err(panic) = alone.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Puts an empty disk of so many bytes and files on a folder.
pub fn small_disk(folder: &Path, bytes: u64, files: u64) {
    let size = format!("size={bytes},nr_inodes={files}");
    mount(&["-t", "tmpfs", "-o", &size, "tmpfs", &folder.display().to_string()]);
}

/// Makes a folder one that can only be read.
pub fn read_only(folder: &Path) {
    let folder = folder.display().to_string();
    mount(&["--bind", &folder, &folder]);
    mount(&["-o", "remount,bind,ro", &folder]);
}

fn mount(args: &[&str]) {
    let mounted = Command::new("mount").args(args).output().expect("mount runs");
    assert!(mounted.status.success(), "mount {args:?}: {}", super::support::text(&mounted));
}
