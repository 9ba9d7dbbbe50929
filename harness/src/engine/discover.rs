//! Which engine is meant: what the `docker` command would talk to.
//!
//! `DOCKER_HOST`, then `DOCKER_CONTEXT`, then the current context of its configuration, then the usual sockets. What is
//! named counts even if it does not answer: another engine that does would not be the one that was asked for.

use std::{
    env, fs, io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    sys::socket::{self, AddressFamily, SockFlag, SockType, UnixAddr, socket},
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    hex,
    meant::{Endpoint, Meant, Origin},
    unusable::{BadAddress, Unusable},
};

/// The engine's own socket, where nothing else is said.
const DEFAULT_SOCKET: &str = "/var/run/docker.sock";
/// All that the choice depends on.
pub struct Surroundings<'a> {
    /// Environment variables.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Files.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Whether there is anything at a path that one may look at.
    pub is_there: &'a dyn Fn(&Path) -> bool,
    /// Connects to a socket that is there.
    pub connect: &'a dyn Fn(&Path) -> io::Result<()>,
}

/// The engine that is meant in the surroundings of this process; `None` when nobody names one and none is there.
///
/// # Errors
/// One that is meant and cannot be used: why, and what to do about it.
pub fn meant() -> Result<Option<Meant>, Unusable> {
    let variable = |name: &str| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let surroundings = Surroundings {
        variable: &variable,
        home: env::home_dir(),
        read: &|path| fs::read_to_string(path),
        is_there: &Path::exists,
        connect: &connect,
    };
    surroundings.meant()
}

/// Does not wait where the queue of those who want to connect is full, as that of an engine which stands still.
fn connect(path: &Path) -> io::Result<()> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    match socket::connect(socket.as_raw_fd(), &UnixAddr::new(path)?) {
        // Somebody is there.
        Ok(()) | Err(Errno::EAGAIN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The usual sockets in words.
pub fn usual() -> &'static str {
    "/var/run/docker.sock and those of rootless Docker, Docker Desktop, colima, OrbStack and podman"
}

impl Surroundings<'_> {
    /// As [`meant`](self::meant), in these surroundings.
    ///
    /// # Errors
    /// As there.
    pub fn meant(&self) -> Result<Option<Meant>, Unusable> {
        if let Some(host) = self.set("DOCKER_HOST") {
            let tls = ["DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_TLS"];
            let tls = tls.into_iter().find(|name| self.set(name).is_some());
            let endpoint =
                endpoint(&host, tls).map_err(|why| Unusable::Address(format!("DOCKER_HOST={host}"), why))?;
            return Ok(Some(Meant { endpoint, origin: Origin::Host }));
        }
        if let Some(name) = self.set("DOCKER_CONTEXT") {
            let origin = Origin::Variable(name.clone());
            return if name == "default" { self.usual() } else { self.context(&name, origin).map(Some) };
        }
        match self.current_context()? {
            Some((name, file)) => self.context(&name.clone(), Origin::Configuration(name, file)).map(Some),
            None => self.usual(),
        }
    }

    /// A variable's value; one that is empty is not set.
    fn set(&self, name: &str) -> Option<String> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// The folder of `docker`'s configuration.
    fn configuration(&self) -> Option<PathBuf> {
        let folder = self.set("DOCKER_CONFIG").map(PathBuf::from);
        folder.or_else(|| Some(self.home.as_ref()?.join(".docker")))
    }

    /// Its name and the file that says so; none for the default one.
    fn current_context(&self) -> Result<Option<(String, PathBuf)>, Unusable> {
        let Some(file) = self.configuration().map(|folder| folder.join("config.json")) else {
            return Ok(None);
        };
        let wrong = |why| Unusable::Configuration(file.clone(), why);
        let text = match (self.read)(&file) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(wrong(error.into())),
        };
        let configuration: Value = serde_json::from_str(&text).map_err(|error| wrong(error.into()))?;
        match &configuration["currentContext"] {
            Value::Null => Ok(None),
            Value::String(name) if name.is_empty() || name == "default" => Ok(None),
            Value::String(name) => Ok(Some((name.clone(), file))),
            other => Err(wrong(format!("currentContext is {other}").into())),
        }
    }

    /// What a context says of its engine.
    fn context(&self, name: &str, origin: Origin) -> Result<Meant, Unusable> {
        let who = match &origin {
            Origin::Configuration(_, file) => format!("the Docker context {name} ({})", file.display()),
            _ => format!("the Docker context {name} (DOCKER_CONTEXT)"),
        };
        let folder = self.configuration().ok_or_else(|| Unusable::NoHome(who.clone()))?;
        let id = hex(&Sha256::digest(name));
        let file = folder.join("contexts/meta").join(&id).join("meta.json");
        let text = (self.read)(&file).map_err(|error| match is_absent(&error) {
            true => Unusable::NoContext(who.clone(), file.clone()),
            false => Unusable::Context(who.clone(), file.clone(), error.into()),
        })?;
        let said: Value = serde_json::from_str(&text)
            .map_err(|error| Unusable::Context(who.clone(), file.clone(), error.into()))?;
        let host = said.pointer("/Endpoints/docker/Host").and_then(Value::as_str).unwrap_or_default();
        if host.is_empty() {
            return Err(Unusable::NoEngine(who, file));
        }
        let material = folder.join("contexts/tls").join(&id).join("docker");
        let has_tls =
            ["ca.pem", "cert.pem", "key.pem"].iter().any(|name| (self.is_there)(&material.join(name)));
        let endpoint = endpoint(host, has_tls.then_some("its certificates"))
            .map_err(|why| Unusable::Address(format!("{who}: {host}"), why))?;
        Ok(Meant { endpoint, origin })
    }

    /// The first of the usual sockets at which somebody listens.
    fn usual(&self) -> Result<Option<Meant>, Unusable> {
        for socket in self.usual_sockets().into_iter().filter(|socket| (self.is_there)(socket)) {
            let connected = (self.connect)(&socket);
            let meant = Meant { endpoint: Endpoint::Unix(socket), origin: Origin::Usual };
            match connected {
                Ok(()) => return Ok(Some(meant)),
                // What a dead engine left.
                Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(Unusable::refused(meant, error)),
            }
        }
        Ok(None)
    }

    fn usual_sockets(&self) -> Vec<PathBuf> {
        let runtime = self.set("XDG_RUNTIME_DIR").map(PathBuf::from);
        let (runtime, home) = (runtime.as_ref(), self.home.as_ref());
        let within = |folder: Option<&PathBuf>, name: &str| folder.map(|folder| folder.join(name));
        let sockets = [
            Some(PathBuf::from(DEFAULT_SOCKET)),
            within(runtime, "docker.sock"),
            within(home, ".docker/run/docker.sock"),
            within(home, ".docker/desktop/docker.sock"),
            within(home, ".colima/default/docker.sock"),
            within(home, ".orbstack/run/docker.sock"),
            within(runtime, "podman/podman.sock"),
            Some(PathBuf::from("/run/podman/podman.sock")),
        ];
        sockets.into_iter().flatten().collect()
    }
}

/// An address as `DOCKER_HOST` and contexts have it. `tls`: what asks for TLS, which counts where there is a network.
fn endpoint(text: &str, tls: Option<&str>) -> Result<Endpoint, BadAddress> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    match scheme {
        "unix" if rest.is_empty() => Ok(Endpoint::Unix(DEFAULT_SOCKET.into())),
        "unix" if rest.starts_with('/') => Ok(Endpoint::Unix(rest.into())),
        "unix" => Err(BadAddress::Relative(rest.into())),
        "" if rest.starts_with('/') => Err(BadAddress::Bare(rest.into())),
        "https" => Err(BadAddress::Https),
        "tcp" | "http" | "" => match tls {
            Some(what) => Err(BadAddress::Tls(what.into())),
            None => tcp(rest),
        },
        "ssh" => Err(BadAddress::Ssh),
        other => Err(BadAddress::Scheme(other.into())),
    }
}

fn tcp(rest: &str) -> Result<Endpoint, BadAddress> {
    let address = rest.trim_end_matches('/');
    if address.contains(['/', '?', '#', '@']) || address.chars().any(char::is_whitespace) {
        return Err(BadAddress::NoAddress);
    }
    let (host, port) = match address.rsplit_once(':') {
        // The colons of an IPv6 address stand in brackets.
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (address, "2375"),
    };
    port.parse::<u16>().map_err(|_| BadAddress::Port(port.into()))?;
    let host = if host.is_empty() { "localhost" } else { host };
    Ok(Endpoint::Tcp(format!("{host}:{port}")))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests;
