//! `fencepost check`

use std::{path::Path, time::Instant};

use checkers::{convert::NilRead, explain::Explanation, op::FailMeans, verdict::Verdict};
use reports::run::RunData;

use super::{CheckArgs, CheckFormat, FailedArg, NilReadArg, WorkloadArg, output};
use crate::{
    check::{self, Checked, Events, Meaning, Request, source, watch::Budget},
    error::{Error, Result},
    recorder::HISTORY,
    store::RunFolder,
    stored,
};

/// Judges a stored run, or a history, again.
pub fn main(args: &CheckArgs) -> Result<u8> {
    let start = Instant::now();
    let format = if args.json { CheckFormat::Json } else { args.format };
    let checked = match history_of(args)? {
        Subject::Run(folder) => {
            let judged = stored::judge_run(&folder)?;
            Checked { run: judged.run, explanation: None, notes: judged.notes }
        }
        Subject::History(path) => check::check(&request(args, path, format, start)?)?,
    };
    checked.notes.iter().for_each(|note| tell!("note: {note}"));
    output::write_or_print(args.output.as_deref(), &render(&checked, format)?)?;
    Ok(output::exit_code(&checked.run.judgement))
}

enum Subject {
    Run(RunFolder),
    History(String),
}

/// A run is judged as its experiment says, unless a model or a workload is named: then its history is.
fn history_of(args: &CheckArgs) -> Result<Subject> {
    let path = args.what.as_str();
    if path == source::STDIN {
        return Ok(Subject::History(path.to_string()));
    }
    match RunFolder::open(path) {
        Ok(folder) if args.model.is_some() || args.workload.is_some() => {
            Ok(Subject::History(folder.path().join(HISTORY).display().to_string()))
        }
        Ok(folder) => Ok(Subject::Run(folder)),
        Err(error) if Path::new(path).is_dir() => Err(error),
        Err(_) => Ok(Subject::History(path.to_string())),
    }
}

fn request(args: &CheckArgs, path: String, format: CheckFormat, start: Instant) -> Result<Request> {
    if let Some(model) = args.model.filter(|model| args.initial.is_some() && !model.has_initial()) {
        return Err(Error::Usage(format!(
            "--initial says what registers start with; a {model} starts empty"
        )));
    }
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok());
    Ok(Request {
        path,
        model: args.model,
        workload: args.workload.map(|workload| match workload {
            WorkloadArg::Lock => "lock",
            WorkloadArg::Lease => "lease",
            WorkloadArg::Election => "election",
        }),
        meaning: Meaning {
            failed: args.failed_cas.map(|failed| match failed {
                FailedArg::Observation => FailMeans::Refused,
                FailedArg::Dropped => FailMeans::Nothing,
            }),
            nil_read: args.nil_read.map(|read| match read {
                NilReadArg::Value => NilRead::Nil,
                NilReadArg::Nothing => NilRead::Nothing,
            }),
            initial: args.initial.as_deref().map(check::initial),
        },
        budget: Budget {
            time: args.timeout,
            memory_bytes: args.memory,
            jobs: jobs.map_or(1, std::num::NonZeroUsize::get),
            start,
        },
        events: if format == CheckFormat::Html { Events::All } else { Events::Named },
    })
}

fn render(checked: &Checked, format: CheckFormat) -> Result<String> {
    let failed = |error: &dyn std::fmt::Display| Error::Harness(format!("failed to render: {error}"));
    match (format, &checked.explanation) {
        (CheckFormat::Json, _) => {
            reports::json::render(&checked.run.judgement).map_err(|error| failed(&error))
        }
        (CheckFormat::Html, Some(explanation)) => Ok(checkers::explain::html(explanation)),
        (CheckFormat::Html, None) => reports::html::render(&checked.run).map_err(|error| failed(&error)),
        (CheckFormat::Table, Some(explanation)) => Ok(with_words(&checked.run, explanation)),
        (CheckFormat::Table, None) => Ok(output::table(&checked.run)),
    }
}

/// Lines of an explanation that are worth a terminal.
const LINES_MAX: usize = 40;

/// Below the tables, why the history is not linearizable.
fn with_words(run: &RunData, explanation: &Explanation) -> String {
    let mut text = output::table(run).trim_end().to_string();
    if explanation.verdict == Verdict::Invalid {
        text.push_str("\n\nWhy\n");
        for line in explanation.text.lines().take(LINES_MAX) {
            text.push_str(&format!("  {}\n", reports::words::printable(line)));
        }
        let more = explanation.text.lines().count().saturating_sub(LINES_MAX);
        if more > 0 {
            text.push_str(&format!("  and {more} more lines; --format html shows all\n"));
        }
    }
    text
}
