use std::net::SocketAddr;

use crate::systems::probe::{Probe, Unready, exchange, field};

/// Inline commands of the Redis protocol: a write, then `INFO`, then the end.
pub(super) fn probe(address: SocketAddr) -> Result<Probe, Unready> {
    let text = exchange(address, b"SET fencepost:probe 1 PX 1000\r\nINFO\r\nQUIT\r\n")?;
    if !text.starts_with("+OK") {
        let first = text.lines().next().unwrap_or_default();
        return Err(Unready::Answered(format!("redis answered {first:?}")));
    }
    let version = field(&text, "redis_version:");
    let version = version.ok_or_else(|| Unready::Answered("redis told no version".into()))?.to_string();
    Ok(Probe { version, leads: field(&text, "role:") == Some("master"), term: 0, complete: true })
}
