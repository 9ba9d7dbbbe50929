//! Redis with replicas and sentinels: a server and a sentinel on every node, the first server the primary.
//!
//! Both programs rewrite their configuration files (`CONFIG REWRITE`, sentinel's state), and start again from what they
//! wrote. Sentinels are told of each other and of the replicas at once; otherwise they would take some ten seconds to
//! find out.

use super::{DATA, Family, Member, ServerPlan, Setting, System, programs, redis::PERSISTENCE};
use crate::catalog::LayoutEntry;

/// What the servers are called among sentinels, as in every example of Redis' own.
pub const NAME: &str = "mymaster";
/// Where a sentinel listens.
pub const PORT: u16 = 26379;

/// Primary, replicas, sentinels.
pub static SENTINEL: System = System {
    name: "redis-sentinel",
    family: Family::Sentinel,
    default_nodes: 3,
    max_nodes: 7,
    clustered: true,
    settings: &[
        PERSISTENCE,
        Setting {
            name: "down_after_ms",
            default: "1000",
            about: "milliseconds without answer after which a sentinel takes a server for down (Redis' own default is 30000)",
            values: &[],
        },
        Setting {
            name: "failover_timeout_ms",
            default: "3000",
            about: "milliseconds that a step of a failover may take, and half of the pause between two tries (Redis' own default is 180000)",
            values: &[],
        },
    ],
    about: "a Redis primary with replicas, and a sentinel beside each",
};

pub(super) fn plan(
    members: &[Member],
    index: usize,
    value: &impl Fn(&str) -> String,
    layouts: &[LayoutEntry],
) -> ServerPlan {
    let server = format!("{DATA}/redis.conf");
    let sentinel = format!("{DATA}/sentinel.conf");
    let start =
        |args: &[&str]| programs(layouts, &args.iter().map(|arg| (*arg).to_string()).collect::<Vec<_>>());
    ServerPlan {
        programs: vec![start(&[&server]), start(&[&sentinel, "--sentinel"])],
        files: vec![
            (server, server_file(members, index, value)),
            (sentinel, sentinel_file(members, index, value)),
        ],
    }
}

fn server_file(members: &[Member], index: usize, value: &impl Fn(&str) -> String) -> String {
    let persistence = value("persistence");
    let append = if persistence == "none" { "no" } else { "yes" };
    let sync = if persistence == "none" { "no" } else { persistence.as_str() };
    let mut file = format!(
        "bind 0.0.0.0\nport 6379\nprotected-mode no\ndaemonize no\ndir {DATA}\nsave \"\"\nappendonly {append}\n\
         appendfsync {sync}\nloglevel notice\nrepl-diskless-sync yes\nrepl-diskless-sync-delay 0\n"
    );
    if index > 0 {
        file.push_str(&format!("replicaof {} 6379\n", members[0].address));
    }
    file
}

fn sentinel_file(members: &[Member], index: usize, value: &impl Fn(&str) -> String) -> String {
    let majority = members.len() / 2 + 1;
    let mut file = format!(
        "bind 0.0.0.0\nport {PORT}\nprotected-mode no\ndaemonize no\ndir {DATA}\nloglevel notice\n\
         sentinel myid {}\nsentinel monitor {NAME} {} 6379 {majority}\n\
         sentinel down-after-milliseconds {NAME} {}\nsentinel failover-timeout {NAME} {}\n\
         sentinel parallel-syncs {NAME} {}\n",
        id(index),
        members[0].address,
        value("down_after_ms"),
        value("failover_timeout_ms"),
        members.len(),
    );
    for (other, Member { address, .. }) in members.iter().enumerate() {
        if other > 0 {
            file.push_str(&format!("sentinel known-replica {NAME} {address} 6379\n"));
        }
        if other != index {
            file.push_str(&format!("sentinel known-sentinel {NAME} {address} {PORT} {}\n", id(other)));
        }
    }
    file
}

/// A sentinel's name for itself: forty hexadecimal digits.
fn id(index: usize) -> String {
    format!("{:040x}", index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_server_is_the_primary_and_all_sentinels_know_each_other() {
        let member = |number: u8| Member { node: format!("s{number}"), address: [198, 18, 0, number].into() };
        let members = [member(1), member(2), member(3)];
        let value = |name: &str| if name == "persistence" { "none".into() } else { "1000".to_string() };
        assert!(!server_file(&members, 0, &value).contains("replicaof"));
        assert!(server_file(&members, 2, &value).contains("replicaof 198.18.0.1 6379\n"));
        let sentinel = sentinel_file(&members, 1, &value);
        assert!(sentinel.contains("sentinel monitor mymaster 198.18.0.1 6379 2\n"), "{sentinel}");
        assert_eq!(sentinel.matches("known-replica").count(), 2, "{sentinel}");
        assert_eq!(sentinel.matches("known-sentinel").count(), 2, "{sentinel}");
        assert!(!sentinel.contains(&format!("26379 {}", id(1))), "not itself: {sentinel}");
    }
}
