use crate::recipes::{
    Primitive, RecipeInfo,
    promises::{
        Cells, Gap,
        common::{arrives_late, fence, keeps_on, stands_still},
    },
};

/// Leases and leaderships are renewed; a plain lock's time just ends.
fn renews(info: &RecipeInfo) -> bool {
    info.primitive != Primitive::Lock
}

const STANDS_STILL: Cells = &[("pause:holder,client,any", "exclusion deadline damage")];
const LATE: Cells = &[("partition:resource", "damage"), ("delay:holder", "damage")];

const KEEPS_ON: Cells = &[
    ("pause:server,leader,majority,all,any", "exclusion deadline damage"),
    ("kill:server,leader,majority,all,any", "exclusion deadline damage"),
    ("partition:server,leader,holder,client,majority,any", "exclusion deadline damage"),
    ("clock:server,leader,majority,all,any", "deadline"),
];

/// Where a clock jumped, the resource refuses the old holder before its deadline.
const KEEPS_ON_FENCED: Cells = &[
    ("pause:server,leader,majority,all,any", "exclusion deadline damage"),
    ("kill:server,leader,majority,all,any", "exclusion deadline damage"),
    ("partition:server,leader,holder,client,majority,any", "exclusion deadline damage"),
];

/// Of a recipe on one server.
pub(in crate::recipes) fn one_server(info: &RecipeInfo) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if !info.aware {
        gaps.push(stands_still(info, STANDS_STILL));
    }
    if !info.aware && renews(info) {
        gaps.push(keeps_on(info, if info.has_token { KEEPS_ON_FENCED } else { KEEPS_ON }));
    }
    gaps.push(Gap {
        never_promised: "the lock outlasts a jump of the server's clock: Redis counts the TTL on its wall clock",
        prevented_by: format!(
            "A server whose clock is slewed and never stepped, or a store that counts leases on a clock that does not jump, \
             such as etcd or ZooKeeper. {}",
            fence(info)
        ),
        before: None,
        cells: &[("clock:server,leader,majority,all,any", "exclusion promise damage")],
    });
    gaps.push(Gap {
        never_promised: "a server that was started again knows the lock, or the count of its tokens",
        prevented_by: "`--set persistence=always` has both on disk before the client hears of them."
            .to_owned(),
        before: None,
        cells: forgotten(info),
    });
    // A lease that its client gives up in time was not seen to break so.
    if !(info.aware && info.primitive == Primitive::Lease) {
        gaps.push(arrives_late(info, LATE));
    }
    gaps
}

/// A holder of a short lock asks for its release at once and ends its belief; one that renews believes on.
fn forgotten(info: &RecipeInfo) -> Cells {
    match (info.has_token, info.primitive) {
        (false, Primitive::Lock) => &[("kill:server,leader,majority,all,any", "promise")],
        (true, Primitive::Lock) => &[("kill:server,leader,majority,all,any", "promise token fencing")],
        (false, _) => {
            &[("kill:server,leader,majority,all", "exclusion promise damage"), ("kill:any", "promise")]
        }
        (true, Primitive::Lease) => &[
            ("kill:server,leader,majority,all", "exclusion promise token fencing damage"),
            ("kill:any", "promise token fencing"),
        ],
        (true, Primitive::Election) => {
            &[("kill:server,leader,majority,all,any", "exclusion promise token fencing damage")]
        }
    }
}

/// Of a recipe on independent servers.
pub(super) fn redlock(info: &RecipeInfo) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if !info.aware {
        gaps.push(stands_still(info, STANDS_STILL));
    }
    if !info.aware && renews(info) {
        gaps.push(keeps_on(
            info,
            &[
                ("pause:minority,majority,all,any", "exclusion deadline damage"),
                ("pause:server", "deadline"),
                ("kill:server,minority,majority,all,any,rolling", "exclusion deadline damage"),
                ("partition:server,holder,client,minority,majority,halves,any", "exclusion deadline damage"),
                ("clock:server,minority,majority,all", "deadline"),
            ],
        ));
    }
    gaps.push(Gap {
        never_promised: "the lock outlasts a jump of clocks at so many of its servers that the rest is no majority, which \
                         one can be: Redis counts the TTL on its wall clock",
        prevented_by: format!("Servers whose clocks are slewed and never stepped. {}", fence(info)),
        before: None,
        cells: if renews(info) {
            &[("clock:server,minority,majority,all", "exclusion promise damage")]
        } else {
            &[("clock:majority,all", "exclusion promise damage")]
        },
    });
    gaps.push(Gap {
        never_promised: "servers that were started again know the lock: so many may have forgotten it that the rest is no \
                         majority, and of a bare majority one is enough",
        prevented_by: "`--set persistence=always`, or servers that stay away for the longest TTL before they serve again."
            .to_owned(),
        before: None,
        cells: match (renews(info), info.aware) {
            // In turn only locks that are held for most of their TTL.
            (false, _) => &[("kill:all,rolling", "promise")],
            (true, false) => &[("kill:server,majority,all,rolling", "promise")],
            (true, true) => &[
                ("kill:majority,all,rolling", "promise"),
                ("kill:majority,rolling", "exclusion"),
                ("kill:rolling", "damage"),
            ],
        },
    });
    gaps.push(arrives_late(info, LATE));
    gaps
}

/// Of a recipe behind sentinels.
pub(super) fn sentinel(info: &RecipeInfo) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if !info.aware {
        gaps.push(stands_still(info, STANDS_STILL));
    }
    gaps.push(Gap {
        never_promised: "a lock outlives a failover: replication is asynchronous, so the new primary may lack the lock and \
                         the count of its tokens, two primaries may serve at once, and one that comes back empty is copied",
        prevented_by: "A store that agrees by majority before it answers, such as etcd or ZooKeeper. `--set \
                       wait_replicas=N` makes it rarer and does not prevent it."
            .to_owned(),
        before: None,
        cells: &[
            ("pause:server,leader,minority,any", "exclusion promise token fencing damage"),
            ("kill:server,leader,minority,any", "exclusion promise token fencing damage"),
            ("kill:majority,all,rolling", "token fencing"),
            ("partition:server,leader,minority,majority,halves,any", "exclusion promise token fencing damage"),
        ],
    });
    gaps.push(Gap {
        never_promised: "the lock outlasts a jump of a server's clock: Redis counts the TTL on its wall clock",
        prevented_by: format!("Servers whose clocks are slewed and never stepped. {}", fence(info)),
        before: None,
        cells: &[("clock:server,leader,minority,majority,all,any", "exclusion promise damage")],
    });
    gaps.push(arrives_late(info, LATE));
    gaps
}
