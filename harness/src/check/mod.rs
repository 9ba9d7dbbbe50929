//! Judging a history from a file, of whatever tool.

mod guess;
mod initial;
mod linear;
mod locks;
pub mod model;
mod outcome;
mod progress;
pub mod quantity;
pub mod source;
pub mod watch;

use checkers::{explain::Explanation, limits::Limit, verdict::Verdict};
use reports::run::RunData;

pub use initial::parse as initial;
pub use linear::Meaning;

use crate::error::Result;
use guess::Subject;
use linear::Search;
use model::ModelName;
use outcome::Outline;
use watch::{Budget, Ended, Stage, Watch};

/// What is to be judged, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// A history's path, or `-`.
    pub path: String,
    /// Against which model; else told from its operations.
    pub model: Option<ModelName>,
    /// By the checks of which workload.
    pub workload: Option<&'static str>,
    /// What its operations mean.
    pub meaning: Meaning,
    /// What it may cost.
    pub budget: Budget,
    /// Which events a report will show.
    pub events: Events,
}

/// Which events come with the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Events {
    /// All: enough to draw the history, and several hundred bytes each.
    All,
    /// Those that the violations name.
    Named,
}

/// A history that was judged.
pub struct Checked {
    /// What reports are made of.
    pub run: RunData,
    /// Why it is or is not linearizable; `None` where the checks of a run judged it.
    pub explanation: Option<Explanation>,
    /// What a reader should know about the file, and about what was assumed.
    pub notes: Vec<String>,
}

/// Judges a history within its budget.
///
/// # Errors
/// A history that cannot be read, or has operations that fit no model or not the one named.
pub fn check(request: &Request) -> Result<Checked> {
    let own = request.clone();
    match watch::supervise(&request.budget, move |watch| judged(&own, watch))? {
        Ended::Finished(checked) => Ok(checked),
        Ended::Stopped(limit, stage) => Ok(stopped(request, limit, &stage)),
    }
}

fn judged(request: &Request, watch: &Watch) -> Result<Checked> {
    let outline = Outline::new(request);
    let (format, history) = match source::load(&request.path, &request.budget, watch)? {
        Ok(loaded) => loaded,
        Err(too_large) => return Ok(outline.linear(unknown(too_large), "history")),
    };
    let outline = outline.read(&history);
    let subject = match (request.model, request.workload) {
        (Some(model), _) => Subject::Model(model),
        (None, Some(_)) => Subject::Locks,
        (None, None) => {
            guess::subject(&history).map_err(|error| error.while_doing(source::name(&request.path)))?
        }
    };
    let checked = match subject {
        Subject::Locks => locks::judge(outline, history, request, watch)?,
        Subject::Model(model) => {
            let Request { meaning, budget, .. } = request;
            let search = Search { history: &history, format, meaning, budget, watch };
            let found = search.run(source::name(&request.path), model)?;
            let mut checked = outline.linear(found.explanation, &found.subject);
            outcome::locate(&mut checked.run.judgement, &history);
            if request.model.is_none() {
                checked.notes.push(format!("judged as a {}; --model names another", found.subject));
            }
            // Giving the memory back takes longer than the process has left to live.
            std::mem::forget(history);
            checked
        }
    };
    Ok(checked)
}

/// What can be said when a limit was reached outside a search.
fn stopped(request: &Request, limit: Limit, stage: &Stage) -> Checked {
    let outline = Outline::new(request);
    let (what, raise) = match limit {
        Limit::Memory => ("memory", "--memory"),
        _ => ("time", "--timeout"),
    };
    let during = match stage {
        Stage::Reading(_) => "while the history was read".to_string(),
        Stage::Converting(events) => {
            format!("when its {events} events had been read, while operations were made of them")
        }
        Stage::Judging(count) => {
            format!("when it had been read, while {count} operations or events were judged")
        }
        Stage::Explaining(subject, text) => {
            let text =
                format!("{text}. The {what} limit was reached before more could be told; raise {raise}.");
            return outline.linear(Explanation { verdict: Verdict::Invalid, ..unknown(text) }, subject);
        }
    };
    outline.linear(
        unknown(format!("Undecided: the {what} limit was reached {during}. Raise {raise}.")),
        "history",
    )
}

/// An explanation of nothing but words.
fn unknown(text: String) -> Explanation {
    Explanation {
        verdict: Verdict::Unknown,
        text,
        op: None,
        states: Vec::new(),
        longest: Vec::new(),
        operations: Vec::new(),
        attempts: Vec::new(),
    }
}
