//! From a symbolic target to nodes, at the moment a fault starts.

use crate::{draw::Draw, target::Target};

/// Who is there now, by node name. Where several hold or wait, each is listed once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Servers of the system, in order.
    pub servers: Vec<String>,
    /// Clients, in order.
    pub clients: Vec<String>,
    /// The protected resource, where there is one.
    pub resource: Option<String>,
    /// The server that leads, where that is known.
    pub leader: Option<String>,
    /// Clients that hold a lock.
    pub holders: Vec<String>,
    /// Clients that wait for a lock.
    pub waiters: Vec<String>,
}

/// There is nobody to hit now. Some of these pass (nobody holds), others never will (no such node).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoTarget {
    /// Why, for people.
    pub reason: String,
    /// Whether it is worth while to look again a little later.
    pub passes: bool,
}

/// The nodes that `target` means now; the same for the same arguments, and never empty.
///
/// What halves and groups are is told by the links that they cut: see [`crate::links`].
pub fn resolve(target: &Target, view: &View, seed: u64) -> Result<Vec<String>, NoTarget> {
    let mut draw = Draw::part(seed, "resolve");
    let mut one = |of: &[String], otherwise: NoTarget| match draw.choose(of, 1) {
        chosen if chosen.is_empty() => Err(otherwise),
        chosen => Ok(chosen),
    };
    match target {
        Target::Server => one(&view.servers, never("there are no servers")),
        Target::Client => one(&view.clients, never("there are no clients")),
        Target::Any => one(&[&view.servers[..], &view.clients[..]].concat(), never("there are no nodes")),
        Target::Holder => one(&view.holders, later("nobody holds the lock")),
        Target::Waiter => one(&view.waiters, later("nobody waits for the lock")),
        Target::Leader => one(view.leader.as_slice(), later("no leader is known")),
        Target::Resource => one(view.resource.as_slice(), never("there is no resource")),
        Target::Minority => servers(view, view.servers.len().saturating_sub(1) / 2, seed),
        Target::Majority => servers(view, view.servers.len() / 2 + 1, seed),
        Target::Rolling => match view.servers.len() as u64 {
            0 => Err(never("there are no servers")),
            count => Ok(vec![view.servers[(seed % count) as usize].clone()]),
        },
        Target::All => servers(view, view.servers.len(), seed),
        Target::Halves | Target::Groups => Err(never("halves and groups are resolved as cuts")),
        Target::Node(name) => {
            let mut known = view.servers.iter().chain(&view.clients).chain(&view.resource);
            match known.any(|node| node == name) {
                true => Ok(vec![name.clone()]),
                false => Err(never(&format!("there is no node `{name}`"))),
            }
        }
    }
}

/// `count` servers, in the view's order, so that reports read well.
fn servers(view: &View, count: usize, seed: u64) -> Result<Vec<String>, NoTarget> {
    if count == 0 {
        return Err(never(&format!("there is no minority of {} server(s)", view.servers.len())));
    }
    let chosen = Draw::part(seed, "servers").choose(&view.servers, count);
    Ok(view.servers.iter().filter(|server| chosen.contains(server)).cloned().collect())
}

pub(crate) fn later(reason: &str) -> NoTarget {
    NoTarget { reason: reason.into(), passes: true }
}

pub(crate) fn never(reason: &str) -> NoTarget {
    NoTarget { reason: reason.into(), passes: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        let names = |prefix: &str, count: u32| (1..=count).map(|n| format!("{prefix}{n}")).collect();
        View {
            servers: names("s", 5),
            clients: names("c", 3),
            resource: Some("resource".into()),
            leader: Some("s3".into()),
            holders: vec!["c2".into()],
            waiters: Vec::new(),
        }
    }

    fn hit(target: Target, seed: u64) -> Vec<String> {
        resolve(&target, &view(), seed).unwrap()
    }

    #[test]
    fn finds_who_is_meant() {
        assert_eq!(hit(Target::Leader, 1), ["s3"]);
        assert_eq!(hit(Target::Holder, 1), ["c2"]);
        assert_eq!(hit(Target::Resource, 1), ["resource"]);
        assert_eq!(hit(Target::All, 1), view().servers);
        assert_eq!((hit(Target::Minority, 1).len(), hit(Target::Majority, 1).len()), (2, 3));
    }

    #[test]
    fn chance_reaches_everybody_and_repeats() {
        let seen: std::collections::BTreeSet<_> = (0..100).flat_map(|seed| hit(Target::Any, seed)).collect();
        assert_eq!(seen.len(), 8);
        assert_eq!(hit(Target::Server, 7), hit(Target::Server, 7));
    }

    #[test]
    fn rolling_takes_them_in_turn() {
        let turns = (0..6).flat_map(|turn| hit(Target::Rolling, turn));
        assert_eq!(turns.collect::<Vec<_>>(), ["s1", "s2", "s3", "s4", "s5", "s1"]);
    }

    #[test]
    fn says_why_there_is_nobody() {
        let none = |target: Target| resolve(&target, &view(), 1).unwrap_err();
        assert_eq!(none(Target::Waiter), later("nobody waits for the lock"));
        assert_eq!(none(Target::Node("s9".into())), never("there is no node `s9`"));
        let lone = View { servers: vec!["s1".into()], ..View::default() };
        let minority = resolve(&Target::Minority, &lone, 1).unwrap_err();
        assert_eq!(minority.to_string(), "there is no minority of 1 server(s)");
    }
}
