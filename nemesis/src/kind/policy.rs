//! What a kind of fault means: which verbs apply it, which take it away, and when it has shown what it did.

use async_trait::async_trait;

use crate::{
    draw::Draw,
    life::{Aim, Report},
    plan::FaultSpec,
    resolve::{NoTarget, View, resolve},
    schedule::{Params, ScheduledFault},
    verbs::{Answer, Verbs},
};

use super::KindInfo;

/// One node that a fault hits.
pub struct On<'a> {
    /// What can be done to it.
    pub verbs: &'a dyn Verbs,
    /// Its name.
    pub node: &'a str,
    /// The fault.
    pub fault: &'a ScheduledFault,
    /// Whom it hits, and by which rules.
    pub aim: &'a Aim,
    /// Process number under which a killed client goes on.
    pub restart_as: Option<u32>,
    /// Whether the fault is known to have touched the node.
    pub is_touched: bool,
}

/// When a kind shows what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// When it is applied: what it did not touch then, it never did.
    Start,
    /// When it is healed: until then nobody knows whether it met anything.
    End,
    /// At either: what it did not touch at first it may touch later.
    Either,
}

/// A kind of fault, in verbs.
///
/// A heal is given again until it is done, and only on the nodes where it was not.
#[async_trait(?Send)]
pub trait Policy: Sync {
    /// What there is to know about it.
    fn info(&self) -> &'static KindInfo;

    /// When its evidence is final.
    fn shows(&self) -> Shows;

    /// The parameters of the `nth` fault (from 0) that is drawn of a specification.
    fn draw(&self, _spec: &FaultSpec, _nth: usize, _ttl_ms: u64, _draw: &mut Draw) -> Params {
        Params::default()
    }

    /// Whom the fault hits now.
    fn aim(&self, fault: &ScheduledFault, view: &View) -> Result<Aim, NoTarget> {
        Ok(Aim { targets: resolve(fault.kind, &fault.target, view, fault.seed)?, cuts: Vec::new() })
    }

    /// Applies it to one node.
    async fn apply(&self, on: &On<'_>) -> Answer<Report>;

    /// Takes it off one node, on which `left` are the other faults of its kind under way, oldest first. None where the
    /// node is theirs to heal.
    async fn heal(&self, on: &On<'_>, left: &[ScheduledFault]) -> Option<Answer<Report>>;
}
