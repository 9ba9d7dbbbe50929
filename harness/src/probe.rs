//! Asks one server, from its own node, whether it really serves, who it is and what it runs.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    systems::{Family, sentinel},
};

/// What a server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its version, as it reports it.
    pub version: String,
    /// Whether it leads now, by its own belief.
    pub leads: bool,
    /// The term of that belief, where the system has one: of two that believe, the greater is right.
    pub term: u64,
    /// Whether the service as a whole is complete, as far as this server knows.
    #[serde(skip)]
    complete: bool,
}

/// Limit of one exchange.
const PATIENCE: Duration = Duration::from_millis(1000);
/// An answer is shorter.
const ANSWER_MAX: u64 = 1 << 20;
/// Pause between two tries.
const AGAIN: Duration = Duration::from_millis(20);

/// Tries until the server has been used successfully or `wait` is over, and prints what it said as JSON. Where there is
/// time to wait, it also waits for the rest of the service.
pub fn main(family: &str, address: SocketAddr, wait: Duration) -> Result<()> {
    let family = [Family::Redis, Family::Sentinel, Family::Etcd, Family::Zookeeper]
        .into_iter()
        .find(|known| known.name() == family)
        .ok_or_else(|| Error::Usage(format!("no probe for `{family}`")))?;
    let until = Instant::now() + wait;
    loop {
        match probe(family, address) {
            Ok(probe) if probe.complete || wait.is_zero() => {
                println!("{}", serde_json::to_string(&probe).unwrap_or_default());
                return Ok(());
            }
            Ok(_) if Instant::now() >= until => {
                return Err(Error::Unavailable("the other servers are missing".into()));
            }
            Err(why) if Instant::now() >= until => return Err(Error::Unavailable(why)),
            Ok(_) | Err(_) => std::thread::sleep(AGAIN),
        }
    }
}

fn probe(family: Family, address: SocketAddr) -> std::result::Result<Probe, String> {
    match family {
        Family::Redis => redis(address),
        Family::Sentinel => sentinel(address),
        Family::Etcd => etcd(address),
        Family::Zookeeper => zookeeper(address),
    }
}

fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Inline commands of the Redis protocol: a write, then `INFO`, then the end.
fn redis(address: SocketAddr) -> std::result::Result<Probe, String> {
    let text = exchange(address, b"SET fencepost:probe 1 PX 1000\r\nINFO\r\nQUIT\r\n")?;
    if !text.starts_with("+OK") {
        return Err(format!("redis answered {:?}", text.lines().next().unwrap_or_default()));
    }
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let version = field("redis_version:").ok_or("redis told no version")?.to_string();
    Ok(Probe { version, leads: field("role:") == Some("master"), term: 0, complete: true })
}

/// `INFO` of the server, and what its sentinel says. A primary leads under the epoch in which its own sentinel says that
/// it was promoted; 0 when that sentinel takes another for the primary. A replica must have its link. The service is
/// complete when every sentinel can be reached and every server is seen.
fn sentinel(address: SocketAddr) -> std::result::Result<Probe, String> {
    let beside = SocketAddr::new(address.ip(), sentinel::PORT);
    let said = talk(address, "INFO server\r\nINFO replication\r\n")?;
    let field = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let version = field("redis_version:").ok_or("redis told no version")?.to_string();
    let leads = field("role:") == Some("master");
    if !leads && field("master_link_status:") != Some("up") {
        return Err("the replica has no link to its primary".into());
    }
    let name = sentinel::NAME;
    let said = talk(
        beside,
        &format!("SENTINEL MASTER {name}\r\nSENTINEL CKQUORUM {name}\r\nSENTINEL REPLICAS {name}\r\n"),
    )?;
    let words: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.starts_with('$')).collect();
    let value =
        |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1).copied());
    let number = |name: &str| value(name).and_then(|text| text.parse::<usize>().ok());
    let term = value("config-epoch").and_then(|text| text.parse().ok()).unwrap_or_default();
    let own = value("ip") == Some(&address.ip().to_string());
    let sentinels = 1 + number("num-other-sentinels").ok_or("the sentinel knows no primary")?;
    let linked = said.matches("\r\nok\r\n").count();
    let complete = said.contains(&format!("+OK {sentinels} usable Sentinels")) && linked + 1 == sentinels;
    Ok(Probe { version, leads, term: if own { term } else { 0 }, complete })
}

/// Inline commands of the Redis protocol; reads until a last `PING` is answered.
fn talk(address: SocketAddr, commands: &str) -> std::result::Result<String, String> {
    let mut answer = Vec::new();
    let talked = connect(address).and_then(|mut stream| {
        stream.write_all(format!("{commands}PING\r\n").as_bytes())?;
        let mut part = [0; 4096];
        while !answer.ends_with(b"+PONG\r\n") {
            match stream.read(&mut part)? {
                _ if answer.len() as u64 > ANSWER_MAX => return Err(std::io::ErrorKind::InvalidData.into()),
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                read => answer.extend_from_slice(&part[..read]),
            }
        }
        Ok(())
    });
    talked.map_err(|error| format!("{address}: {error}"))?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// `srvr` of the four-letter words: a server that is not part of a quorum says that it is not serving.
fn zookeeper(address: SocketAddr) -> std::result::Result<Probe, String> {
    let text = exchange(address, b"srvr")?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let mode = field("Mode:").ok_or_else(|| format!("zookeeper answered {text:?}"))?;
    let version = field("Zookeeper version:").unwrap_or_default();
    let version = version.split(['-', ',']).next().unwrap_or_default().to_string();
    // The epoch is the upper half of the zxid.
    let zxid = field("Zxid:").and_then(|zxid| u64::from_str_radix(zxid.trim_start_matches("0x"), 16).ok());
    Ok(Probe {
        version,
        leads: mode == "leader" || mode == "standalone",
        term: zxid.unwrap_or_default() >> 32,
        complete: true,
    })
}

/// A quorum write and the member's status, through the JSON gateway that every etcd since 3.3 serves.
fn etcd(address: SocketAddr) -> std::result::Result<Probe, String> {
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
    let prefix = ["v3", "v3beta"];
    let used = prefix.iter().find_map(|prefix| {
        // Base64 of "fencepost/probe" and "1".
        let put = r#"{"key":"ZmVuY2Vwb3N0L3Byb2Jl","value":"MQ=="}"#;
        post(address, &format!("/{prefix}/kv/put"), put).ok().filter(|body| body.contains("revision"))?;
        Some(*prefix)
    });
    let prefix = used.ok_or("etcd did not take a write")?;
    let body = post(address, &format!("/{prefix}/maintenance/status"), "{}")?;
    let status: Status =
        serde_json::from_str(&body).map_err(|error| format!("etcd's status: {error}: {body}"))?;
    Ok(Probe {
        version: status.version,
        leads: status.leader == status.header.member_id,
        term: status.raft_term.parse().unwrap_or_default(),
        complete: true,
    })
}

fn post(address: SocketAddr, path: &str, body: &str) -> std::result::Result<String, String> {
    let request = format!(
        "POST {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let text = exchange(address, request.as_bytes())?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| format!("etcd answered {text:?}"))?;
    let status = head.lines().next().unwrap_or_default();
    if status.contains(" 200 ") {
        Ok(body.to_string())
    } else {
        Err(format!("etcd answered {status}: {body}"))
    }
}

/// Sends a request and reads until the server closes.
fn exchange(address: SocketAddr, request: &[u8]) -> std::result::Result<String, String> {
    let mut answer = Vec::new();
    connect(address)
        .and_then(|mut stream| {
            stream.write_all(request)?;
            stream.take(ANSWER_MAX).read_to_end(&mut answer)
        })
        .map_err(|error| format!("{address}: {error}"))?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
