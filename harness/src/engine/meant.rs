//! Which engine is meant, and by whom.

use std::{fmt, path::PathBuf};

/// Where an engine listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A socket in the file system.
    Unix(PathBuf),
    /// `host:port`, without TLS.
    Tcp(String),
}

/// Who named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `DOCKER_HOST`
    Host,
    /// `DOCKER_CONTEXT`, with the context's name.
    Variable(String),
    /// The configuration's current context: its name, and the file.
    Configuration(String, PathBuf),
    /// Nobody: it is where engines usually are.
    Usual,
}

/// An engine that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// Where it listens.
    pub endpoint: Endpoint,
    /// Who says so.
    pub origin: Origin,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Unix(path) => write!(f, "unix://{}", path.display()),
            Endpoint::Tcp(address) => write!(f, "tcp://{address}"),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Host => f.write_str("from DOCKER_HOST"),
            Origin::Variable(name) => write!(f, "from DOCKER_CONTEXT {name}"),
            Origin::Configuration(name, file) => write!(f, "from context {name} in {}", file.display()),
            Origin::Usual => f.write_str("where it usually is"),
        }
    }
}

/// The endpoint, and who named it if anybody did.
impl fmt::Display for Meant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Usual => self.endpoint.fmt(f),
            origin => write!(f, "{}, {origin}", self.endpoint),
        }
    }
}
