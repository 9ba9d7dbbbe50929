use super::{ELECTION_PORT, LEADER_PORT, PORT, session_timeout_ms_max};
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
    let folder = format!("{DATA}/zookeeper");
    let mut config = format!(
        "dataDir={folder}\nclientPort={PORT}\ntickTime={}\ninitLimit={}\nsyncLimit={}\n\
         minSessionTimeout=100\nmaxSessionTimeout={}\n4lw.commands.whitelist=*\nadmin.enableServer=false\n\
         maxClientCnxns=0\n",
        setup.value("tick_ms"),
        setup.value("init_limit"),
        setup.value("sync_limit"),
        session_timeout_ms_max(setup.ttl),
    );
    for (number, Member { address, .. }) in members.iter().enumerate() {
        config.push_str(&format!("server.{}={address}:{LEADER_PORT}:{ELECTION_PORT}\n", number + 1));
    }
    ServerPlan {
        files: vec![
            (format!("{DATA}/zoo.cfg"), config),
            (format!("{folder}/myid"), format!("{}\n", index + 1)),
        ],
        programs: vec![programs(layouts, &[format!("{DATA}/zoo.cfg")])],
    }
}
