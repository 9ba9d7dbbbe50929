use std::net::SocketAddr;

use serde::Deserialize;

use crate::systems::probe::{Probe, Unready, exchange};

#[derive(Deserialize)]
struct Status {
    header: Header,
    version: String,
    #[serde(default)]
    leader: String,
    #[serde(rename = "raftTerm", default)]
    raft_term: String,
}

#[derive(Deserialize)]
struct Header {
    member_id: String,
}

/// A quorum write and the member's status, through the JSON gateway that every etcd since 3.3 serves.
pub(super) fn probe(address: SocketAddr) -> Result<Probe, Unready> {
    let prefix = ["v3", "v3beta"];
    let used = prefix.iter().find_map(|prefix| {
        // Base64 of "fencepost/probe" and "1".
        let put = r#"{"key":"ZmVuY2Vwb3N0L3Byb2Jl","value":"MQ=="}"#;
        post(address, &format!("/{prefix}/kv/put"), put).ok().filter(|body| body.contains("revision"))?;
        Some(*prefix)
    });
    let prefix = used.ok_or_else(|| Unready::Answered("etcd did not take a write".into()))?;
    let body = post(address, &format!("/{prefix}/maintenance/status"), "{}")?;
    let status: Status = serde_json::from_str(&body)
        .map_err(|error| Unready::Answered(format!("etcd's status: {error}: {body}")))?;
    Ok(Probe {
        version: status.version,
        leads: status.leader == status.header.member_id,
        term: status.raft_term.parse().unwrap_or_default(),
        complete: true,
    })
}

fn post(address: SocketAddr, path: &str, body: &str) -> Result<String, Unready> {
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let text = exchange(address, request.as_bytes())?;
    let answered = |what: String| Unready::Answered(format!("etcd answered {what}"));
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| answered(format!("{text:?}")))?;
    let status = head.lines().next().unwrap_or_default();
    if status.contains(" 200 ") { Ok(body.to_string()) } else { Err(answered(format!("{status}: {body}"))) }
}
