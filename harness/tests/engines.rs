//! The engine is found as the `docker` command finds it, and one that is meant is never passed over in silence.

mod support;

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::{fs::PermissionsExt, net::UnixListener, process::CommandExt},
    path::Path,
    process::{Command, Output},
    sync::mpsc,
    time::Duration,
};

use sha2::{Digest, Sha256};
use support::{alone, docker, fencepost, skipped, text};

/// The binary with none of the variables that name an engine, and with nobody's configuration.
fn bare(home: &Path) -> Command {
    let mut command = fencepost();
    for name in [
        "DOCKER_HOST",
        "DOCKER_CONTEXT",
        "DOCKER_CONFIG",
        "DOCKER_TLS_VERIFY",
        "DOCKER_CERT_PATH",
        "DOCKER_TLS",
    ] {
        command.env_remove(name);
    }
    command.env_remove("XDG_RUNTIME_DIR").env("HOME", home).current_dir(home);
    command
}

/// Wherever it may run: on an engine that can be used, on none that cannot.
const AUTO: [&str; 6] = ["run", "redis/set-nx", "--time", "1s", "--seed", "1"];

/// Both outputs of a run that must fail for want of an engine, without being simulated.
fn refused(output: &Output) -> String {
    let text = text(output);
    assert_eq!(output.status.code(), Some(69), "{text}");
    assert!(!text.contains("simulated") && !text.contains("panicked"), "{text}");
    assert!(text.contains("--on sim"), "what else could be done: {text}");
    text
}

fn refused_with(variables: &[(&str, &str)]) -> String {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = bare(home.path());
    command.envs(variables.iter().copied());
    refused(&command.args(AUTO).output().expect("the binary runs"))
}

/// Where the `docker` command finds the engine of this machine.
fn socket() -> Option<String> {
    let there = docker() && Path::new("/var/run/docker.sock").exists();
    (there || skipped("no engine listens at /var/run/docker.sock"))
        .then(|| "unix:///var/run/docker.sock".into())
}

/// As `docker context create` does it.
fn context(folder: &Path, name: &str, host: &str) {
    let id: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
    let folder = folder.join("contexts/meta").join(id);
    fs::create_dir_all(&folder).expect("the folder is made");
    let meta = format!(
        r#"{{"Name":"{name}","Metadata":{{}},"Endpoints":{{"docker":{{"Host":"{host}","SkipTLSVerify":false}}}}}}"#
    );
    fs::write(folder.join("meta.json"), meta).expect("the context is written");
}

#[test]
fn an_empty_variable_is_not_set() {
    let Some(socket) = socket() else { return };
    let home = tempfile::tempdir().expect("a temporary folder");
    let output = bare(home.path()).env("DOCKER_HOST", "").env("DOCKER_CONTEXT", "").arg("doctor").output();
    let text = text(&output.expect("the binary runs"));
    assert!(text.contains(&format!(" at {socket} (API ")), "{text}");
}

#[test]
fn a_context_is_taken_and_the_first_line_says_so() {
    let Some(socket) = socket() else { return };
    let Some(_alone) = alone() else { return };
    let home = tempfile::tempdir().expect("a temporary folder");
    let folder = home.path().join("configuration");
    context(&folder, "mine", &socket);
    fs::write(folder.join("config.json"), r#"{"currentContext":"mine"}"#).expect("written");
    let run = bare(home.path()).env("DOCKER_CONFIG", &folder).args(AUTO).output().expect("the binary runs");
    let said = text(&run);
    let from = format!(" at {socket}, from context mine in {}/config.json): ", folder.display());
    let first = String::from_utf8_lossy(&run.stderr).lines().next().unwrap_or_default().to_string();
    assert!(first.starts_with("redis/set-nx on docker (engine ") && first.contains(&from), "{said}");
    assert!(matches!(run.status.code(), Some(0 | 2)), "{said}");
    let doctor =
        bare(home.path()).env("DOCKER_CONFIG", &folder).env("DOCKER_CONTEXT", "mine").arg("doctor").output();
    let said = text(&doctor.expect("the binary runs"));
    assert!(said.contains(&format!(" at {socket}, from DOCKER_CONTEXT mine (API ")), "{said}");
}

#[test]
fn what_is_named_and_is_not_there_is_an_error() {
    let said = refused_with(&[("DOCKER_HOST", "unix:///nonexistent")]);
    assert!(
        said.contains(
            "no Docker engine answers at unix:///nonexistent, from DOCKER_HOST: there is no such socket"
        ),
        "{said}"
    );
    let said = refused_with(&[("DOCKER_HOST", "tcp://127.0.0.1:1")]);
    assert!(said.contains("at tcp://127.0.0.1:1, from DOCKER_HOST: nobody listens there"), "{said}");

    let home = tempfile::tempdir().expect("a temporary folder");
    let output = bare(home.path()).env("DOCKER_CONTEXT", "nobody").args(AUTO).output();
    let said = refused(&output.expect("the binary runs"));
    assert!(said.contains("the Docker context nobody (DOCKER_CONTEXT) is not there"), "{said}");
    assert!(said.contains("`docker context ls`"), "{said}");
}

#[test]
fn a_socket_that_nobody_listens_at_is_an_error_where_it_is_named() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let path = home.path().join("dead.sock");
    drop(UnixListener::bind(&path).expect("a socket"));
    let text = refused_with(&[("DOCKER_HOST", &format!("unix://{}", path.display()))]);
    assert!(text.contains("dead.sock, from DOCKER_HOST: nobody listens there"), "{text}");
}

#[test]
fn a_socket_that_refuses_is_an_error_wherever_it_is() {
    if !nix::unistd::geteuid().is_root() {
        skipped("another user can be tried by root alone");
        return;
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    let open =
        |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    open(home.path());
    // The target folder may not be open to others.
    let binary = home.path().join("fencepost");
    fs::copy(env!("CARGO_BIN_EXE_fencepost"), &binary).expect("the binary is copied");
    open(&binary);
    let socket = home.path().join("closed.sock");
    let _listener = UnixListener::bind(&socket).expect("a socket");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o000)).expect("it is ours");
    let as_nobody = |host: Option<String>| {
        let mut command = Command::new(&binary);
        command.env_clear().env("HOME", home.path()).current_dir(home.path()).uid(65534).gid(65534);
        command.envs(host.map(|host| ("DOCKER_HOST", host))).args(AUTO);
        refused(&command.output().expect("the binary runs"))
    };
    let text = as_nobody(Some(format!("unix://{}", socket.display())));
    assert!(text.contains("closed.sock, from DOCKER_HOST refuses: permission denied"), "{text}");
    assert!(text.contains("usermod -aG docker"), "{text}");
    if self::socket().is_some() {
        let text = as_nobody(None);
        assert!(text.contains("at unix:///var/run/docker.sock refuses: permission denied"), "{text}");
    }
}

/// Answers everybody with these bytes; tells what they had said.
fn answering(bytes: &'static [u8]) -> (String, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (heard, told) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut said = vec![0; 1000];
            let read = stream.read(&mut said).unwrap_or_default();
            said.truncate(read);
            // Whoever is gone has heard enough.
            let _ = heard.send(said);
            let _ = stream.write_all(bytes);
        }
    });
    (format!("tcp://{address}"), told)
}

#[test]
fn an_engine_that_speaks_tls_is_told() {
    let alert = b"\x15\x03\x01\x00\x02\x02\x46";
    let go = b"HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    for bytes in [&alert[..], &go[..]] {
        let (host, told) = answering(bytes);
        let text = refused_with(&[("DOCKER_HOST", &host)]);
        assert!(
            text.contains(&format!("the Docker engine at {host}, from DOCKER_HOST speaks TLS")),
            "{text}"
        );
        assert!(text.contains("TLS is not supported yet") && text.contains("ssh -NL"), "{text}");
        assert!(told.recv().is_ok_and(|said| said.starts_with(b"GET ")));
    }
    let (host, _told) = answering(b"SSH-2.0-OpenSSH_9.2\r\n");
    let text = refused_with(&[("DOCKER_HOST", &host)]);
    assert!(text.contains("is no Docker engine: it answered \"SSH-2.0-OpenSSH_9.2"), "{text}");
    let (host, _told) = answering(b"HTTP/1.0 403 Forbidden\r\n\r\n{\"message\":\"not for you\"}");
    let text = refused_with(&[("DOCKER_HOST", &host)]);
    assert!(text.contains("refuses: 403 not for you"), "{text}");
}

#[test]
fn where_tls_is_asked_for_nothing_is_said_in_plain() {
    let (host, told) = answering(b"");
    for name in ["DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"] {
        let text = refused_with(&[("DOCKER_HOST", &host), (name, "1")]);
        assert!(text.contains("TLS is not supported yet") && text.contains(name), "{text}");
    }
    assert!(told.recv_timeout(Duration::from_millis(300)).is_err(), "something was sent");
    let text = refused_with(&[("DOCKER_HOST", "ssh://me@there")]);
    assert!(text.contains("ssh is not supported yet") && text.contains("ssh -NL"), "{text}");
}

/// An engine with a mind of its own, which is far: facts of other types, and containers in states that Docker does not
/// know. One was left by a dead run of this machine, and is gone once it was removed; one may be of another machine that
/// has our name.
fn engine_of_another_make() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let [host, boot] = ["hostname", "random/boot_id"].map(|name| {
        let told = fs::read_to_string(format!("/proc/sys/kernel/{name}")).expect("the kernel tells");
        told.trim().to_owned()
    });
    let namespace = fs::read_link("/proc/self/ns/pid").expect("the kernel tells");
    let namespace: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    let container = format!(
        r#"[{{"Id":"abc","Names":["/fencepost-old-s1"],"State":"configured","Labels":{{"fencepost.run":"old","fencepost.owner":"{host}/{boot}/1/1/{namespace}"}}}},
            {{"Id":"ghi","Names":["/fencepost-far-s1"],"State":"stopping","Labels":{{"fencepost.run":"far","fencepost.owner":"{host}/before/1/1"}}}},
            {{"Id":"def","Names":["/somebodys"],"State":"initialized","Labels":{{}}}}]"#
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut said = vec![0; 4000];
            let read = stream.read(&mut said).unwrap_or_default();
            let said = String::from_utf8_lossy(&said[..read]).into_owned();
            let path = said.split(' ').nth(1).unwrap_or_default();
            let (status, body) = match path.split('?').next().unwrap_or_default() {
                path if path.ends_with("/version") => {
                    (200, r#"{"Version":"4.3.1","ApiVersion":"1.41","Os":7}"#)
                }
                path if path.ends_with("/info") => {
                    (200, r#"{"NCPU":"two","Driver":7,"KernelVersion":"6.1","Architecture":"amd64"}"#)
                }
                path if path.ends_with("/containers/json") => (200, container.as_str()),
                path if path.ends_with("/containers/abc")
                    || path.ends_with("/containers/fencepost-old-s1") =>
                {
                    (204, "")
                }
                path if path.ends_with("/networks") => (200, "[]"),
                _ => (404, r#"{"message":"nothing of the kind"}"#),
            };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"
            );
            let _ = stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes());
        }
    });
    format!("tcp://{address}")
}

#[test]
fn an_engine_of_another_make_is_understood_as_far_as_need_be() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let host = engine_of_another_make();
    let doctor = bare(home.path()).env("DOCKER_HOST", &host).arg("doctor").output();
    let said = text(&doctor.expect("the binary runs"));
    assert!(
        said.contains(&format!("ok       Docker engine 4.3.1 at {host}, from DOCKER_HOST (API 1.41, )")),
        "{said}"
    );
    assert!(said.contains("ok       kernel 6.1 on amd64"), "{said}");
    let clean = bare(home.path()).env("DOCKER_HOST", &host).arg("clean").output().expect("the binary runs");
    let said = text(&clean);
    let lines: Vec<&str> = said.lines().collect();
    assert!(
        matches!(lines[..], ["removed fencepost-old-s1", far] if far.starts_with("left alone fencepost-far-s1: ")),
        "{said}"
    );
    assert_eq!(clean.status.code(), Some(0));
}

/// The command in a mount namespace in which nobody listens under `/run`, as on a machine without any engine.
fn without_engines(home: &Path) -> Command {
    let mut command = Command::new("unshare");

    command.args(["--mount", "sh", "-c", "mount -t tmpfs none /run && exec \"$0\" \"$@\""]);
    command
        .arg(env!("CARGO_BIN_EXE_fencepost"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("CI", "true").env("NO_COLOR", "1").env("HOME", home).current_dir(home);
    command
}

#[test]
fn a_run_without_an_engine_is_simulated_and_says_what_to_install() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let tried = Command::new("unshare").args(["--mount", "true"]).output();
    let root = nix::unistd::geteuid().is_root() && tried.is_ok_and(|tried| tried.status.success());
    if !root && docker() {
        skipped("the engine of this machine can be hidden by root alone");
        return;
    }
    let mut command = if root { without_engines(home.path()) } else { bare(home.path()) };
    let output = command
        .args(["run", "redis/set-nx", "--faults", "pause:holder", "--seed", "1"])
        .output()
        .expect("the binary runs");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("INVALID  redis/set-nx on sim"), "{said}");
    assert!(said.contains("simulated, because no Docker engine answers"), "{said}");
    assert!(said.contains("apt-get install docker.io"), "{said}");

    let mut command = if root { without_engines(home.path()) } else { bare(home.path()) };
    let output = command.args(["run", "redis/set-nx", "--on", "docker"]).output().expect("the binary runs");
    let said = text(&output);
    assert!(
        output.status.code() == Some(69) && said.contains("no Docker engine answers: none is named"),
        "{said}"
    );
}
