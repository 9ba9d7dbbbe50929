use std::net::SocketAddr;

use crate::systems::probe::{Probe, Unready, exchange, field};

/// `srvr` of the four-letter words: a server that is not part of a quorum says that it is not serving.
pub(super) fn probe(address: SocketAddr) -> Result<Probe, Unready> {
    let text = exchange(address, b"srvr")?;
    let mode = field(&text, "Mode:");
    let mode = mode.ok_or_else(|| Unready::Answered(format!("zookeeper answered {text:?}")))?;
    let version = field(&text, "Zookeeper version:").unwrap_or_default();
    let version = version.split(['-', ',']).next().unwrap_or_default().to_string();
    // The epoch is the upper half of the zxid.
    let zxid = field(&text, "Zxid:");
    let zxid = zxid.and_then(|zxid| u64::from_str_radix(zxid.trim_start_matches("0x"), 16).ok());
    Ok(Probe {
        version,
        leads: mode == "leader" || mode == "standalone",
        term: zxid.unwrap_or_default() >> 32,
        complete: true,
    })
}
