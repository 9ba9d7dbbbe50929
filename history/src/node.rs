//! A run's nodes by their names: `s1`, `s2`, … are servers, `c1`, `c2`, … clients, `resource` what they protect.

use serde::{Deserialize, Serialize};

/// Names of a run's nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// `s1`, `s2`, …
    pub servers: Vec<String>,
    /// `c1`, `c2`, …
    pub clients: Vec<String>,
    /// `resource`
    pub resource: String,
}

/// What a node is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A server of the system under test.
    Server,
    /// A client.
    Client,
    /// The protected resource.
    Resource,
}

/// The protected resource's node.
pub const RESOURCE: &str = "resource";

/// The server of this number, from 1.
pub fn server(number: u32) -> String {
    format!("s{number}")
}

/// The client of this number, from 1.
pub fn client(number: u32) -> String {
    format!("c{number}")
}

/// A server's or a client's number, from 1.
pub fn number(node: &str) -> Option<u32> {
    let digits = node.strip_prefix(['s', 'c'])?;
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_plain)
}

impl Role {
    /// In a history's `exit` events.
    pub fn name(self) -> &'static str {
        match self {
            Role::Server => "server",
            Role::Client => "client",
            Role::Resource => RESOURCE,
        }
    }

    /// Of the node of this name, if a run has such.
    pub fn of(node: &str) -> Option<Role> {
        match node.as_bytes().first()? {
            _ if node == RESOURCE => Some(Role::Resource),
            b's' => number(node).map(|_| Role::Server),
            b'c' => number(node).map(|_| Role::Client),
            _ => None,
        }
    }
}

/// Whether it is a server's name.
pub fn is_server(node: &str) -> bool {
    Role::of(node) == Some(Role::Server)
}

/// Whether it is a client's name.
pub fn is_client(node: &str) -> bool {
    Role::of(node) == Some(Role::Client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_roles() {
        assert_eq!(Role::of(&server(3)), Some(Role::Server));
        assert_eq!((Role::of(&client(12)), number("c12")), (Some(Role::Client), Some(12)));
        assert_eq!(Role::of(RESOURCE), Some(Role::Resource));
        for other in ["", "s", "c0", "s01", "server", "c1x", "c+1", "harness"] {
            assert_eq!(Role::of(other), None, "{other}");
        }
    }
}
