use super::{PEER_PORT, PORT};
use crate::{
    catalog::LayoutEntry,
    systems::{DATA, Member, ServerPlan, Setup, plan::programs},
};

pub(super) fn plan(
    setup: &Setup<'_>,
    members: &[Member],
    index: usize,
    layouts: &[LayoutEntry],
) -> ServerPlan {
    let Member { node, address } = &members[index];
    let cluster: Vec<String> = members
        .iter()
        .map(|member| format!("{}=http://{}:{PEER_PORT}", member.node, member.address))
        .collect();
    let args = [
        ("name", node.clone()),
        ("data-dir", format!("{DATA}/etcd")),
        ("listen-client-urls", format!("http://0.0.0.0:{PORT}")),
        ("advertise-client-urls", format!("http://{address}:{PORT}")),
        ("listen-peer-urls", format!("http://0.0.0.0:{PEER_PORT}")),
        ("initial-advertise-peer-urls", format!("http://{address}:{PEER_PORT}")),
        ("initial-cluster", cluster.join(",")),
        ("initial-cluster-token", "fencepost".into()),
        ("initial-cluster-state", "new".into()),
        ("heartbeat-interval", setup.value("heartbeat_ms").into()),
        ("election-timeout", setup.value("election_ms").into()),
        ("logger", "zap".into()),
    ];
    let args: Vec<String> = args.into_iter().map(|(name, value)| format!("--{name}={value}")).collect();
    ServerPlan { files: Vec::new(), programs: vec![programs(layouts, &args)] }
}
