//! Why an engine cannot be used, with what to do about it.

use std::{error::Error, io, path::PathBuf};

use super::meant::Meant;

/// What to do where only a local socket helps.
const FORWARD: &str = "forward its socket (`ssh -NL /tmp/docker.sock:/var/run/docker.sock HOST`) and set \
                       DOCKER_HOST=unix:///tmp/docker.sock, or use --on sim";

/// Why the engine that is meant cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// Who names it, in words, gives an address that is none or that nobody speaks here.
    #[error("{0}: {1}")]
    Address(String, #[source] BadAddress),
    /// The configuration of the `docker` command says something, and nobody knows what.
    #[error("{file} may name a Docker engine and cannot be read: {1}\n  mend it, or set DOCKER_HOST", file = .0.display())]
    Configuration(PathBuf, #[source] Box<dyn Error + Send + Sync>),
    /// A context is meant, and there is no folder that it could be in.
    #[error("{0}: no home, and no DOCKER_CONFIG")]
    NoHome(String),
    /// A context is meant that is not there.
    #[error(
        "{0} is not there: no {file}\n  `docker context ls` shows those that are; name one of them, or use --on sim",
        file = .1.display()
    )]
    NoContext(String, PathBuf),
    /// A context is meant that says nobody knows what.
    #[error("{0}: {file} cannot be read: {2}", file = .1.display())]
    Context(String, PathBuf, #[source] Box<dyn Error + Send + Sync>),
    /// A context is meant that is of something else.
    #[error("{0} names no Docker engine: {file}", file = .1.display())]
    NoEngine(String, PathBuf),
    /// It is there, and not for this user.
    #[error(
        "the Docker engine at {0} refuses: permission denied\n  \
         join the group that its socket belongs to (`sudo usermod -aG docker $USER`, then log in anew), let \
         DOCKER_HOST name an engine of your own, or use --on sim"
    )]
    Denied(Meant),
    /// It is there, and a connection fails.
    #[error("the Docker engine at {0} cannot be used: {1}\n  `fencepost doctor` tells more; or use --on sim")]
    Refused(Meant, #[source] io::Error),
    /// The library does not take its address.
    #[error("the Docker engine at {0} cannot be used: {1}")]
    Client(Meant, #[source] Box<bollard::errors::Error>),
    /// It answers, and not what was asked for: status and words.
    #[error("the Docker engine at {0} refuses: {1} {2}\n  `fencepost doctor` tells more; or use --on sim")]
    Says(Meant, u16, String),
    /// It speaks TLS, which is not spoken here.
    #[error("{}", needs_tls(&format!("the Docker engine at {_0} speaks TLS")))]
    Tls(Meant),
    /// Who answers is something else.
    #[error(
        "what listens at {0} is no Docker engine: it answered {1:?}\n  \
         if it speaks TLS: that is not supported yet; name another (DOCKER_HOST), or use --on sim"
    )]
    NoDocker(Meant, String),
    /// Nobody answers; why, in words.
    #[error(
        "no Docker engine answers at {0}: {1}\n  \
         start it (`systemctl start docker`), name another (DOCKER_HOST; without it the usual places are tried), or \
         use --on sim; `fencepost doctor` tells more"
    )]
    Silent(Meant, String),
    /// It answered before; why it counts as silent, in words.
    #[error("the Docker engine at {0} fell silent: {1}")]
    FellSilent(Meant, String),
}

/// What is wrong with an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// A socket's path that is relative.
    #[error("a socket's path begins with `/`: unix:///{0}")]
    Relative(String),
    /// A path without its scheme.
    #[error("no address; a socket is written unix://{0}")]
    Bare(String),
    /// It asks for TLS by itself.
    #[error("{}", needs_tls("it asks for TLS"))]
    Https,
    /// What else asks for TLS.
    #[error("{}", needs_tls(&format!("it is to be spoken to in TLS, as {_0} says")))]
    Tls(String),
    /// A way through another program.
    #[error("ssh is not supported yet\n  {FORWARD}")]
    Ssh,
    /// A way that nobody here knows.
    #[error("{0}:// is not supported: use unix:///path or tcp://host:port")]
    Scheme(String),
    /// No host, or more than one.
    #[error("no address: use unix:///path or tcp://host:port")]
    NoAddress,
    /// A port that is none.
    #[error("{0} is no port: use tcp://host:port")]
    Port(String),
}

/// That TLS is meant, and what to do as long as it cannot be spoken.
fn needs_tls(why: &str) -> String {
    format!("{why}; TLS is not supported yet, and nothing is sent in plain HTTP instead\n  {FORWARD}")
}

impl Unusable {
    /// An engine that is there, and does not take a connection.
    pub fn refused(meant: Meant, error: io::Error) -> Unusable {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Unusable::Denied(meant),
            _ => Unusable::Refused(meant, error),
        }
    }
}
