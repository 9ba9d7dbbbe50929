//! Debian base images out of packages, where no registry is reachable.
//!
//! The script that makes one starts many processes and fills a folder. It runs below a process of ours that ends all of
//! them, and removes the folder, when the pipe to the harness breaks: however the harness ends, nothing goes on.

use std::{
    io::{Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use history::exit::ExitCode;
use nix::{
    sys::{
        prctl::set_child_subreaper,
        signal::{Signal, kill},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};

use crate::error::{Error, Result};

const SCRIPT: &str = include_str!("../../../images/base.sh");
/// How long the script's processes get to tidy up before they are killed.
const GRACE: Duration = Duration::from_secs(3);
/// From one look at them to the next.
const LOOK: Duration = Duration::from_millis(20);

/// Makes a Debian base image. Dropped before it is done, it is given up.
pub async fn make(base: &str, say: &dyn Fn(&str)) -> Result<()> {
    let suite =
        base.strip_prefix("debian:").and_then(|rest| rest.strip_suffix("-slim")).ok_or_else(|| {
            Error::Unavailable(format!(
                "the base image {base} is not here, cannot be pulled and cannot be made"
            ))
        })?;
    say(&format!("no registry answers: making {base} out of Debian packages"));
    let failed = |why: String| {
        Error::Unavailable(format!(
            "failed to make the base image {base}: {why}\n  on a Debian system, as root, images/base.sh makes it; or pull {base}"
        ))
    };
    let binary = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut child = tokio::process::Command::new(binary)
        .args(["base", suite])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        // Ctrl-C is for the harness, which then lets go of the pipe.
        .process_group(0)
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let pipe = child.stdin.take();
    let status = child.wait().await.map_err(|error| failed(error.to_string()))?;
    drop(pipe);
    if status.success() { Ok(()) } else { Err(failed(format!("the script ended with {status}"))) }
}

/// The main of the process between harness and script; the script's exit code.
pub fn main(suite: &str) -> Result<u8> {
    let failed = |error: &dyn std::fmt::Display| Error::Harness(format!("failed to run the script: {error}"));
    // What the script's processes leave behind becomes a child of ours, and can be found.
    set_child_subreaper(true).map_err(|error| failed(&error))?;
    let folder = Folder::make().map_err(|error| failed(&error))?;
    let mut script = Command::new("sh")
        .args(["-s", "--", suite])
        .env("TMPDIR", &folder.0)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| failed(&error))?;
    let fed = script.stdin.take().map(|mut stdin| stdin.write_all(SCRIPT.as_bytes()));
    thread::spawn(|| {
        let mut nothing = Vec::new();
        // However the pipe ends, the harness is gone or has given up.
        let _ = std::io::stdin().read_to_end(&mut nothing);
        send(Signal::SIGTERM);
        thread::sleep(GRACE);
        send(Signal::SIGKILL);
    });
    let status = script.wait().map_err(|error| failed(&error))?;
    end_the_rest();
    fed.transpose().map_err(|error| failed(&error))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(ExitCode::Harness.into()))
}

/// Where all files of the script lie until the image is in the engine.
struct Folder(PathBuf);

impl Folder {
    fn make() -> std::io::Result<Folder> {
        let path = std::env::temp_dir().join(format!("fencepost-base-{}", std::process::id()));
        std::fs::create_dir(&path).map(|()| Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// What is mounted below is not ours to remove, as parts of the machine are while packages are installed.
fn remove(folder: &Path) {
    let _ = Command::new("rm").args(["-rf", "--one-file-system", "--"]).arg(folder).status();
}

fn rest() -> Vec<Pid> {
    let own = Pid::this();
    let tree = nemesis::process::tree(own.as_raw());
    tree.into_iter().map(Pid::from_raw).filter(|pid| *pid != own).collect()
}

/// To every process that came of the script.
fn send(signal: Signal) {
    // One that ended meanwhile is what was wanted.
    rest().into_iter().for_each(|pid| _ = kill(pid, signal));
}

/// Waits for what outlives the script, for a while, and kills it then.
fn end_the_rest() {
    let begun = Instant::now();
    loop {
        let ended = || waitpid(None, Some(WaitPidFlag::WNOHANG));
        while ended().is_ok_and(|status| status != WaitStatus::StillAlive) {}
        if rest().is_empty() {
            return;
        }
        if begun.elapsed() > GRACE {
            send(Signal::SIGKILL);
        }
        thread::sleep(LOOK);
    }
}
