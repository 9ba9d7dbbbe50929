//! What `fencepost check` says of a text.

use std::{fs, path::Path};

use harness::check::{self, Checked, Events, Request, watch::Budget};
use linear::{convert::NilRead, op::FailMeans};

use super::{
    expected::{Meaning, Verdict},
    history::Value,
    objects::Object,
};

/// An answer, or a refusal.
pub struct Said {
    /// `None` if the history was refused.
    pub verdict: Option<Verdict>,
    /// The reason, or why it was refused.
    pub reason: String,
    /// What was assumed.
    pub notes: Vec<String>,
    /// The verdict of the explanation.
    pub explained: Option<Verdict>,
    /// The invocations of the smallest part that is still wrong, as positions among all events.
    pub part: Vec<usize>,
}

/// Judges as the command does, by way of a file.
pub fn judge(text: &str, file: &Path, model: Option<Object>, meaning: &Meaning) -> Said {
    fs::write(file, text).expect("a scratch file is written");
    let request = Request {
        path: file.display().to_string(),
        model: model.map(|object| object.name().parse().expect("a model's name")),
        workload: None,
        meaning: options(meaning),
        reacquire: None,
        budget: Budget::of(None),
        events: Events::Named,
    };
    match check::check(&request) {
        Ok(checked) => said(&checked),
        Err(error) => {
            let reason = error.to_string();
            Said { verdict: None, reason, notes: Vec::new(), explained: None, part: Vec::new() }
        }
    }
}

/// What the command line says of it.
fn options(meaning: &Meaning) -> check::Meaning {
    let initial = meaning.initial.as_ref().map(|value| match value {
        Value::Int(number) => number.to_string(),
        Value::Text(text) => format!("\"{text}\""),
        _ => "nil".into(),
    });
    check::Meaning {
        failed: meaning.refused.then_some(FailMeans::Refused),
        initial: initial.map(|text| check::initial(&text)),
        nil_read: meaning.nil_is_value.then_some(NilRead::Nil),
        ..check::Meaning::default()
    }
}

fn said(checked: &Checked) -> Said {
    let judgement = &checked.run.judgement;
    let reasons = judgement.checks.values().filter_map(|check| check.reason.clone());
    Said {
        verdict: Some(plain(judgement.verdict)),
        reason: reasons.collect::<Vec<_>>().join("; "),
        notes: checked.notes.clone(),
        explained: checked.explanation.as_ref().map(|explanation| plain(explanation.verdict)),
        part: checked
            .explanation
            .iter()
            .flat_map(|explanation| &explanation.operations)
            .map(|operation| operation.call as usize)
            .collect(),
    }
}

fn plain(verdict: history::verdict::Verdict) -> Verdict {
    match verdict {
        history::verdict::Verdict::Valid => Verdict::Valid,
        history::verdict::Verdict::Invalid => Verdict::Invalid,
        history::verdict::Verdict::Unknown => Verdict::Unknown,
    }
}
