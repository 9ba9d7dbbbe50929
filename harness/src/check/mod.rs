//! Judging a history from a file, of whatever tool.

mod guess;
mod initial;
mod locks;
mod meaning;
pub mod model;
mod outcome;
mod progress;
pub mod quantity;
mod search;
pub mod source;
mod supervise;
mod trial;
pub mod watch;

use history::{Reacquire, verdict::Verdict};
use linear::{explain::Explanation, limits::Limit};
use reports::run::RunData;

pub use initial::parse as initial;
pub use meaning::Meaning;

use crate::error::Result;
use guess::{Guess, Subject};
use model::ModelName;
use outcome::{Outline, article};
use search::{Found, Search};
use supervise::Ended;
use watch::{Budget, Stage, Watch};

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
    /// What it means that a lock is granted to a client which still holds it.
    pub reacquire: Option<Reacquire>,
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
    check_first(request, |_| ())
}

/// As [`check`]. A model's verdict goes to `first` once it is certain, before it is looked into what it rests on and why
/// it is so.
///
/// # Errors
/// As [`check`].
pub fn check_first(request: &Request, mut first: impl FnMut(&Checked)) -> Result<Checked> {
    let own = request.clone();
    let mut certain = None;
    let hear = |checked: Checked| {
        first(&checked);
        certain = Some(checked);
    };
    match supervise::supervise(&request.budget, hear, move |watch, first| judged(&own, watch, first))? {
        Ended::Finished(checked) => Ok(checked),
        Ended::Stopped(limit, stage) => Ok(match certain {
            Some(checked) => outcome::ended_early(checked, limit),
            None => stopped(request, limit, &stage),
        }),
    }
}

fn judged(request: &Request, watch: &Watch, first: &dyn Fn(Checked)) -> Result<Checked> {
    let outline = Outline::new(request);
    let history = match source::load(&request.path, &request.budget, watch)? {
        Ok(loaded) => loaded,
        Err(too_large) => return Ok(outline.linear(unknown(too_large), "history")),
    };
    let outline = outline.read(&history);
    let said = |subject| Guess { subject, doubt: None };
    let guess = match (request.model, request.workload) {
        (Some(model), _) => said(Subject::Model(model)),
        (None, Some(_)) => said(Subject::Locks),
        (None, None) => {
            guess::subject(&history).map_err(|error| error.while_doing(source::name(&request.path)))?
        }
    };
    let model = match guess.subject {
        Subject::Locks => return locks::judge(outline, history, request, watch),
        Subject::Model(model) => model,
    };
    let checked = |found: Found| {
        let mut checked = outline.clone().linear(found.explanation, &found.subject);
        outcome::locate(&mut checked.run.judgement, &history);
        if request.model.is_none() {
            checked.notes.push(format!("judged as {}; --model names another", article(&found.subject)));
        }
        trial::assumed::tell(&mut checked, found.notes);
        checked
    };
    let Request { meaning, budget, .. } = request;
    let first = |found: Found| first(checked(found));
    let search = Search { history: &history, meaning, budget, watch, first: &first };
    let checked = checked(search.run(source::name(&request.path), model, guess.doubt)?);
    // Giving the memory back takes longer than the process has left to live.
    std::mem::forget(history);
    Ok(checked)
}

/// What can be said when a limit was reached outside a search, before there was a verdict.
fn stopped(request: &Request, limit: Limit, stage: &Stage) -> Checked {
    let outline = Outline::new(request);
    let (what, raise) = match limit {
        Limit::Memory => ("the memory limit", "--memory"),
        Limit::Time | Limit::Stopped => ("the time limit", "--timeout"),
    };
    let during = match stage {
        Stage::Reading(_) => "while the history was read".to_string(),
        Stage::Converting(events) => {
            format!("when its {events} events had been read, while operations were made of them")
        }
        Stage::Judging(count) => {
            format!("when it had been read, while {count} operations or events were judged")
        }
        Stage::Explaining { .. } => "after it had been judged".to_string(),
    };
    outline.linear(unknown(format!("Undecided: {what} was reached {during}. Raise {raise}.")), "history")
}

fn unknown(text: String) -> Explanation {
    Explanation::of(Verdict::Unknown, text)
}
