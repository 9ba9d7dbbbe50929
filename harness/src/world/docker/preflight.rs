//! Whether the run's network works, before anything is judged by it: whoever must reach whom opens a connection.

use std::{collections::BTreeSet, net::SocketAddrV4, time::Duration};

use futures_util::future::join_all;
use history::node::is_server;

use super::{DockerWorld, network, node::Node, provision::RESOURCE_PORT};
use crate::{
    agent::protocol::{Command, Reply},
    error::{Error, Result},
    systems::System,
    world::SHORT,
};

/// How long a connection is tried for before it counts as impossible: what is up accepts it within milliseconds.
const WITHIN: Duration = Duration::from_secs(6);
/// Pauses between two looks at the network while servers start, the first and the longest.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(4));
/// Most nodes that a message tells of; all are not needed to find the cause.
const TOLD: usize = 8;

/// A connection that a run needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    from: String,
    to: String,
    address: SocketAddrV4,
}

/// A connection that could not be opened, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Missed {
    way: Way,
    why: String,
}

impl DockerWorld {
    /// Every client reaches every server and the resource, and servers each other where they are one service.
    ///
    /// # Errors
    /// Who cannot reach whom, and what the likely cause is.
    pub(super) async fn check_network(&self) -> Result<()> {
        let missed = self.tried(&self.ways(), Reply::Accepted, WITHIN).await?;
        if missed.is_empty() { Ok(()) } else { Err(self.explained(&missed).await?) }
    }

    /// Looks at the network again and again while servers start, so that they need not be waited for in vain. A port
    /// at which nothing listens yet may refuse; it must not be silent.
    ///
    /// # Errors
    /// As [`check_network`](Self::check_network). Returns for no other reason.
    pub(super) async fn until_network_fails(&self) -> Error {
        // One port of each server tells, and servers that find each other meanwhile are disturbed least. The resource
        // accepts nobody before the run begins: those who knock are kept waiting, and only so many can be.
        let usual = self.inner.borrow().system.map(System::port);
        let is_usual = |way: &Way| is_server(&way.to) && Some(way.address.port()) == usual;
        let ways: Vec<Way> = self.ways().into_iter().filter(is_usual).collect();
        let mut pause = LOOK_AGAIN.0;
        loop {
            if let Some(failed) = self.failing(&ways).await.unwrap_or_else(Some) {
                return failed;
            }
            tokio::time::sleep(pause).await;
            pause = LOOK_AGAIN.1.min(pause * 2);
        }
    }

    /// Why the network fails, if two looks in a row say so: it may have failed in the midst of the first, which then
    /// tells of a part only.
    async fn failing(&self, ways: &[Way]) -> Result<Option<Error>> {
        if self.tried(ways, Reply::Any, WITHIN).await?.is_empty() {
            return Ok(None);
        }
        let missed = self.tried(ways, Reply::Any, WITHIN).await?;
        if missed.is_empty() { Ok(None) } else { self.explained(&missed).await.map(Some) }
    }

    /// Why a service did not get ready: its servers may not reach each other, though each of them listens.
    pub(super) async fn or_network(&self, not_ready: Error) -> Error {
        let among_servers = |way: &Way| is_server(&way.from) && is_server(&way.to);
        let ways: Vec<Way> = self.ways().into_iter().filter(among_servers).collect();
        let Ok(missed) = self.tried(&ways, Reply::Accepted, Duration::ZERO).await else { return not_ready };
        let Ok(deaf) = self.deaf(&missed).await else { return not_ready };
        let missed: Vec<Missed> =
            missed.into_iter().filter(|missed| !deaf.contains(&missed.way.address)).collect();
        if missed.is_empty() {
            return not_ready;
        }
        Error::Unavailable(format!("{}\n{not_ready}", unreachable(&missed, &network::name(&self.run))))
    }

    fn ways(&self) -> Vec<Way> {
        let inner = self.inner.borrow();
        let Some(system) = inner.system else { return Vec::new() };
        let way = |from: &String, to: &String, port: u16| {
            let address = SocketAddrV4::new(inner.nodes.get(to)?.address, port);
            Some(Way { from: from.clone(), to: to.clone(), address })
        };
        let mut ways = Vec::new();
        for client in &inner.names.clients {
            let servers = inner.names.servers.iter();
            let ports =
                servers.flat_map(|server| system.client_ports.iter().map(move |port| (server, *port)));
            ways.extend(ports.filter_map(|(server, port)| way(client, server, port)));
            ways.extend(way(client, &inner.names.resource, RESOURCE_PORT));
        }
        for from in &inner.names.servers {
            for to in inner.names.servers.iter().filter(|to| *to != from) {
                ways.extend(system.peer_ports.iter().filter_map(|port| way(from, to, *port)));
            }
        }
        ways
    }

    /// All nodes at once, each all of its ways at once; those that were missed, in the order of the ways.
    async fn tried(&self, ways: &[Way], wanted: Reply, within: Duration) -> Result<Vec<Missed>> {
        let from: BTreeSet<&String> = ways.iter().map(|way| &way.from).collect();
        let tried = join_all(from.into_iter().map(|from| async move {
            let own: Vec<Way> = ways.iter().filter(|way| way.from == *from).cloned().collect();
            let node = self.node(from)?;
            tried_from(&node, own, wanted, within).await
        }))
        .await;
        let tried = tried.into_iter().collect::<Result<Vec<_>, String>>().map_err(Error::Unavailable)?;
        Ok(tried.into_iter().flatten().collect())
    }

    /// The addresses among those missed at which their own node cannot connect either: nothing listens there.
    async fn deaf(&self, missed: &[Missed]) -> Result<BTreeSet<SocketAddrV4>> {
        let to_itself = |missed: &Missed| Way { from: missed.way.to.clone(), ..missed.way.clone() };
        let ways: BTreeSet<Way> = missed.iter().map(to_itself).collect();
        let deaf = self.tried(&Vec::from_iter(ways), Reply::Accepted, Duration::ZERO).await?;
        Ok(deaf.into_iter().map(|missed| missed.way.address).collect())
    }

    async fn explained(&self, missed: &[Missed]) -> Result<Error> {
        let deaf = self.deaf(missed).await?;
        let (deaf, missed): (Vec<Missed>, Vec<Missed>) = missed
            .iter()
            .cloned()
            .partition(|missed| deaf.contains(&missed.way.address) && missed.why == "refused");
        Ok(Error::Unavailable(match missed.is_empty() {
            true => not_listening(&deaf),
            false => unreachable(&missed, &network::name(&self.run)),
        }))
    }
}

async fn tried_from(
    node: &Node,
    ways: Vec<Way>,
    wanted: Reply,
    within: Duration,
) -> Result<Vec<Missed>, String> {
    let peers = ways.iter().map(|way| way.address).collect();
    let command = Command::Reach { peers, wanted, within_ms: within.as_millis() as u64 };
    let done = node.link.call(command, within + SHORT + SHORT).await?;
    let why = |way: &Way| Some(done.result.get(&way.address.to_string())?.as_str()?.to_string());
    Ok(ways.into_iter().filter_map(|way| why(&way).map(|why| Missed { way, why })).collect())
}

fn unreachable(missed: &[Missed], network: &str) -> String {
    format!(
        "the run's network does not work, so nothing was judged:\n{}\n  \
         Something drops or refuses packets between the containers of {network}: mostly the firewall of the engine's \
         host, whose FORWARD policy is DROP (Docker sets it so, and it hits podman's containers beside it; ufw and \
         firewalld do likewise). `iptables -S FORWARD` and `nft list ruleset` there show it. Else rules inside the \
         nodes' own containers do it.",
        listed(missed)
    )
}

fn not_listening(missed: &[Missed]) -> String {
    let places: BTreeSet<String> =
        missed.iter().map(|missed| format!("{} at {}", missed.way.to, missed.way.address)).collect();
    format!(
        "nothing listens where the run needs it, so nothing was judged: {}",
        Vec::from_iter(places).join(", ")
    )
}

/// `  c1 cannot reach s1 (198.18.0.10:6379: no answer), resource (…)`, a line a node.
fn listed(missed: &[Missed]) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for Missed { way, why } in missed {
        let target = format!("{} ({}: {why})", way.to, way.address);
        match lines.last_mut().filter(|(from, _)| *from == way.from) {
            Some((_, line)) => line.push_str(&format!(", {target}")),
            None => lines.push((&way.from, format!("  {} cannot reach {target}", way.from))),
        }
    }
    let more = lines.len().saturating_sub(TOLD);
    let mut told: Vec<String> = lines.into_iter().take(TOLD).map(|(_, line)| line).collect();
    if more > 0 {
        told.push(format!("  and {more} more nodes likewise"));
    }
    told.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(from: &str, to: &str, address: &str, why: &str) -> Missed {
        let way = Way { from: from.into(), to: to.into(), address: address.parse().unwrap() };
        Missed { way, why: why.into() }
    }

    #[test]
    fn who_cannot_reach_whom_is_told_a_node_a_line() {
        let all = [
            missed("c1", "s1", "198.18.0.10:6379", "no answer"),
            missed("c1", "resource", "198.18.0.5:7000", "refused"),
            missed("s1", "s2", "198.18.0.11:6379", "no route"),
        ];
        assert_eq!(
            listed(&all),
            "  c1 cannot reach s1 (198.18.0.10:6379: no answer), resource (198.18.0.5:7000: refused)\n  \
             s1 cannot reach s2 (198.18.0.11:6379: no route)"
        );
        let text = unreachable(&all, "fencepost-x");
        assert!(
            text.contains("c1 cannot reach s1") && text.contains("FORWARD") && text.contains("fencepost-x")
        );
    }

    #[test]
    fn a_hundred_nodes_are_not_told_of() {
        let all: Vec<Missed> =
            (1..=100).map(|n| missed(&format!("c{n}"), "s1", "198.18.0.10:6379", "no answer")).collect();
        let text = listed(&all);
        assert_eq!(text.lines().count(), TOLD + 1);
        assert!(text.ends_with("  and 92 more nodes likewise"), "{text}");
    }

    #[test]
    fn a_port_at_which_nothing_listens_is_no_network_that_fails() {
        let all = [1, 2].map(|n| missed(&format!("c{n}"), "resource", "198.18.0.5:7000", "refused"));
        let text = not_listening(&all);
        assert!(text.ends_with("judged: resource at 198.18.0.5:7000"), "{text}");
    }
}
