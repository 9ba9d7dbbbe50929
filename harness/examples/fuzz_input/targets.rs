//! What reads inputs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use harness::{
    check::{self, Events, Meaning, Request, watch::Budget},
    error::Error,
    experiment::{Experiment, Flags},
    store::RunFolder,
    stored,
};
use reports::{run::RunData, table::Options};

use crate::{
    change::Random,
    guard::{self, Cost, is_showable},
    seeds,
};

/// Reads one input in this folder; says whether it took it, or what was wrong.
pub type Target = fn(&Inputs, &mut Random) -> Case;

/// By name.
pub const ALL: [(&str, Target); 4] =
    [("experiment", experiment), ("flags", flags), ("history", history), ("run", run)];

/// One input, already written where it is to be read.
pub struct Case {
    /// Reads it; `false` where it was refused.
    read: Box<dyn FnOnce() -> Result<bool, String>>,
    /// The command that reads it too.
    args: Vec<String>,
    /// What to keep if it fails.
    files: Vec<PathBuf>,
}

/// Where inputs come from, and where they are written.
pub struct Inputs {
    folder: tempfile::TempDir,
    experiments: Vec<Vec<u8>>,
    histories: Vec<Vec<u8>>,
    /// A run, and what it consists of.
    run: PathBuf,
    files: Vec<(String, Vec<u8>)>,
}

/// Of a run, what is read again.
const FILES: [&str; 6] =
    ["experiment.toml", "run.json", "history.jsonl", "resource.jsonl", "messages.jsonl", "verdict.json"];
/// One of so many inputs goes through the binary too.
const BINARY_EVERY: u64 = 50;

impl Inputs {
    fn new(binary: &Path) -> Inputs {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let run = seeds::run(binary, folder.path());
        let read = |name: &&str| Some((name.to_string(), fs::read(run.join(name)).ok()?));
        let files = FILES.iter().filter_map(read).collect();
        Inputs { experiments: seeds::experiments(), histories: seeds::histories(), files, run, folder }
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).expect("the input is written");
        path
    }
}

/// Changes inputs and has them read, for so long.
pub fn fuzz(target: Target, time: Duration, binary: &Path, random: &mut Random) -> Result<String, String> {
    let inputs = Inputs::new(binary);
    guard::count_panics();
    let (begun, mut count, mut taken, mut ran) = (Instant::now(), 0_u64, 0_u64, 0_u64);
    let mut worst = Cost::default();
    while begun.elapsed() < time {
        let Case { read, args, files } = target(&inputs, random);
        let read = || guard::watched(read);
        let kept = |why: String| keep(&files, &args, &why);
        let (is_taken, cost) = read().map_err(kept)?;
        if count.is_multiple_of(BINARY_EVERY) {
            printed(binary, inputs.folder.path(), &args).map_err(kept)?;
            ran += 1;
        }
        worst = Cost { time: worst.time.max(cost.time), memory: worst.memory.max(cost.memory) };
        count += 1;
        taken += u64::from(is_taken);
    }
    Ok(format!(
        "{count} inputs, {taken} of them taken, {ran} by the binary too; slowest {:?}, at most {} KiB of memory",
        worst.time,
        worst.memory / 1024
    ))
}

fn keep(files: &[PathBuf], args: &[String], why: &str) -> String {
    let folder = Path::new("fuzz-failure");
    let _ = fs::create_dir_all(folder);
    for file in files {
        let _ = fs::copy(file, folder.join(file.file_name().unwrap_or_default()));
    }
    format!("{why}; kept in fuzz-failure: fencepost {}", args.join(" ").escape_debug())
}

/// What the binary prints, and how it ends.
fn printed(binary: &Path, folder: &Path, args: &[String]) -> Result<(), String> {
    let output = Command::new(binary)
        .args(args)
        .current_dir(folder)
        .env("CI", "true")
        .env("DOCKER_HOST", "unix:///nonexistent")
        .output()
        .map_err(|error| format!("the binary did not start: {error}"))?;
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !matches!(output.status.code(), Some(0..=2 | 64 | 65 | 69)) || text.contains("panicked") {
        return Err(format!("it ended with {}: {}", output.status, text.escape_debug()));
    }
    is_showable("the binary", &text)
}

/// A refusal is of the input, and can be shown.
fn refused(error: &Error) -> Result<bool, String> {
    match error {
        Error::Data(why) | Error::Usage(why) => {
            is_showable("the error", &reports::plain::message(why)).map(|()| false)
        }
        other => Err(format!("it is no failure of the input: {other}")),
    }
}

/// What is taken is saved beside a run, and must be read there as the same.
fn resolved(what: &str, flags: &Flags, again: &Path) -> Result<bool, String> {
    let saved = |experiment: Experiment| experiment.to_toml().map_err(|error| error.to_string());
    let experiment = match Experiment::resolve(what, flags) {
        Ok(experiment) => saved(experiment)?,
        Err(error) => return refused(&error),
    };
    fs::write(again, &experiment).map_err(|error| error.to_string())?;
    let read = Experiment::of_run(&again.display().to_string());
    let read = saved(read.map_err(|error| format!("it was saved and cannot be read: {error}"))?)?;
    if read == experiment { Ok(true) } else { Err("it is another one when it was saved and read".into()) }
}

fn experiment(inputs: &Inputs, random: &mut Random) -> Case {
    let seed = random.one_of(&inputs.experiments);
    let path = inputs.write("e.toml", &random.changed(seed));
    let (what, again) = (path.display().to_string(), inputs.folder.path().join("again.toml"));
    let args = vec!["run".into(), "--on=docker".into(), what.clone()];
    let flags = Flags { seed: Some(1), ..Flags::default() };
    Case { read: Box::new(move || resolved(&what, &flags, &again)), args, files: vec![path] }
}

fn flags(inputs: &Inputs, random: &mut Random) -> Case {
    let mut changed = |text: &str| {
        let text = String::from_utf8_lossy(&random.changed(text.as_bytes())).replace('\0', "");
        text.chars().take(2000).collect::<String>()
    };
    let what = ["redis/set-nx", "etcd/election", "redis/sentinel"][changed("etcd").len() % 3];
    let given = [
        ("--faults", changed("pause:holder,clock:server,partition:halves,kill:s1")),
        ("--ttl", changed("2s")),
        ("--time", changed("30s")),
        ("--version", changed("7.0")),
        ("--set", changed("persistence=everysec")),
    ];
    let keep = changed("which").len();
    let given =
        given.into_iter().enumerate().filter(|(place, _)| keep & (1 << place) != 0).map(|(_, flag)| flag);
    let mut flags = Flags { seed: Some(1), ..Flags::default() };
    let mut args = vec!["run".into(), what.to_string(), "--on=docker".into()];
    for (name, value) in given {
        args.push(format!("{name}={value}"));
        match name {
            "--faults" => flags.faults = Some(value),
            "--ttl" => flags.ttl = Some(value),
            "--time" => flags.time = Some(value),
            "--version" => flags.version = Some(value),
            _ => flags.settings = vec![value],
        }
    }
    let again = inputs.folder.path().join("again.toml");
    Case { read: Box::new(move || resolved(what, &flags, &again)), args, files: Vec::new() }
}

fn history(inputs: &Inputs, random: &mut Random) -> Case {
    let seed = random.one_of(&inputs.histories);
    let mut input = random.changed(seed);
    if random.below(8) == 0 {
        input.extend(random.changed(random_other(inputs, seed)));
    }
    let path = inputs.write("history", &input);
    let what = path.display().to_string();
    let mut args = vec!["check".into(), what.clone(), "--timeout=3s".into()];
    let workload = (random.below(4) == 0).then_some("lock");
    args.extend(workload.map(|workload| format!("--workload={workload}")));
    let read = move || {
        let budget = Budget { jobs: 2, ..Budget::of(Some(Duration::from_secs(3))) };
        let request = Request {
            path: what,
            model: None,
            workload,
            meaning: Meaning::default(),
            reacquire: None,
            budget,
            events: Events::All,
        };
        match check::check(&request) {
            Ok(checked) => {
                shown(&checked.run, &checked.notes)?;
                let page = checked.explanation.as_ref().map(linear::explain::html);
                page.map_or(Ok(true), |page| {
                    is_plain("the explanation", &reports::plain::document(&page)).map(|()| true)
                })
            }
            Err(error) => refused(&error),
        }
    };
    Case { read: Box::new(read), args, files: vec![path] }
}

/// Another one than this, mostly.
fn random_other<'a>(inputs: &'a Inputs, seed: &[u8]) -> &'a [u8] {
    &inputs.histories[seed.len() % inputs.histories.len()]
}

fn run(inputs: &Inputs, random: &mut Random) -> Case {
    let victim = random.below(inputs.files.len());
    for (place, (name, content)) in inputs.files.iter().enumerate() {
        let path = inputs.run.join(name);
        let content = if place == victim { random.changed(content) } else { content.clone() };
        fs::write(path, content).expect("the run is written");
    }
    let what = inputs.run.display().to_string();
    let args = vec!["report".into(), what.clone()];
    let read = move || match RunFolder::open(&what).and_then(|folder| stored::load(&folder)) {
        Ok(run) => {
            shown(&run.run, &run.notes)?;
            stored::edn(&run.run).map_err(|error| error.to_string())?;
            Ok(true)
        }
        Err(error) => refused(&error),
    };
    let files = inputs.files.iter().map(|(name, _)| inputs.run.join(name)).collect();
    Case { read: Box::new(read), args, files }
}

/// Every form of a report can be made and shown.
fn shown(run: &RunData, notes: &[String]) -> Result<(), String> {
    for note in notes {
        is_showable("a note", &reports::plain::message(note))?;
    }
    for width in [20, 80, 120] {
        is_showable("the table", &reports::table::render(run, Options { width, color: false }))?;
    }
    let failed = |error: &dyn std::fmt::Display| format!("it cannot be rendered: {error}");
    is_plain("Markdown", &reports::markdown::render(run).replace("@\u{200b}", "@"))?;
    is_plain("JUnit", &reports::junit::render(run).map_err(|error| failed(&error))?)?;
    is_plain("JSON", &reports::json::render(&run.judgement).map_err(|error| failed(&error))?)?;
    is_plain("the page", &reports::html::render(run).map_err(|error| failed(&error))?)
}

/// Of a document its lines may be long.
fn is_plain(what: &str, text: &str) -> Result<(), String> {
    match text.chars().find(|c| *c != '\n' && !reports::plain::is_plain(*c)) {
        Some(raw) => Err(format!("{what} shows {raw:?} as it is")),
        None => Ok(()),
    }
}
