use std::net::SocketAddr;

use super::{NAME, PORT};
use crate::systems::probe::{Probe, Unready, field, talk};

/// `INFO` of the server, and what its sentinel says. A primary leads under the epoch in which its own sentinel says that
/// it was promoted; 0 when that sentinel takes another for the primary. A replica must have its link. The service is
/// complete when every sentinel can be reached and every server is seen.
pub(super) fn probe(address: SocketAddr) -> Result<Probe, Unready> {
    let lacks = |what: &str| Unready::Answered(what.into());
    let said = commanded(address, "INFO server\r\nINFO replication\r\n")?;
    let version = field(&said, "redis_version:").ok_or_else(|| lacks("redis told no version"))?.to_string();
    let leads = field(&said, "role:") == Some("master");
    if !leads && field(&said, "master_link_status:") != Some("up") {
        return Err(lacks("the replica has no link to its primary"));
    }
    let beside = SocketAddr::new(address.ip(), PORT);
    let said = commanded(
        beside,
        &format!("SENTINEL MASTER {NAME}\r\nSENTINEL CKQUORUM {NAME}\r\nSENTINEL REPLICAS {NAME}\r\n"),
    )?;
    let words: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.starts_with('$')).collect();
    let value =
        |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1).copied());
    let number = |name: &str| value(name).and_then(|text| text.parse::<usize>().ok());
    let term = value("config-epoch").and_then(|text| text.parse().ok()).unwrap_or_default();
    let own = value("ip") == Some(&address.ip().to_string());
    let others = number("num-other-sentinels").ok_or_else(|| lacks("the sentinel knows no primary"))?;
    let sentinels = 1 + others;
    let linked = said.matches("\r\nok\r\n").count();
    let complete = said.contains(&format!("+OK {sentinels} usable Sentinels")) && linked + 1 == sentinels;
    Ok(Probe { version, leads, term: if own { term } else { 0 }, complete })
}

/// Inline commands of the Redis protocol, and what they are answered with; a last `PING` ends it.
fn commanded(address: SocketAddr, commands: &str) -> Result<String, Unready> {
    talk(address, &format!("{commands}PING\r\n"), b"+PONG\r\n")
}
