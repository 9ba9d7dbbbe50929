use std::collections::BTreeMap;

use super::*;

/// What somebody's machine looks like.
#[derive(Default)]
struct Machine {
    variables: Vec<(&'static str, &'static str)>,
    files: BTreeMap<PathBuf, Result<String, io::ErrorKind>>,
    /// What connecting says; `None` for somebody who listens.
    sockets: BTreeMap<&'static str, Option<io::ErrorKind>>,
}

impl Machine {
    fn with(variables: &[(&'static str, &'static str)]) -> Machine {
        Machine { variables: variables.to_vec(), ..Machine::default() }
    }

    fn file(mut self, path: &str, text: &str) -> Machine {
        self.files.insert(path.into(), Ok(text.into()));
        self
    }

    /// A context as `docker context create` writes it; the folder's name is the digest of its own.
    fn context(self, folder: &str, name: &str, host: &str) -> Machine {
        let meta = format!(
            r#"{{"Name":"{name}","Metadata":{{}},"Endpoints":{{"docker":{{"Host":"{host}","SkipTLSVerify":false}}}}}}"#
        );
        self.file(&format!("{folder}/contexts/meta/{}/meta.json", digest(name)), &meta)
    }

    fn socket(mut self, path: &'static str, says: Option<io::ErrorKind>) -> Machine {
        self.sockets.insert(path, says);
        self
    }

    fn meant(&self) -> Result<Option<Meant>, Unusable> {
        let variable = |name: &str| {
            self.variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string())
        };
        let absent = || Err(io::ErrorKind::NotFound);
        let text = |path: &str| path.to_string();
        Surroundings {
            variable: &variable,
            home: Some("/home/ann".into()),
            read: &|path| self.files.get(path).cloned().unwrap_or_else(absent).map_err(io::Error::from),
            is_there: &|path| {
                self.files.contains_key(path)
                    || self.sockets.contains_key(text(&path.display().to_string()).as_str())
            },
            connect: &|path| match self.sockets.get(path.to_str().unwrap()) {
                Some(None) => Ok(()),
                Some(Some(kind)) => Err((*kind).into()),
                None => Err(io::ErrorKind::NotFound.into()),
            },
        }
        .meant()
    }

    /// As the first line of a run has it; empty for none.
    fn says(&self) -> String {
        self.meant().unwrap().map(|meant| meant.to_string()).unwrap_or_default()
    }

    fn refuses(&self) -> String {
        self.meant().unwrap_err().to_string()
    }
}

fn digest(name: &str) -> &'static str {
    match name {
        // printf desktop | sha256sum
        "desktop" => "68693d02ab4fbb2331b8cc39915322e48e61f06d4d1b31e7d19913202857bc8a",
        _ => "",
    }
}

const LISTENS: Option<io::ErrorKind> = None;

#[test]
fn docker_host_comes_first_and_an_empty_one_is_not_set() {
    let usual = "/var/run/docker.sock";
    let all = [("DOCKER_HOST", "tcp://there:1234"), ("DOCKER_CONTEXT", "desktop")];
    assert_eq!(Machine::with(&all).socket(usual, LISTENS).says(), "tcp://there:1234, from DOCKER_HOST");
    let empty = [("DOCKER_HOST", ""), ("DOCKER_CONTEXT", "")];
    assert_eq!(Machine::with(&empty).socket(usual, LISTENS).says(), "unix:///var/run/docker.sock");
    assert_eq!(Machine::with(&empty).says(), "");
}

#[test]
fn addresses_are_read_as_docker_reads_them() {
    for (text, read) in [
        ("unix:///x/y.sock", "unix:///x/y.sock"),
        ("unix://", "unix:///var/run/docker.sock"),
        ("tcp://h", "tcp://h:2375"),
        ("tcp://h:1/", "tcp://h:1"),
        ("tcp://:9", "tcp://localhost:9"),
        ("http://h:1", "tcp://h:1"),
        ("127.0.0.1:7", "tcp://127.0.0.1:7"),
        ("tcp://[::1]", "tcp://[::1]:2375"),
        ("tcp://[::1]:5", "tcp://[::1]:5"),
    ] {
        assert_eq!(endpoint(text, None).unwrap().to_string(), read, "{text}");
    }
    for (text, why) in [
        ("unix://x.sock", "begins with `/`"),
        ("/var/run/docker.sock", "unix:///var/run/docker.sock"),
        ("tcp://h:99999", "no port"),
        ("tcp://h:x", "no port"),
        ("tcp://h/path", "no address"),
        ("ssh://me@h", "ssh is not supported yet"),
        ("https://h:2376", "TLS is not supported yet"),
        ("npipe:////./pipe/docker_engine", "npipe:// is not supported"),
    ] {
        let said = endpoint(text, None).unwrap_err().to_string();
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn tls_that_was_asked_for_is_never_left_out() {
    for name in ["DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"] {
        let said = Machine::with(&[("DOCKER_HOST", "tcp://h:2376"), (name, "1")]).refuses();
        assert!(said.starts_with("DOCKER_HOST=tcp://h:2376: ") && said.contains(name), "{said}");
        assert!(said.contains("TLS is not supported yet") && said.contains("ssh -NL"), "{said}");
        let empty = Machine::with(&[("DOCKER_HOST", "tcp://h:2376"), (name, "")]);
        assert_eq!(empty.says(), "tcp://h:2376, from DOCKER_HOST");
        let socket = Machine::with(&[("DOCKER_HOST", "unix:///x"), (name, "1")]);
        assert_eq!(socket.says(), "unix:///x, from DOCKER_HOST", "there is nobody in between");
    }
}

#[test]
fn a_context_is_found_by_the_digest_of_its_name() {
    let variable = Machine::with(&[("DOCKER_CONTEXT", "desktop")]);
    let there = variable.context("/home/ann/.docker", "desktop", "unix:///d.sock");
    assert_eq!(there.says(), "unix:///d.sock, from DOCKER_CONTEXT desktop");
    let elsewhere = Machine::with(&[("DOCKER_CONTEXT", "desktop"), ("DOCKER_CONFIG", "/etc/d")]);
    assert_eq!(
        elsewhere.context("/etc/d", "desktop", "tcp://h:5").says(),
        "tcp://h:5, from DOCKER_CONTEXT desktop"
    );
    let current = Machine::with(&[]).context("/home/ann/.docker", "desktop", "unix:///d.sock");
    let current = current.file("/home/ann/.docker/config.json", r#"{"auths":{},"currentContext":"desktop"}"#);
    assert_eq!(current.says(), "unix:///d.sock, from context desktop in /home/ann/.docker/config.json");
}

#[test]
fn the_default_context_is_none() {
    for current in ["default", ""] {
        let file = format!(r#"{{"currentContext":"{current}"}}"#);
        let machine = Machine::with(&[]).file("/home/ann/.docker/config.json", &file);
        assert_eq!(machine.socket("/var/run/docker.sock", LISTENS).says(), "unix:///var/run/docker.sock");
    }
    let file = r#"{"currentContext":"desktop"}"#;
    let machine = Machine::with(&[("DOCKER_CONTEXT", "default")]).file("/home/ann/.docker/config.json", file);
    assert_eq!(machine.socket("/var/run/docker.sock", LISTENS).says(), "unix:///var/run/docker.sock");
}

#[test]
fn a_context_that_cannot_be_used_hides_behind_no_other_engine() {
    let usual = "/var/run/docker.sock";
    let named = || Machine::with(&[("DOCKER_CONTEXT", "desktop")]).socket(usual, LISTENS);
    let said = named().refuses();
    assert!(said.starts_with("the Docker context desktop (DOCKER_CONTEXT) is not there: no /home/ann/"));
    assert!(said.contains("docker context ls"), "{said}");
    let tls = named().context("/home/ann/.docker", "desktop", "tcp://h:2376");
    let tls = tls.file(&format!("/home/ann/.docker/contexts/tls/{}/docker/ca.pem", digest("desktop")), "");
    assert!(tls.refuses().contains("its certificates says; TLS is not supported yet"), "{}", tls.refuses());
    let ssh = named().context("/home/ann/.docker", "desktop", "ssh://ann@h");
    assert!(ssh.refuses().contains("ssh is not supported yet"));
    let meta = format!("/home/ann/.docker/contexts/meta/{}/meta.json", digest("desktop"));
    assert!(named().file(&meta, "{").refuses().contains("cannot be read"));
    assert!(
        named()
            .file(&meta, r#"{"Endpoints":{"kubernetes":{}}}"#)
            .refuses()
            .contains("names no Docker engine")
    );
}

#[test]
fn a_configuration_that_cannot_be_read_may_name_an_engine() {
    let file = "/home/ann/.docker/config.json";
    for text in ["{", r#"{"currentContext":7}"#] {
        let machine = Machine::with(&[]).file(file, text).socket("/var/run/docker.sock", LISTENS);
        let said = machine.refuses();
        assert!(said.starts_with(file) && said.contains("set DOCKER_HOST"), "{said}");
        let named = Machine::with(&[("DOCKER_HOST", "unix:///x")]).file(file, text);
        assert_eq!(named.says(), "unix:///x, from DOCKER_HOST", "nobody asks the file");
    }
    let mut denied = Machine::with(&[]);
    denied.files.insert(file.into(), Err(io::ErrorKind::PermissionDenied));
    assert!(denied.refuses().contains("permission denied"));
}

#[test]
fn the_usual_sockets_are_tried_in_order_and_dead_ones_are_passed_over() {
    let dead = Some(io::ErrorKind::ConnectionRefused);
    let machine = || Machine::with(&[("XDG_RUNTIME_DIR", "/run/user/7")]);
    for socket in [
        "/var/run/docker.sock",
        "/run/user/7/docker.sock",
        "/home/ann/.docker/run/docker.sock",
        "/home/ann/.docker/desktop/docker.sock",
        "/home/ann/.colima/default/docker.sock",
        "/home/ann/.orbstack/run/docker.sock",
        "/run/user/7/podman/podman.sock",
        "/run/podman/podman.sock",
    ] {
        let alone = machine().socket(socket, LISTENS);
        assert_eq!(alone.says(), format!("unix://{socket}"));
        let last = machine().socket("/run/podman/podman.sock", LISTENS).socket(socket, LISTENS);
        assert_eq!(last.says(), format!("unix://{socket}"));
        assert_eq!(machine().socket(socket, dead).says(), "", "nobody is there");
    }
    let left = machine().socket("/var/run/docker.sock", dead).socket("/run/user/7/docker.sock", LISTENS);
    assert_eq!(left.says(), "unix:///run/user/7/docker.sock");
}

#[test]
fn an_engine_that_refuses_is_an_engine() {
    let denied = Some(io::ErrorKind::PermissionDenied);
    let machine = Machine::with(&[]).socket("/var/run/docker.sock", denied);
    let said = machine.socket("/run/podman/podman.sock", LISTENS).refuses();
    assert!(
        said.starts_with("the Docker engine at unix:///var/run/docker.sock refuses: permission denied"),
        "{said}"
    );
    assert!(said.contains("usermod -aG docker"), "{said}");
}

#[test]
fn an_engine_that_stands_still_is_an_engine_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docker.sock");
    let address = UnixAddr::new(&path).unwrap();
    let socket = |flags| socket(AddressFamily::Unix, SockType::Stream, flags, None).unwrap();
    let engine = socket(SockFlag::empty());
    socket::bind(engine.as_raw_fd(), &address).unwrap();
    socket::listen(&engine, socket::Backlog::new(0).unwrap()).unwrap();
    let mut waiting = Vec::new();
    loop {
        let next = socket(SockFlag::SOCK_NONBLOCK);
        let connected = socket::connect(next.as_raw_fd(), &address);
        waiting.push(next);
        if connected == Err(Errno::EAGAIN) {
            break;
        }
    }
    assert!(connect(&path).is_ok());
    drop((engine, waiting));
    assert_eq!(connect(&path).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
}
