use crate::recipes::{
    Primitive, RecipeInfo,
    promises::{
        Cells, Gap,
        common::{arrives_late, keeps_on, stands_still},
    },
};

/// Of a recipe on ZooKeeper.
pub(super) fn gaps(info: &RecipeInfo) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if !info.aware {
        gaps.push(stands_still(info, &[("pause:holder,client,any", "exclusion deadline damage")]));
    }
    if !info.aware && info.primitive != Primitive::Lock {
        gaps.push(keeps_on(info, KEEPS_ON));
    }
    // A plain leadership was not seen to break so.
    if info.aware || info.primitive != Primitive::Election {
        gaps.push(arrives_late(info, &[("partition:resource", "damage")]));
    }
    gaps
}

/// Where all were dead, sessions are counted anew: a client that works on is done before another gets the lock.
const KEEPS_ON: Cells = &[
    ("pause:server,leader,minority,majority,all,any", "exclusion deadline damage"),
    ("kill:server,leader,minority,majority,any", "exclusion deadline damage"),
    ("kill:all,rolling", "deadline"),
    ("partition:server,leader,holder,client,minority,majority,halves,any", "exclusion deadline damage"),
];
