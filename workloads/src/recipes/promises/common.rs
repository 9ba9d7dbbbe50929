//! Gaps that recipes on every system have.

use super::{Cells, Gap};
use crate::recipes::RecipeInfo;

/// A client that is not scheduled does not know it.
pub(in crate::recipes) fn stands_still(info: &RecipeInfo, cells: Cells) -> Gap {
    Gap {
        never_promised: "a client that stood still for longer than its lock lives looks at a clock before it acts on",
        prevented_by: format!("{} {}", twin(info), fence(info)),
        before: None,
        cells,
    }
}

/// A keepalive that fails is nobody's business but its own.
pub(in crate::recipes) fn keeps_on(info: &RecipeInfo, cells: Cells) -> Gap {
    Gap {
        never_promised: "a client stops when its lock is not renewed: it works on when renewals are refused or get no answer",
        prevented_by: format!("{} {}", twin(info), fence(info)),
        before: None,
        cells,
    }
}

/// The way from the client to the resource is not the lock's.
pub(in crate::recipes) fn arrives_late(info: &RecipeInfo, cells: Cells) -> Gap {
    Gap {
        never_promised: "a write that was sent in time arrives in time",
        prevented_by: format!("No client can prevent it. {}", fence(info)),
        before: None,
        cells,
    }
}

/// What a resource that checks tokens makes of it.
pub(in crate::recipes) fn fence(info: &RecipeInfo) -> &'static str {
    match info.has_token {
        true => {
            "A resource that checks the recipe's token refuses the stale writes, as the fenced register does."
        }
        false => {
            "It has no token: one that increases, such as that of redis/set-nx-fenced, of etcd or of ZooKeeper, lets the \
             resource refuse stale writes."
        }
    }
}

/// The twin that looks at its clock.
fn twin(info: &RecipeInfo) -> String {
    format!("{}-aware looks at its clock before each write and stops at its deadline.", info.name)
}
