use crate::recipes::{
    Primitive, RecipeInfo,
    promises::{
        Cells, Gap,
        common::{arrives_late, fence, keeps_on, stands_still},
    },
};

/// Of a recipe on etcd.
pub(super) fn gaps(info: &RecipeInfo) -> Vec<Gap> {
    let waits_at_the_server = info.name.contains("-rpc");
    let is_rpc_lease = waits_at_the_server && info.primitive == Primitive::Lease;
    let mut gaps = Vec::new();
    if !info.aware {
        gaps.push(stands_still(info, &[("pause:holder,client,any", "exclusion deadline damage")]));
    }
    if !info.aware && waits_at_the_server {
        gaps.push(granted_meanwhile(info));
    }
    if !info.aware && info.primitive != Primitive::Lock {
        gaps.push(keeps_on(info, if is_rpc_lease { KEEPS_ON_RPC } else { KEEPS_ON }));
    }
    if info.name == "etcd/lock-rpc" {
        // A release waits for the renewal under way, which has no answer.
        gaps.push(keeps_on(info, &[("partition:waiter,halves,any", "exclusion")]));
    }
    // Leases and leaders at the server's own services were not seen to break so.
    if info.aware || !waits_at_the_server || info.primitive == Primitive::Lock {
        gaps.push(arrives_late(info, &[("partition:resource", "damage")]));
    }
    if waits_at_the_server && !info.aware && info.primitive != Primitive::Election {
        gaps.push(hole(info));
    }
    gaps.push(ended_by_a_leader(info));
    gaps
}

/// A leader that is elected counts every lease anew: nobody gets the lock of a client that works on beyond its own.
const KEEPS_ON: Cells = &[
    ("pause:server,leader,minority,majority,all,any", "exclusion deadline damage"),
    ("kill:server,minority,any,rolling", "exclusion deadline damage"),
    ("kill:leader,majority,all", "deadline"),
    ("partition:server,leader,holder,client,minority,majority,halves,any", "exclusion deadline damage"),
];

const KEEPS_ON_RPC: Cells = &[
    ("pause:server,leader,minority,majority,all,any", "exclusion deadline damage"),
    ("kill:server,minority,majority,any,rolling", "exclusion deadline damage"),
    ("kill:leader,all", "deadline"),
    ("partition:server,leader,holder,client,minority,majority,halves,any", "exclusion deadline damage"),
];

/// The server gives the lock to a waiter that stands still and has no lease any more when it reads the answer.
fn granted_meanwhile(info: &RecipeInfo) -> Gap {
    let cells: Cells = match info.primitive {
        Primitive::Election => &[("pause:waiter,client,any", "exclusion")],
        _ => &[("pause:waiter,client,any", "exclusion deadline damage")],
    };
    Gap {
        never_promised: "the server's answer is read while the lease still lives: a waiter that stands still reads it late",
        prevented_by: format!(
            "{}-aware counts from the last renewal of its lease. {}",
            info.name,
            fence(info)
        ),
        before: None,
        cells,
    }
}

/// Issue 11456 of etcd.
fn hole(info: &RecipeInfo) -> Gap {
    let twin = format!("{}-aware", info.name);
    Gap {
        never_promised: "the lock service looks whether a waiter's own key is still there before it says yes: etcd before \
                         3.5.0 does not (issue 11456)",
        prevented_by: format!("etcd 3.5.0 or later; {twin}, which reads its key back. {}", fence(info)),
        before: Some("3.5.0"),
        cells: &[
            ("pause:server,leader,waiter,client,minority,majority,all,any", "exclusion deadline damage"),
            ("kill:server,leader,minority,majority,all,any", "exclusion deadline damage"),
            (
                "partition:server,leader,waiter,client,minority,majority,halves,any",
                "exclusion deadline damage",
            ),
        ],
    }
}

/// Issues 12528 and 15247 of etcd.
fn ended_by_a_leader(info: &RecipeInfo) -> Gap {
    Gap {
        never_promised: "a leader that stood still ends no lease that was renewed through another meanwhile: etcd before \
                         3.5.13 (3.4.31) does (issue 15247)",
        prevented_by: format!("etcd 3.5.13 or later. {}", fence(info)),
        before: Some("3.5.13"),
        cells: &[
            ("pause:server,leader,minority,majority,all,any", "exclusion promise deadline damage"),
            ("partition:server,leader,minority,majority,halves,any", "exclusion promise deadline damage"),
        ],
    }
}
