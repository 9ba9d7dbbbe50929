//! Both programs rewrite their configuration files (`CONFIG REWRITE`, sentinel's state), and start again from what they
//! wrote. Sentinels are told of each other and of the replicas at once; otherwise they would take some ten seconds to
//! find out.

use super::{NAME, PORT};
use crate::{
    catalog::LayoutEntry,
    systems::{
        DATA, Member, ServerPlan, Setup,
        plan::programs,
        redis::{self, append_only},
    },
};

pub(super) fn plan(
    setup: &Setup<'_>,
    members: &[Member],
    index: usize,
    layouts: &[LayoutEntry],
) -> ServerPlan {
    let server = format!("{DATA}/redis.conf");
    let sentinel = format!("{DATA}/sentinel.conf");
    let start =
        |args: &[&str]| programs(layouts, &args.iter().map(|arg| (*arg).to_string()).collect::<Vec<_>>());
    ServerPlan {
        programs: vec![start(&[&server]), start(&[&sentinel, "--sentinel"])],
        files: vec![
            (server, server_file(setup, members, index)),
            (sentinel, sentinel_file(setup, members, index)),
        ],
    }
}

fn server_file(setup: &Setup<'_>, members: &[Member], index: usize) -> String {
    let (append, sync) = append_only(setup);
    let mut file = format!(
        "bind 0.0.0.0\nport {}\nprotected-mode no\ndaemonize no\ndir {DATA}\nsave \"\"\nappendonly {append}\n\
         appendfsync {sync}\nloglevel notice\nrepl-diskless-sync yes\nrepl-diskless-sync-delay 0\n",
        redis::PORT
    );
    if index > 0 {
        file.push_str(&format!("replicaof {} {}\n", members[0].address, redis::PORT));
    }
    file
}

fn sentinel_file(setup: &Setup<'_>, members: &[Member], index: usize) -> String {
    let majority = members.len() / 2 + 1;
    let mut file = format!(
        "bind 0.0.0.0\nport {PORT}\nprotected-mode no\ndaemonize no\ndir {DATA}\nloglevel notice\n\
         sentinel myid {}\nsentinel monitor {NAME} {} {} {majority}\n\
         sentinel down-after-milliseconds {NAME} {}\nsentinel failover-timeout {NAME} {}\n\
         sentinel parallel-syncs {NAME} {}\n",
        id(index),
        members[0].address,
        redis::PORT,
        setup.value("down_after_ms"),
        setup.value("failover_timeout_ms"),
        members.len(),
    );
    for (other, Member { address, .. }) in members.iter().enumerate() {
        if other > 0 {
            file.push_str(&format!("sentinel known-replica {NAME} {address} {}\n", redis::PORT));
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
        let ttl = std::time::Duration::from_secs(2);
        let given = std::collections::BTreeMap::new();
        let setup = Setup { system: &super::super::SENTINEL, given: &given, version: None, ttl };
        assert!(!server_file(&setup, &members, 0).contains("replicaof"));
        assert!(server_file(&setup, &members, 2).contains("replicaof 198.18.0.1 6379\n"));
        let sentinel = sentinel_file(&setup, &members, 1);
        assert!(sentinel.contains("sentinel monitor mymaster 198.18.0.1 6379 2\n"), "{sentinel}");
        assert_eq!(sentinel.matches("known-replica").count(), 2, "{sentinel}");
        assert_eq!(sentinel.matches("known-sentinel").count(), 2, "{sentinel}");
        assert!(!sentinel.contains(&format!("26379 {}", id(1))), "not itself: {sentinel}");
    }
}
