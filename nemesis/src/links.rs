//! Which links a fault of the network hits: whose, and to whom.
//!
//! | target | its links to |
//! |---|---|
//! | server, leader, minority, majority, a server by name | the other servers and the clients, or as `from` says |
//! | holder, waiter, client, a client by name | the servers; never the resource |
//! | resource | the clients |
//! | halves | a minority of the servers with half of the clients, from the rest; never the resource |
//! | groups | every group from every other; nodes in no group reach all |
//!
//! Each is hit on one of its sides only, whichever way packets go.

use serde::{Deserialize, Serialize};

use crate::{
    draw::Draw,
    resolve::{NoTarget, View, never, resolve},
    target::Target,
};

/// Of servers: to whom their links are hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// To the other servers and to the clients.
    All,
    /// To the other servers only: clients still reach it. A lone server has none, and is cut from the clients.
    Servers,
    /// To the clients only.
    Clients,
}

/// A node, and the others to which its links are hit.
pub type Side = (String, Vec<String>);

/// The links that `target` means now: at least one node, each with at least one other. Servers are hit as `from` says,
/// `groups` are the sides of target `groups`, and `seed` decides what is left to chance.
pub fn links(
    target: &Target,
    from: From,
    groups: &[Vec<String>],
    view: &View,
    seed: u64,
) -> Result<Vec<Side>, NoTarget> {
    let mut pairs = match target {
        Target::Halves => sides(&halves(view, seed)?),
        Target::Groups => {
            known(groups, view)?;
            sides(groups)
        }
        _ => isolation(target, from, view, seed)?,
    };
    pairs.retain(|(_, peers)| !peers.is_empty());
    if pairs.is_empty() { Err(never("there is nobody to cut it from")) } else { Ok(pairs) }
}

/// The targets, each with everybody that it is to lose.
fn isolation(target: &Target, from: From, view: &View, seed: u64) -> Result<Vec<Side>, NoTarget> {
    let targets = resolve(target, view, seed)?;
    let others: Vec<_> = view.servers.iter().filter(|server| !targets.contains(server)).cloned().collect();
    let peers = match &targets[0] {
        node if view.clients.contains(node) => view.servers.clone(),
        node if view.resource.as_ref() == Some(node) => view.clients.clone(),
        _ => match from {
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
        2 => resolve(&Target::Server, view, seed)?,
        _ => resolve(&Target::Minority, view, seed)?,
    };
    let clients = Draw::part(seed, "clients").choose(&view.clients, view.clients.len() / 2);
    small.extend(view.clients.iter().filter(|client| clients.contains(client)).cloned());
    let rest =
        view.servers.iter().chain(&view.clients).filter(|node| !small.contains(node)).cloned().collect();
    Ok(vec![small, rest])
}

/// Every node of a group but the last, from the nodes of all later groups: each pair is cut once.
fn sides(groups: &[Vec<String>]) -> Vec<Side> {
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

    fn hit(target: Target, from: From, servers: u32) -> Vec<Side> {
        links(&target, from, &[], &view(servers), 5).unwrap()
    }

    /// Every unordered pair that is hit.
    fn pairs(sides: &[Side]) -> std::collections::BTreeSet<(String, String)> {
        let pair = |a: &String, b: &String| (a.min(b).clone(), a.max(b).clone());
        sides.iter().flat_map(|(node, peers)| peers.iter().map(move |peer| pair(node, peer))).collect()
    }

    #[test]
    fn isolates_the_leader() {
        let all = hit(Target::Leader, From::All, 3);
        assert_eq!((all[0].0.as_str(), all[0].1.len()), ("s2", 6));
        assert_eq!(hit(Target::Leader, From::Servers, 3)[0].1, ["s1", "s3"]);
        assert_eq!(hit(Target::Leader, From::Clients, 3)[0].1.len(), 4);
    }

    #[test]
    fn a_lone_server_is_cut_from_the_clients() {
        assert_eq!(hit(Target::Server, From::Servers, 1)[0].1, ["c1", "c2", "c3", "c4"]);
    }

    #[test]
    fn a_client_keeps_the_resource() {
        let servers = ["s1", "s2", "s3"].map(String::from).to_vec();
        assert_eq!(hit(Target::Holder, From::All, 3), [("c3".to_owned(), servers)]);
    }

    #[test]
    fn halves_split_servers_and_clients() {
        let sides = hit(Target::Halves, From::All, 5);
        assert_eq!(sides.len(), 4);
        assert_eq!(pairs(&sides).len(), 4 * 5);
        assert!(sides.iter().all(|(_, peers)| !peers.contains(&"resource".into())));
        assert!(links(&Target::Halves, From::All, &[], &view(1), 5).is_err());
    }

    #[test]
    fn groups_are_cut_pairwise() {
        let named = |groups: &[&[&str]]| -> Vec<Vec<String>> {
            groups.iter().map(|group| group.iter().map(|node| node.to_string()).collect()).collect()
        };
        let of = |groups: &[&[&str]]| links(&Target::Groups, From::All, &named(groups), &view(3), 5);
        let sides = of(&[&["s1", "c1"], &["s2"], &["s3"]]).unwrap();
        assert_eq!(pairs(&sides).len(), 5);
        assert!(sides.iter().all(|(_, peers)| !peers.is_empty()));
        assert_eq!(of(&[&["s1"], &["s7"]]), Err(never("there is no node `s7`")));
    }

    #[test]
    fn the_resource_is_cut_from_the_clients() {
        assert_eq!(hit(Target::Resource, From::All, 3)[0].1.len(), 4);
    }
}
