//! What a partition cuts from what.
//!
//! | target | is cut from |
//! |---|---|
//! | server, leader, minority, majority, a server by name | the other servers and the clients, or as `from` says |
//! | holder, waiter, client, a client by name | the servers; never the resource |
//! | resource | the clients |
//! | halves | a minority of the servers with half of the clients, from the rest; never the resource |
//! | groups | every group from every other; nodes in no group reach all |
//!
//! Rules stand on the cut-off side only: they drop both ways there, or one way with `direction`.

use crate::{
    draw::Draw,
    kind::{
        FaultKind,
        partition::{Direction, From},
    },
    resolve::{NoTarget, View, never, resolve},
    schedule::ScheduledFault,
    target::Target,
};

/// Rules for one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The node that gets the rules.
    pub node: String,
    /// Whom it no longer reaches or hears.
    pub peers: Vec<String>,
    /// Which way, as `node` sees it.
    pub direction: Direction,
}

/// The rules that `fault`, a partition, means now: at least one node, each with at least one peer.
pub fn cuts(fault: &ScheduledFault, view: &View) -> Result<Vec<Cut>, NoTarget> {
    let direction = fault.params.direction.unwrap_or_default();
    let pairs = match fault.target {
        Target::Halves => sides(&halves(view, fault.seed)?),
        Target::Groups => {
            known(&fault.params.groups, view)?;
            sides(&fault.params.groups)
        }
        _ => isolation(fault, view)?,
    };
    let cuts: Vec<_> = pairs
        .into_iter()
        .filter(|(_, peers)| !peers.is_empty())
        .map(|(node, peers)| Cut { node, peers, direction })
        .collect();
    if cuts.is_empty() { Err(never("there is nobody to cut it from")) } else { Ok(cuts) }
}

/// The targets, each from everybody that it is to lose.
fn isolation(fault: &ScheduledFault, view: &View) -> Result<Vec<(String, Vec<String>)>, NoTarget> {
    let targets = resolve(FaultKind::Partition, &fault.target, view, fault.seed)?;
    let others: Vec<_> = view.servers.iter().filter(|server| !targets.contains(server)).cloned().collect();
    let peers = match &targets[0] {
        node if view.clients.contains(node) => view.servers.clone(),
        node if view.resource.as_ref() == Some(node) => view.clients.clone(),
        _ => match fault.params.from.unwrap_or(From::All) {
            From::Clients => view.clients.clone(),
            From::Servers if !others.is_empty() => others,
            From::Servers | From::All => [others, view.clients.clone()].concat(),
        },
    };
    Ok(targets.into_iter().map(|node| (node, peers.clone())).collect())
}

/// A minority of the servers and half of the clients; the rest.
fn halves(view: &View, seed: u64) -> Result<Vec<Vec<String>>, NoTarget> {
    let mut small = match view.servers.len() {
        0 | 1 => return Err(never("one server cannot be halved")),
        2 => resolve(FaultKind::Partition, &Target::Server, view, seed)?,
        _ => resolve(FaultKind::Partition, &Target::Minority, view, seed)?,
    };
    let clients = Draw::part(seed, "clients").choose(&view.clients, view.clients.len() / 2);
    small.extend(view.clients.iter().filter(|client| clients.contains(client)).cloned());
    let rest =
        view.servers.iter().chain(&view.clients).filter(|node| !small.contains(node)).cloned().collect();
    Ok(vec![small, rest])
}

/// Every node of a group but the last, from the nodes of all later groups: each pair is cut once.
fn sides(groups: &[Vec<String>]) -> Vec<(String, Vec<String>)> {
    let mut pairs = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let later = groups[index + 1..].concat();
        pairs.extend(group.iter().map(|node| (node.clone(), later.clone())));
    }
    pairs
}

fn known(groups: &[Vec<String>], view: &View) -> Result<(), NoTarget> {
    let mut nodes = groups.iter().flatten();
    let is_known =
        |node: &String| view.servers.iter().chain(&view.clients).chain(&view.resource).any(|n| n == node);
    match nodes.find(|node| !is_known(node)) {
        Some(node) => Err(never(&format!("there is no node `{node}`"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Params;

    fn view(servers: u32) -> View {
        let names = |prefix: &str, count: u32| (1..=count).map(|n| format!("{prefix}{n}")).collect();
        View {
            servers: names("s", servers),
            clients: names("c", 4),
            resource: Some("resource".into()),
            leader: Some("s2".into()),
            holders: vec!["c3".into()],
            ..View::default()
        }
    }

    fn cut(target: Target, params: Params, servers: u32) -> Result<Vec<Cut>, NoTarget> {
        let fault = ScheduledFault {
            id: 1,
            kind: FaultKind::Partition,
            target,
            at_ms: 0,
            lasts_ms: 1,
            seed: 5,
            params,
        };
        cuts(&fault, &view(servers))
    }

    fn from(from: From) -> Params {
        Params { from: Some(from), ..Params::default() }
    }

    /// Every unordered pair that is cut.
    fn pairs(cuts: &[Cut]) -> std::collections::BTreeSet<(String, String)> {
        let pair = |a: &String, b: &String| (a.min(b).clone(), a.max(b).clone());
        cuts.iter().flat_map(|cut| cut.peers.iter().map(move |peer| pair(&cut.node, peer))).collect()
    }

    #[test]
    fn isolates_the_leader() {
        let all = cut(Target::Leader, from(From::All), 3).unwrap();
        assert_eq!((all[0].node.as_str(), all[0].peers.len()), ("s2", 6));
        assert_eq!(cut(Target::Leader, from(From::Servers), 3).unwrap()[0].peers, ["s1", "s3"]);
        assert_eq!(cut(Target::Leader, from(From::Clients), 3).unwrap()[0].peers.len(), 4);
    }

    #[test]
    fn a_lone_server_is_cut_from_the_clients() {
        assert_eq!(cut(Target::Server, from(From::Servers), 1).unwrap()[0].peers, ["c1", "c2", "c3", "c4"]);
    }

    #[test]
    fn a_client_keeps_the_resource() {
        let holder = cut(Target::Holder, Params::default(), 3).unwrap();
        assert_eq!(
            holder,
            [Cut {
                node: "c3".into(),
                peers: vec!["s1".into(), "s2".into(), "s3".into()],
                direction: Direction::Both
            }]
        );
    }

    #[test]
    fn halves_split_servers_and_clients() {
        let cuts = cut(Target::Halves, Params::default(), 5).unwrap();
        assert_eq!(cuts.len(), 4);
        assert_eq!(pairs(&cuts).len(), 4 * 5);
        assert!(cuts.iter().all(|cut| !cut.peers.contains(&"resource".into())));
        assert!(cut(Target::Halves, Params::default(), 1).is_err());
    }

    #[test]
    fn groups_are_cut_pairwise() {
        let groups = [vec!["s1", "c1"], vec!["s2"], vec!["s3"]];
        let groups = groups.map(|group| group.into_iter().map(String::from).collect()).to_vec();
        let cuts =
            cut(Target::Groups, Params { groups, direction: Some(Direction::In), ..Params::default() }, 3);
        let cuts = cuts.unwrap();
        assert_eq!(pairs(&cuts).len(), 5);
        assert!(cuts.iter().all(|cut| cut.direction == Direction::In && !cut.peers.is_empty()));
        let unknown = Params { groups: vec![vec!["s1".into()], vec!["s7".into()]], ..Params::default() };
        assert_eq!(cut(Target::Groups, unknown, 3), Err(never("there is no node `s7`")));
    }

    #[test]
    fn the_resource_is_cut_from_the_clients() {
        assert_eq!(cut(Target::Resource, Params::default(), 3).unwrap()[0].peers.len(), 4);
    }
}
