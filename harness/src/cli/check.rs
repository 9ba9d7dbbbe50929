//! `fencepost check`

use std::{path::Path, time::Instant};

use history::{exit::ExitCode, verdict::Verdict};
use linear::explain::Explanation;
use reports::run::RunData;
use workloads::workload::Workload;

use super::{
    args::{CheckArgs, CheckFormat},
    interrupt, output,
};
use crate::{
    check::{
        self, Checked, Events, Meaning, Request, source,
        watch::{Budget, Explaining},
    },
    error::{Error, Result},
    memory,
    store::{HISTORY, RunFolder},
    stored,
};

/// Judges a stored run, or a history, again.
pub fn main(args: &CheckArgs) -> Result<ExitCode> {
    let start = Instant::now();
    let format = if args.json { CheckFormat::Json } else { args.format };
    let checked = match history_of(args)? {
        Subject::Run(folder) => {
            let judged = stored::judge_run(&folder)?;
            Checked { run: judged.run, explanation: None, notes: judged.notes }
        }
        Subject::History(path) => {
            let request = request(args, path, format, start)?;
            let mut told = Told {
                prints: format == CheckFormat::Table && args.output.is_none(),
                is_there: false,
                notes: Vec::new(),
            };
            let checked = check::check_first(&request, |first| told.verdict(first, &request))?;
            if told.is_there && told.prints {
                let fresh = |note: &&String| !told.notes.contains(note);
                checked.notes.iter().filter(fresh).for_each(|note| tell!("note: {note}"));
                if checked.run.judgement.verdict == Verdict::Invalid {
                    output::print(&words(&checked.run, checked.explanation.as_ref()));
                }
                return Ok(ExitCode::of(&checked.run.judgement));
            }
            checked
        }
    };
    checked.notes.iter().for_each(|note| tell!("note: {note}"));
    output::write_or_print(args.output.as_deref(), &render(&checked, format)?)?;
    Ok(ExitCode::of(&checked.run.judgement))
}

/// Whether the verdict was told before all else, and whether that prints it.
struct Told {
    prints: bool,
    is_there: bool,
    /// Those that came with it; what the verdict rests on is looked into afterwards.
    notes: Vec<String>,
}

impl Told {
    /// The verdict is certain: tells it, and from now on lets what comes be cut short.
    fn verdict(&mut self, first: &Checked, request: &Request) {
        if std::mem::replace(&mut self.is_there, true) {
            return;
        }
        interrupt::cut_short(request.budget.explaining.stop.clone());
        if self.prints {
            first.notes.iter().for_each(|note| tell!("note: {note}"));
            self.notes.clone_from(&first.notes);
            output::print(output::table_without_help(&first.run).trim_end());
        }
    }
}

enum Subject {
    Run(RunFolder),
    History(String),
}

/// A run is judged as its experiment and its recipe say, unless a model or a workload is named: then its history is. A file
/// is what is judged, wherever it lies.
fn history_of(args: &CheckArgs) -> Result<Subject> {
    let path = args.what.as_str();
    if path == source::STDIN || Path::new(path).is_file() {
        return Ok(Subject::History(path.to_string()));
    }
    match RunFolder::open(path) {
        Ok(_) if args.reacquire.is_some() && args.model.is_none() && args.workload.is_none() => {
            Err(Error::Usage("--reacquire is for histories; what it means in a run, its recipe says".into()))
        }
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
    if args.model.is_some() && args.reacquire.is_some() {
        return Err(Error::Usage(
            "--reacquire is for the checks of locks; models of reentrant locks are named with --model".into(),
        ));
    }
    let jobs = args.jobs.or_else(|| std::thread::available_parallelism().ok());
    Ok(Request {
        path,
        model: args.model,
        workload: args.workload.map(Workload::name),
        meaning: Meaning {
            failed: args.failed_cas.map(Into::into),
            nil_read: args.nil_read.map(Into::into),
            initial: args.initial.as_deref().map(check::initial),
            lock_value: args.lock_value.map(Into::into),
        },
        reacquire: args.reacquire.map(Into::into),
        budget: Budget {
            time: args.timeout,
            memory_bytes: args.memory.or_else(memory::half_of_free),
            explaining: Explaining {
                time: args.explain,
                may_take_all_memory: args.memory.is_some(),
                ..Explaining::default()
            },
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
        (CheckFormat::Html, Some(explanation)) => {
            Ok(reports::plain::document(&linear::explain::html(explanation)).into_owned())
        }
        (CheckFormat::Html, None) => reports::html::render(&checked.run).map_err(|error| failed(&error)),
        (CheckFormat::Table, explanation @ Some(_)) => {
            let table = output::table_without_help(&checked.run);
            Ok(format!("{}\n{}", table.trim_end(), words(&checked.run, explanation.as_ref())))
        }
        (CheckFormat::Table, None) => Ok(output::table(&checked.run)),
    }
}

/// Lines of an explanation that are worth a terminal.
const LINES_MAX: usize = 40;

/// Below the tables, why the history is not linearizable.
fn words(run: &RunData, explanation: Option<&Explanation>) -> String {
    let Some(explanation) = explanation.filter(|explanation| explanation.verdict == Verdict::Invalid) else {
        return String::new();
    };
    let mut text = "\nWhy\n".to_string();
    for line in explanation.text.lines().take(LINES_MAX) {
        text.push_str(&format!("  {}\n", reports::plain::line(line)));
    }
    let more = explanation.text.lines().count().saturating_sub(LINES_MAX);
    if more > 0 {
        text.push_str(&format!("  and {more} more lines; --format html shows all\n"));
    }
    text.push('\n');
    text.push_str(&output::help(run));
    text
}
