//! What a fault does to one of its nodes: the verbs, with regard to the other faults that hold the node.

use super::{
    Aim, Report,
    overlaps::{Hold, Overlaps},
    reported,
};
use crate::verbs::{
    Answer, ClockSet, Cut, Cutting, Delay, Direction, Killed, Mended, NotDone, Paused, Resumed, Shaping,
    Shown, Started, Unshaped, Verbs,
};

/// One node that a fault hits.
pub struct On<'a> {
    pub(super) verbs: &'a dyn Verbs,
    pub(super) overlaps: &'a Overlaps,
    pub(super) node: &'a str,
    pub(super) fault: u32,
    pub(super) aim: &'a Aim,
    pub(super) restart_as: Option<u32>,
    pub(super) is_touched: bool,
}

/// How a fault let go of a node.
#[derive(Clone, Debug)]
pub enum Ended<T> {
    /// By a verb, with what came of it.
    By(Answer<T>),
    /// These faults still hold the node, and it is theirs to end that.
    LeftTo(Vec<u32>),
}

impl<T: Shown> Ended<T> {
    /// With what the node showed as histories have it.
    pub fn reported(self) -> Ended<Report> {
        match self {
            Ended::By(answer) => Ended::By(reported(answer)),
            Ended::LeftTo(others) => Ended::LeftTo(others),
        }
    }
}

impl On<'_> {
    /// Whether the fault is known to have touched the node.
    pub fn is_touched(&self) -> bool {
        self.is_touched
    }

    /// Stops the node's processes.
    pub async fn pause(&self) -> Answer<Paused> {
        self.overlaps.take(self.node, self.fault, Hold::Stopped);
        self.verbs.pause(self.node).await
    }

    /// Lets them go on.
    pub async fn resume(&self) -> Ended<Resumed> {
        match self.others(Hold::Stopped).as_slice() {
            [] => Ended::By(self.verbs.resume(self.node).await),
            others => left_to(others),
        }
    }

    /// Kills the node's processes.
    pub async fn kill(&self) -> Answer<Killed> {
        self.overlaps.take(self.node, self.fault, Hold::Dead);
        self.verbs.kill(self.node).await
    }

    /// Starts them again.
    pub async fn start(&self) -> Ended<Started> {
        match self.others(Hold::Dead).as_slice() {
            [] => Ended::By(self.verbs.start(self.node, self.restart_as).await),
            others => left_to(others),
        }
    }

    /// Moves the node's clock so many milliseconds off the truth.
    pub async fn move_clock(&self, by_ms: i64) -> Answer<ClockSet> {
        self.overlaps.take(self.node, self.fault, Hold::ClockOff(by_ms));
        self.put_clock(by_ms).await
    }

    /// Puts it where the newest of the others wants it, or right.
    pub async fn leave_clock(&self) -> Answer<ClockSet> {
        let wanted = self.others(Hold::ClockOff(0)).last().map(|(_, hold)| *hold);
        self.put_clock(if let Some(Hold::ClockOff(by_ms)) = wanted { by_ms } else { 0 }).await
    }

    /// Drops packets on the links that the fault hits. No two faults share rules.
    pub async fn cut(&self, direction: Direction) -> Answer<Cutting> {
        self.verbs.cut(self.fault, &self.rules(direction)?).await
    }

    /// Drops them no longer.
    pub async fn mend(&self) -> Answer<Mended> {
        self.verbs.mend(self.fault, self.node).await
    }

    /// Holds packets on the links that the fault hits. Several faults add up.
    pub async fn shape(&self, direction: Direction, delay: Delay) -> Answer<Shaping> {
        self.verbs.shape(self.fault, &self.rules(direction)?, delay).await
    }

    /// Holds them no longer.
    pub async fn unshape(&self) -> Answer<Unshaped> {
        self.verbs.unshape(self.fault, self.node).await
    }

    /// The rules for the links that the fault hits.
    fn rules(&self, direction: Direction) -> Result<Cut, NotDone> {
        let peers = self.aim.links.get(self.node);
        let peers = peers.ok_or_else(|| format!("{} has no rules", self.node))?.clone();
        Ok(Cut { node: self.node.to_owned(), peers, direction })
    }

    async fn put_clock(&self, by_ms: i64) -> Answer<ClockSet> {
        self.verbs.set_clock(self.node, by_ms.saturating_mul(1_000_000)).await
    }

    fn others(&self, hold: Hold) -> Vec<(u32, Hold)> {
        self.overlaps.leave(self.node, self.fault, hold)
    }
}

fn left_to<T>(others: &[(u32, Hold)]) -> Ended<T> {
    Ended::LeftTo(others.iter().map(|(fault, _)| *fault).collect())
}
