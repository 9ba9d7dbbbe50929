//! A base image that is being made ends with the harness, however that ends, and no half of it stays. The engine and the
//! tools are the test's own: nothing is installed, and no engine needed.

mod support;

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Stdio},
    thread::{sleep, spawn},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use support::{hearing_hang_ups, skipped};

/// An engine that has no image and reaches no registry.
fn bare_engine() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut said = vec![0; 4000];
            let read = stream.read(&mut said).unwrap_or_default();
            let said = String::from_utf8_lossy(&said[..read]).into_owned();
            let path = said.split(' ').nth(1).unwrap_or_default();
            let (status, body) = match path.split('?').next().unwrap_or_default() {
                "/version" => (200, r#"{"Version":"1","ApiVersion":"1.41"}"#),
                "/_ping" => (200, "OK"),
                path if path.ends_with("/info") => (200, "{}"),
                path if path.ends_with("/containers/json") || path.ends_with("/networks") => (200, "[]"),
                path if path.ends_with("/networks/create") => (201, r#"{"Id":"n","Warning":""}"#),
                _ => (404, r#"{"message":"nothing of the kind"}"#),
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}",
                body.len()
            );
            // Whoever is gone needs no answer.
            let _ = stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n{body}").as_bytes());
        }
    });
    format!("tcp://{address}")
}

/// Tools that the script calls: one works on and on, with a helper in a session of its own that hears no signal.
fn tools(folder: &Path) {
    let write = |name: &str, script: &str| {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a tool is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    };
    write("docker", "exit 1");
    write("apt-config", "exit 0");
    let work = "setsid sh -c 'trap \"\" TERM; echo $$ >> \"$PIDS\"; exec sleep 600' &\necho half > \"$TMPDIR/half\"\necho $$ >> \"$PIDS\"\nsleep 600";
    write("mmdebstrap", work);
}

/// A command under which a base image is being made.
struct Build {
    harness: Child,
    folder: tempfile::TempDir,
}

impl Build {
    fn start(arguments: &[&str]) -> Option<Build> {
        if !Path::new("/usr/share/keyrings/debian-archive-keyring.gpg").exists() {
            skipped("base images are made on Debian alone");
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let within = |name: &str| folder.path().join(name);
        for name in ["tools", "tmp"] {
            fs::create_dir(within(name)).expect("a folder");
        }
        tools(&within("tools"));
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = hearing_hang_ups();
        command.args(arguments).current_dir(folder.path()).env("DOCKER_HOST", bare_engine());
        command.env("PATH", format!("{}:{path}", within("tools").display()));
        command.env("TMPDIR", within("tmp")).env("PIDS", within("pids"));
        command.env("FENCEPOST_DEBIAN_MIRROR", "http://nowhere.invalid").env("FENCEPOST_DEBIAN_SECURITY", "");
        let harness = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs");
        let build = Build { harness, folder };
        until("the build begins", || build.pids().len() == 2);
        Some(build)
    }

    fn pids(&self) -> Vec<Pid> {
        let told = fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        told.lines().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect()
    }

    fn nothing_goes_on(&self) {
        until("all processes end", || self.pids().into_iter().all(|pid| kill(pid, None).is_err()));
        let tmp = self.folder.path().join("tmp");
        until("no file stays", || fs::read_dir(&tmp).expect("it is there").next().is_none());
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        // All of them are gone, unless the test failed.
        self.pids().into_iter().for_each(|pid| _ = kill(pid, Signal::SIGKILL));
        let _ = self.harness.kill();
        let _ = self.harness.wait();
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let soon = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < soon, "never: {what}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn end_with_a_harness_that_is_killed() {
    let Some(mut build) = Build::start(&["images", "redis:7.0"]) else { return };
    build.harness.kill().expect("it lives");
    build.harness.wait().expect("it is reaped");
    build.nothing_goes_on();
}

#[test]
fn do_not_hold_up_a_run_that_is_to_stop() {
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        let Some(mut build) = Build::start(&["run", "redis/set-nx", "--on", "docker"]) else { return };
        kill(Pid::from_raw(build.harness.id() as i32), signal).expect("it lives");
        let begun = Instant::now();
        let status = build.harness.wait().expect("it ends");
        assert_eq!(status.code(), Some(130), "{signal:?}");
        // A build takes minutes.
        assert!(begun.elapsed() < Duration::from_secs(20), "{signal:?}: {:?}", begun.elapsed());
        build.nothing_goes_on();
    }
}
