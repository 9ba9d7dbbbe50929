use crate::recipes::{
    RecipeInfo, find,
    promises::{Cells, Gap},
};

/// Of a recipe that is here to be found: its flaw, and what its sound twin is without as well.
pub(super) fn gaps(info: &RecipeInfo) -> Vec<Gap> {
    let Some((flaw, twin)) = flaw(info.name) else { return Vec::new() };
    let mut gaps = vec![flaw];
    gaps.extend(find(twin).map(RecipeInfo::gaps).unwrap_or_default());
    gaps
}

/// What is wrong with it, and its sound twin.
fn flaw(name: &str) -> Option<(Gap, &'static str)> {
    let (never_promised, prevented_by, cells, twin): (&str, &str, Cells, &str) = match name {
        "redis/release-without-compare" => (
            "a release deletes nothing but the holder's own lock: one that comes late deletes its successor's",
            "redis/set-nx compares its value and deletes in one script.",
            &[
                ("pause:server,leader,majority,all,holder,client,any", "exclusion promise damage"),
                ("partition:server,leader,holder,client,majority,any", "exclusion promise damage"),
            ],
            "redis/set-nx",
        ),
        "redis/client-counter-token" => (
            "tokens are counted in one place: each client counts for itself",
            "redis/set-nx-fenced counts them with INCR on the server that grants the lock.",
            &[
                ("none", TOKENS),
                (PAUSE_ONE, TOKENS),
                (KILL_ONE, TOKENS),
                (PARTITION_ONE, TOKENS),
                (CLOCK_ONE, TOKENS),
            ],
            "redis/set-nx-fenced",
        ),
        "redis/check-then-set" => (
            "the store compares the token and takes the write in one step: another's write may come between",
            "The store of redis/set-nx-fenced compares when it writes.",
            &[
                ("pause:holder,client,any,resource", "fencing"),
                ("partition:resource", "fencing"),
                ("clock:server,leader,majority,all,any", "fencing"),
            ],
            "redis/set-nx-fenced",
        ),
        "etcd/put-without-compare" => (
            "the key is put only where there is none: the put succeeds whoever holds it",
            "etcd/lease-lock compares the key's create revision with 0 in the same transaction.",
            &[
                ("none", HOLDS),
                (PAUSE, HOLDS),
                (KILL, HOLDS),
                (PARTITION, HOLDS),
                (CLOCK, HOLDS),
                // Of two that hold at once, the older renews last.
                ("pause:majority,all,resource", "token"),
                ("partition:resource", "token"),
            ],
            "etcd/lease-lock",
        ),
        "etcd/lease-id-token" => (
            "tokens increase: lease numbers are in no order",
            "etcd/lease-lock takes the key's create revision for a token.",
            &[
                ("none", TOKENS),
                (PAUSE, TOKENS),
                (KILL, TOKENS),
                (PARTITION, TOKENS),
                (CLOCK, TOKENS),
                // Most are refused at once, so that the lock goes round quickly, and some waiter is granted it while it
                // stands still.
                ("pause:waiter", "exclusion"),
            ],
            "etcd/lease-lock",
        ),
        "zookeeper/version-token" => (
            "a node's version tells one grant from the next: that of a new node is always 0",
            "zookeeper/lock takes the node's czxid for a token.",
            &[("none", "token"), (PAUSE, "token"), (KILL, "token"), (PARTITION, "token"), (CLOCK, "token")],
            "zookeeper/lock",
        ),
        "zookeeper/watch-after-read" => (
            "a waiter hears of what went between its look and its watch: it is stuck, and all behind it",
            "zookeeper/lock looks whether the node that it watches still exists.",
            &[
                ("none", "liveness"),
                (PAUSE, "liveness"),
                (KILL, "liveness"),
                (PARTITION, "liveness"),
                (CLOCK, "liveness"),
                // Of two clients the one that waits is the next, and may be granted the lock while it stands still.
                ("pause:waiter", "exclusion"),
            ],
            "zookeeper/lock",
        ),
        _ => return None,
    };
    Some((Gap { never_promised, prevented_by: prevented_by.to_owned(), before: None, cells }, twin))
}

const TOKENS: &str = "token fencing";
const HOLDS: &str = "exclusion promise damage";

/// Every fault on one server and its clients.
const PAUSE_ONE: &str = "pause:server,leader,holder,waiter,client,any,majority,all,resource";
const KILL_ONE: &str = "kill:server,leader,holder,waiter,client,any,majority,all";
const PARTITION_ONE: &str = "partition:server,leader,holder,waiter,client,any,majority,resource";
const CLOCK_ONE: &str = "clock:server,leader,holder,waiter,client,any,majority,all";

/// Every fault on three servers and their clients.
const PAUSE: &str = "pause:server,leader,holder,waiter,client,any,minority,majority,all,resource";
const KILL: &str = "kill:server,leader,holder,waiter,client,any,minority,majority,all,rolling";
const PARTITION: &str = "partition:server,leader,holder,waiter,client,any,minority,majority,halves,resource";
const CLOCK: &str = "clock:server,leader,holder,waiter,client,any,minority,majority,all";
