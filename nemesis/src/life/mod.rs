//! One fault's life on its nodes: applied, healed as often as it takes, and what it did. The same in every world, which
//! gives the [`Verbs`], and for every kind of fault, which gives the [`Policy`].

mod on;
mod overlaps;
mod policy;
mod report;
mod span;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::json;

use self::report::{Outcomes, Sum};
pub use self::{
    on::{Ended, On},
    overlaps::Overlaps,
    policy::{Aim, Lasting, Policy, Shows},
    report::{Applied, Healed, Report, reported},
    span::{Pace, Span},
};
use crate::{
    evidence::{Evidence, FaultResult},
    verbs::{Done, Verbs},
};

/// A fault that hits its nodes.
pub struct Life<'f> {
    id: u32,
    policy: &'f dyn Policy,
    aim: Aim,
    /// Process numbers under which killed clients start again at the heal, by node.
    pub restart_as: BTreeMap<String, u32>,
    began: FaultResult,
    touched: BTreeSet<String>,
    /// What came of it while it lasted.
    lasted: Sum,
    healed: BTreeMap<String, Done<Report>>,
}

impl<'f> Life<'f> {
    /// Applies a fault, known by its number, to its nodes.
    pub async fn begin(
        id: u32,
        policy: &'f dyn Policy,
        aim: Aim,
        verbs: &dyn Verbs,
        overlaps: &Overlaps,
    ) -> (Life<'f>, Applied) {
        let mut life = Life {
            id,
            policy,
            aim,
            restart_as: BTreeMap::new(),
            began: FaultResult::Failed,
            touched: BTreeSet::new(),
            lasted: Sum::default(),
            healed: BTreeMap::new(),
        };
        let outcomes = on_each(verbs, &life.aim.targets, |node| {
            let on = life.on(verbs, overlaps, node);
            async move { (node.clone(), policy.apply(&on).await) }
        });
        let sum = Sum::of(outcomes.await);
        let result = sum.result();
        life.began = result;
        life.touched = sum.touched;
        (life, Applied { at: sum.at, result, evidence: sum.evidence, ended: sum.ended })
    }

    /// The nodes that it hits.
    pub fn targets(&self) -> &[String] {
        &self.aim.targets
    }

    /// Lets the fault last so long, or until its world waits for nothing any more.
    pub async fn last(&mut self, verbs: &dyn Verbs, overlaps: &Overlaps, pace: &dyn Pace, length: Duration) {
        let span = Span::begin(pace, length);
        if let Some(lasting) = self.policy.lasting() {
            let on_each = self.aim.targets.iter().map(|node| {
                let (on, span) = (self.on(verbs, overlaps, node), &span);
                async move { (node.clone(), lasting.last(&on, span).await) }
            });
            let outcomes = join_all(on_each).await;
            self.lasted = Sum::of(outcomes);
        }
        span.rest().await;
    }

    /// Takes the fault off its nodes. Called again, it does what is left to do, and shows what all calls did.
    pub async fn heal(&mut self, verbs: &dyn Verbs, overlaps: &Overlaps) -> Healed {
        let left: Vec<String> =
            self.aim.targets.iter().filter(|node| !self.healed.contains_key(*node)).cloned().collect();
        let policy = self.policy;
        let tried = on_each(verbs, &left, |node| {
            let on = self.on(verbs, overlaps, node);
            async move { (node.clone(), policy.heal(&on).await) }
        })
        .await;
        let (mut outcomes, mut left_to) = (Outcomes::new(), Evidence::new());
        for (node, ended) in tried {
            match ended {
                Ended::By(Ok(done)) => drop(self.healed.insert(node, done)),
                Ended::By(not_done) => outcomes.push((node, not_done)),
                Ended::LeftTo(others) => drop(left_to.insert(node, json!({ "left_to": others }))),
            }
        }
        let healed = outcomes.is_empty();
        outcomes.extend(self.healed.iter().map(|(node, done)| (node.clone(), Ok(done.clone()))));
        let mut sum = Sum::of(outcomes);
        let result = self.finally(healed, sum.result());
        sum.evidence.extend(left_to);
        if self.policy.shows() != Shows::End {
            // Beside what the start showed, not in its place.
            sum.evidence.values_mut().for_each(|shown| *shown = json!({ "after": shown.take() }));
        }
        self.lasted.add_to(&mut sum.evidence);
        Healed { at: sum.at, result, evidence: sum.evidence, healed }
    }

    /// What became of it, when `after` is what the heal alone shows.
    fn finally(&self, healed: bool, after: FaultResult) -> FaultResult {
        match (self.began, self.policy.shows()) {
            (FaultResult::Failed, _) => FaultResult::Failed,
            _ if !healed => FaultResult::Failed,
            // Where it did nothing while it lasted, that touched nobody.
            _ if self.lasted.result() != FaultResult::NoEffect => self.lasted.result(),
            (began, Shows::Start) => began,
            (FaultResult::Installed, Shows::Either) => FaultResult::Installed,
            (_, Shows::End | Shows::Either) => after,
        }
    }

    fn on<'a>(&'a self, verbs: &'a dyn Verbs, overlaps: &'a Overlaps, node: &'a str) -> On<'a> {
        On {
            verbs,
            overlaps,
            node,
            fault: self.id,
            aim: &self.aim,
            restart_as: self.restart_as.get(node).copied(),
            is_touched: self.touched.contains(node),
        }
    }
}

/// Does something on each node, in turn or side by side as the world has it; the outcomes in the nodes' order.
async fn on_each<'a, T, F: Future<Output = T>>(
    verbs: &dyn Verbs,
    nodes: &'a [String],
    act: impl Fn(&'a String) -> F,
) -> Vec<T> {
    if !verbs.in_turn() {
        return join_all(nodes.iter().map(act)).await;
    }
    let mut outcomes = Vec::new();
    for node in nodes {
        outcomes.push(act(node).await);
    }
    outcomes
}
