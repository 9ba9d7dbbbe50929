//! What a fault means on one node: which verbs apply it, which take it away, and when it has shown what it did.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::{Ended, On, Report, Span};
use crate::{
    links::Side,
    resolve::{NoTarget, View, resolve},
    target::Target,
    verbs::{Answer, NotDone, Verbs},
};

/// Whom a fault hits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    /// The nodes.
    pub targets: Vec<String>,
    /// Of a fault of the network: by node, the others to which its links are hit.
    pub links: BTreeMap<String, Vec<String>>,
}

impl Aim {
    /// At links, on one of their sides.
    pub fn at_links(sides: Vec<Side>) -> Aim {
        Aim {
            targets: sides.iter().map(|(node, _)| node.clone()).collect(),
            links: sides.into_iter().collect(),
        }
    }
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

/// What a fault does to a node while it lasts.
#[async_trait(?Send)]
pub trait Lasting: Sync {
    /// Until the span's end, or until a verb is not done. What it shows is told beside what start and heal do. It leaves
    /// the node as the heal may find it: the heal comes next, in whatever state this ended.
    async fn last(&self, on: &On<'_>, span: &Span<'_>) -> Answer<Report>;
}

/// A fault, in verbs.
///
/// A heal is given again until it is done, and only on the nodes where it was not.
#[async_trait(?Send)]
pub trait Policy: Sync {
    /// When its evidence is final.
    fn shows(&self) -> Shows;

    /// Fails, with the reason, where the nodes' machine cannot do what it takes. Asked before the run.
    async fn is_possible(&self, _verbs: &dyn Verbs) -> Result<(), NotDone> {
        Ok(())
    }

    /// Whom it hits now; `seed` decides what is left to chance.
    fn aim(&self, target: &Target, view: &View, seed: u64) -> Result<Aim, NoTarget> {
        Ok(Aim { targets: resolve(target, view, seed)?, ..Aim::default() })
    }

    /// Applies it to one node.
    async fn apply(&self, on: &On<'_>) -> Answer<Report>;

    /// What it does while it lasts, where applying it was not all.
    fn lasting(&self) -> Option<&dyn Lasting> {
        None
    }

    /// Takes it off one node, unless that is left to another fault.
    async fn heal(&self, on: &On<'_>) -> Ended<Report>;
}
