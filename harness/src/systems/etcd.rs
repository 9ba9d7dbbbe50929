//! etcd: a cluster of one to seven members.

use super::{DATA, Family, Member, ServerPlan, Setting, System, programs};
use crate::catalog::LayoutEntry;

/// etcd.
pub static ETCD: System = System {
    name: "etcd",
    family: Family::Etcd,
    default_nodes: 3,
    max_nodes: 7,
    clustered: true,
    settings: &[
        Setting {
            name: "heartbeat_ms",
            default: "50",
            about: "milliseconds between the leader's heartbeats (etcd's own default is 100)",
            values: &[],
        },
        Setting {
            name: "election_ms",
            default: "500",
            about: "milliseconds without heartbeat before an election, and the least TTL of a lease times 1.5 (etcd's own default is 1000)",
            values: &[],
        },
    ],
    about: "an etcd cluster",
};

pub(super) fn plan(
    members: &[Member],
    index: usize,
    value: &impl Fn(&str) -> String,
    layouts: &[LayoutEntry],
) -> ServerPlan {
    let Member { node, address } = &members[index];
    let cluster: Vec<String> =
        members.iter().map(|member| format!("{}=http://{}:2380", member.node, member.address)).collect();
    let args = [
        ("name", node.clone()),
        ("data-dir", format!("{DATA}/etcd")),
        ("listen-client-urls", "http://0.0.0.0:2379".into()),
        ("advertise-client-urls", format!("http://{address}:2379")),
        ("listen-peer-urls", "http://0.0.0.0:2380".into()),
        ("initial-advertise-peer-urls", format!("http://{address}:2380")),
        ("initial-cluster", cluster.join(",")),
        ("initial-cluster-token", "fencepost".into()),
        ("initial-cluster-state", "new".into()),
        ("heartbeat-interval", value("heartbeat_ms")),
        ("election-timeout", value("election_ms")),
        ("logger", "zap".into()),
    ];
    let args: Vec<String> = args.into_iter().map(|(name, value)| format!("--{name}={value}")).collect();
    ServerPlan { files: Vec::new(), programs: vec![programs(layouts, &args)] }
}
