//! One fault's life on its nodes: applied, healed as often as it takes, and what it did. The same in every world, which
//! gives the [`Verbs`]; what a kind means in verbs is its policy, in its file under [`crate::kind`].

mod overlaps;
mod report;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
};

use futures_util::future::join_all;
use serde_json::json;

use self::report::{Outcomes, Sum};
pub use self::{
    overlaps::Overlaps,
    report::{Applied, Healed, Report, reported},
};
use crate::{
    evidence::{Evidence, FaultResult},
    kind::policy::{On, Policy, Shows},
    partition::Cut,
    schedule::ScheduledFault,
    verbs::{Done, Verbs},
};

/// Whom a fault hits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    /// The nodes.
    pub targets: Vec<String>,
    /// For partitions: the rules, at most one for each of these nodes.
    pub cuts: Vec<Cut>,
}

/// A fault that hits its nodes.
pub struct Life {
    fault: ScheduledFault,
    aim: Aim,
    /// Process numbers under which killed clients start again at the heal, by node.
    pub restart_as: BTreeMap<String, u32>,
    began: FaultResult,
    touched: BTreeSet<String>,
    healed: BTreeMap<String, Done<Report>>,
}

impl Life {
    /// Applies a fault to its nodes.
    pub async fn begin(
        fault: ScheduledFault,
        aim: Aim,
        verbs: &dyn Verbs,
        overlaps: &Overlaps,
    ) -> (Life, Applied) {
        let mut life = Life {
            fault,
            aim,
            restart_as: BTreeMap::new(),
            began: FaultResult::Failed,
            touched: BTreeSet::new(),
            healed: BTreeMap::new(),
        };
        let outcomes = on_each(verbs, &life.aim.targets, |node| {
            let on = life.on(verbs, node);
            async move {
                overlaps.add(node, on.fault);
                (node.clone(), on.fault.kind.policy().apply(&on).await)
            }
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

    /// Takes the fault off its nodes. Called again, it does what is left to do, and shows what all calls did.
    pub async fn heal(&mut self, verbs: &dyn Verbs, overlaps: &Overlaps) -> Healed {
        let left: Vec<String> =
            self.aim.targets.iter().filter(|node| !self.healed.contains_key(*node)).cloned().collect();
        let tried = on_each(verbs, &left, |node| {
            let on = self.on(verbs, node);
            async move {
                let others = overlaps.remove(node, on.fault);
                (node.clone(), on.fault.kind.policy().heal(&on, &others).await, others)
            }
        })
        .await;
        let (mut outcomes, mut left_to) = (Outcomes::new(), Evidence::new());
        for (node, outcome, others) in tried {
            match outcome {
                Some(Ok(done)) => drop(self.healed.insert(node, done)),
                Some(not_done) => outcomes.push((node, not_done)),
                None => {
                    let others: Vec<u32> = others.iter().map(|other| other.id).collect();
                    left_to.insert(node, json!({ "left_to": others }));
                }
            }
        }
        let healed = outcomes.is_empty();
        outcomes.extend(self.healed.iter().map(|(node, done)| (node.clone(), Ok(done.clone()))));
        let mut sum = Sum::of(outcomes);
        let result = self.finally(healed, sum.result());
        sum.evidence.extend(left_to);
        if self.policy().shows() != Shows::End {
            // Beside what the start showed, not in its place.
            sum.evidence.values_mut().for_each(|shown| *shown = json!({ "after": shown.take() }));
        }
        Healed { at: sum.at, result, evidence: sum.evidence, healed }
    }

    /// What became of it, when `after` is what the heal alone shows.
    fn finally(&self, healed: bool, after: FaultResult) -> FaultResult {
        match (self.began, self.policy().shows()) {
            (FaultResult::Failed, _) => FaultResult::Failed,
            _ if !healed => FaultResult::Failed,
            (began, Shows::Start) => began,
            (FaultResult::Installed, Shows::Either) => FaultResult::Installed,
            (_, Shows::End | Shows::Either) => after,
        }
    }

    fn policy(&self) -> &'static dyn Policy {
        self.fault.kind.policy()
    }

    fn on<'a>(&'a self, verbs: &'a dyn Verbs, node: &'a str) -> On<'a> {
        On {
            verbs,
            node,
            fault: &self.fault,
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
