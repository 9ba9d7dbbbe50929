//! One model's answer, and why.

use history::{History, verdict::Verdict};
use linear::{
    engine::Answer,
    explain::{Explanation, explain, outline},
    limits::{Limit, Limits},
    model::{Model, OpOf},
};

use super::{
    meaning::Meaning,
    watch::{Budget, Stage, Watch},
};

/// What came of one model.
#[derive(Clone)]
pub struct Found {
    /// Why, with the operations as positions in the history in which the model sees them.
    pub explanation: Explanation,
    /// What the history was judged as, in words: `cas-register that starts with 0`.
    pub subject: String,
    /// What was assumed, and whether the verdict hangs on it.
    pub notes: Vec<String>,
}

impl Found {
    /// Nothing certain, for this reason.
    pub fn unknown(subject: impl ToString, text: String) -> Found {
        Found { explanation: super::unknown(text), subject: subject.to_string(), notes: Vec::new() }
    }
}

/// All that a search needs beside a model and its operations.
pub struct Search<'c> {
    /// The events.
    pub history: &'c History,
    /// What they mean.
    pub meaning: &'c Meaning,
    /// What it may cost.
    pub budget: &'c Budget,
    /// Who waits.
    pub watch: &'c Watch,
    /// Hears of a verdict that is certain, before it is looked into what it rests on and why it is so.
    pub first: &'c dyn Fn(Found),
}

impl Search<'_> {
    /// Puts an answer into words that was found since [`Stage::Judging`] was entered; `assumed` adds what it rests on. The
    /// verdict is told first; what is invalid is explained last.
    pub fn explained<M: Model>(
        &self,
        model: &M,
        ops: &[OpOf<M>],
        answer: &Answer,
        subject: String,
        assumed: impl FnOnce(&Found) -> Vec<String>,
    ) -> Found {
        let mut found = Found { explanation: outline(model, ops, answer), subject, notes: Vec::new() };
        let verdict = answer.verdict();
        if self.budget.time.is_none()
            && matches!(answer, Answer::Unknown(shortfall) if shortfall.limit == Limit::Time)
        {
            found.notes.push("without --timeout, a search takes at most a minute, or a millisecond an event if there are many".into());
        }
        let limits = self.budget.to_explain(self.watch.lasted());
        (self.first)(found.clone());
        self.watch.enter(Stage::Explaining { verdict, limits: limits.clone() });
        let assumed = assumed(&found);
        found.notes.extend(assumed);
        if verdict == Verdict::Invalid {
            let time = self.watch.left_to_explain();
            found.explanation = explain(model, ops, answer, &Limits { time, ..limits });
        }
        found
    }
}
