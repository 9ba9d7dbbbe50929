//! Apache ZooKeeper: an ensemble of one to seven servers. The agent starts Java itself, not through `zkServer.sh`.

use std::time::Duration;

use super::{DATA, Family, Member, ServerPlan, Setting, System, programs};
use crate::catalog::LayoutEntry;

/// ZooKeeper.
pub static ZOOKEEPER: System = System {
    name: "zookeeper",
    family: Family::Zookeeper,
    default_nodes: 3,
    max_nodes: 7,
    clustered: true,
    settings: &[
        Setting {
            name: "tick_ms",
            default: "200",
            about: "milliseconds of ZooKeeper's tick, the unit of its other times (its own default is 2000)",
            values: &[],
        },
        Setting {
            name: "init_limit",
            default: "50",
            about: "ticks a follower may take to connect and sync",
            values: &[],
        },
        Setting {
            name: "sync_limit",
            default: "5",
            about: "ticks a follower may lag before it is dropped",
            values: &[],
        },
    ],
    about: "a ZooKeeper ensemble",
};

pub(super) fn plan(
    members: &[Member],
    index: usize,
    value: &impl Fn(&str) -> String,
    ttl: Duration,
    layouts: &[LayoutEntry],
) -> ServerPlan {
    let folder = format!("{DATA}/zookeeper");
    let mut config = format!(
        "dataDir={folder}\nclientPort=2181\ntickTime={}\ninitLimit={}\nsyncLimit={}\n\
         minSessionTimeout=100\nmaxSessionTimeout={}\n4lw.commands.whitelist=*\nadmin.enableServer=false\n\
         maxClientCnxns=0\n",
        value("tick_ms"),
        value("init_limit"),
        value("sync_limit"),
        (ttl.as_millis() * 10).max(60_000),
    );
    for (number, Member { address, .. }) in members.iter().enumerate() {
        config.push_str(&format!("server.{}={address}:2888:3888\n", number + 1));
    }
    ServerPlan {
        files: vec![
            (format!("{DATA}/zoo.cfg"), config),
            (format!("{folder}/myid"), format!("{}\n", index + 1)),
        ],
        programs: vec![programs(layouts, &[format!("{DATA}/zoo.cfg")])],
    }
}
