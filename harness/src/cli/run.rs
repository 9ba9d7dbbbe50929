//! `fencepost run`

use std::rc::Rc;

use reports::run::RunData;
use serde_json::{Value, json};
use workloads::workload::Workload;

use super::{RunArgs, WorkloadArg, interrupt, output, runtime, simulate};
use crate::{
    error::{Error, Result, exit},
    experiment::{Experiment, Flags, On},
    recorder::Recorder,
    run::{Judged, Outcome, Progress, Run, Silent, Stop, judge, progress::Shown},
    store::RunFolder,
    stored,
    world::{
        World,
        docker::{DockerWorld, Engine, clean},
    },
};

/// Runs the experiment and returns the exit code that its verdict asks for.
pub fn main(args: RunArgs) -> Result<u8> {
    let experiment = Experiment::resolve(&args.what, &flags(&args))?;
    if let Some(path) = &args.junit {
        can_be_written(path)?;
    }
    // The simulation runs outside of the asynchronous runtime, on this thread alone.
    match experiment.on {
        On::Sim => simulate::main(&args, experiment),
        On::Auto if runtime::block_on(Engine::connect()).is_err() => {
            let code = simulate::main(&args, experiment)?;
            tell!("{}", output::NO_ENGINE);
            Ok(code)
        }
        On::Auto | On::Docker => runtime::block_on(run(args, experiment)).map(|ran| ran.code),
    }
}

/// A run on real servers that came to its end, one way or another.
pub(super) struct Ran {
    /// The exit code that its verdict asks for, or its failure.
    pub code: u8,
    /// Its files.
    pub folder: RunFolder,
}

pub(super) fn flags(args: &RunArgs) -> Flags {
    Flags {
        on: args.on,
        faults: args.faults.clone(),
        nodes: args.nodes,
        clients: args.clients,
        ttl: args.ttl.clone(),
        time: args.time.clone(),
        rate: args.rate,
        seed: args.seed,
        version: args.version.clone(),
        image: args.image.clone(),
        workload: args.workload.map(|workload| match workload {
            WorkloadArg::Lock => Workload::Lock,
            WorkloadArg::Lease => Workload::Lease,
            WorkloadArg::Election => Workload::Election,
        }),
        settings: args.settings.clone(),
        expect: args.expect,
    }
}

/// Runs the experiment on real servers.
pub(super) async fn run(args: RunArgs, experiment: Experiment) -> Result<Ran> {
    let engine = Engine::connect().await?;
    // Tidying is a courtesy: what cannot be removed now is told by `doctor` and removed by `clean`.
    let _ = clean::remove_abandoned(&engine).await;
    let folder = RunFolder::create(&args.store, &experiment.name)?;
    let experiment = Rc::new(experiment);
    let progress: Rc<dyn Progress> = if args.json { Rc::new(Silent) } else { Rc::new(Shown::new()) };
    if !args.json {
        output::announce(&experiment, &engine);
    }
    folder.write("experiment.toml", experiment.to_toml()?)?;
    let recorder = Rc::new(Recorder::create(folder.path())?);
    let world = Rc::new(DockerWorld::new(engine, &folder.run_name())?);
    let stop = Stop::default();
    listen_for_interrupts(stop.clone());
    let run = Run::new(world.clone(), experiment.clone(), recorder, stop, progress.clone());
    let mut outcome = run.go().await;
    drop(progress);

    let begun = std::time::Instant::now();
    for (node, log) in world.logs() {
        folder.write(&format!("nodes/{node}/process.log"), log)?;
    }
    outcome.phases_ms.insert("collect".into(), begun.elapsed().as_secs_f64() * 1000.0);
    let facts = world.facts();
    folder.write("run.json", run_json(&args, &experiment, &folder, &outcome, &facts, "docker")?)?;
    let begun = std::time::Instant::now();
    let version = stored::version(&json!(facts));
    let judged = judge(folder.path(), &experiment, &outcome, "docker", version)?;
    outcome.phases_ms.insert("check".into(), begun.elapsed().as_secs_f64() * 1000.0);
    let code = finish(&args, &experiment, &folder, judged, outcome, &facts)?;
    Ok(Ran { code, folder })
}

/// Writes the reports, prints the result, and chooses the exit code.
pub(super) fn finish(
    args: &RunArgs,
    experiment: &Experiment,
    folder: &RunFolder,
    judged: Judged,
    outcome: Outcome,
    facts: &serde_json::Map<String, Value>,
) -> Result<u8> {
    judged.notes.iter().for_each(|note| tell!("note: {note}"));
    let mut run = output::run_data(
        experiment,
        folder,
        judged,
        &outcome.nodes,
        facts,
        &output::repeat(experiment, folder),
    );
    run.judgement.phases_ms = outcome.phases_ms.clone();
    let begun = std::time::Instant::now();
    output::write_reports(folder, &run)?;
    run.judgement.phases_ms.insert("report".into(), begun.elapsed().as_secs_f64() * 1000.0);
    let verdict = reports::json::render(&run.judgement).map_err(|error| Error::Harness(error.to_string()))?;
    folder.write("verdict.json", &verdict)?;
    if let Some(path) = &args.junit {
        write_junit(path, &run)?;
    }
    if args.json {
        output::print(&verdict);
    } else if !outcome.nodes.clients.is_empty() {
        // Before there are clients there is nothing to show but what went wrong.
        output::print(&output::table(&run));
    }
    if let Some(failure) = &outcome.failure {
        tell!("error: {}", failure.of_a_run());
        return Ok(failure.exit_code());
    }
    Ok(if outcome.interrupted { exit::INTERRUPTED } else { output::exit_code(&run.judgement) })
}

fn write_junit(path: &std::path::Path, run: &RunData) -> Result<()> {
    let xml = reports::junit::render(run).map_err(|error| Error::Harness(error.to_string()))?;
    std::fs::write(path, xml)
        .map_err(|error| Error::Harness(format!("failed to write {}: {error}", path.display())))
}

/// Found out before the run, not after it; leaves nothing behind.
fn can_be_written(path: &std::path::Path) -> Result<()> {
    let is_new = !path.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let closed = opened.and_then(|_| if is_new { std::fs::remove_file(path) } else { Ok(()) });
    closed.map_err(|error| Error::Usage(format!("--junit: {} cannot be written: {error}", path.display())))
}

pub(super) fn run_json(
    args: &RunArgs,
    experiment: &Experiment,
    folder: &RunFolder,
    outcome: &Outcome,
    facts: &serde_json::Map<String, Value>,
    world: &str,
) -> Result<String> {
    let json = json!({
        "format": 1,
        "fencepost": env!("CARGO_PKG_VERSION"),
        "world": world,
        "asked": args.what,
        "repeat": output::repeat(experiment, folder),
        "experiment": experiment.name,
        "recipe": experiment.recipe.name,
        "system": experiment.system().name,
        "seed": experiment.seed,
        "experiment_sha256": sha256(&folder.read("experiment.toml")?),
        "ended": jiff::Timestamp::now().to_string(),
        "nodes": outcome.nodes,
        "schedule": experiment.schedule,
        "scheduled": experiment.scheduled,
        "stopped": outcome.stopped(),
        "phases_ms": outcome.phases_ms,
        "facts": facts,
    });
    serde_json::to_string_pretty(&json).map_err(|error| Error::Harness(error.to_string()))
}

/// In hexadecimal.
pub(super) fn sha256(text: &str) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first Ctrl-C (or SIGTERM) stops in good order, the second forces.
fn listen_for_interrupts(stop: Stop) {
    tokio::task::spawn_local(interrupt::hear(move || {
        stop.request();
        match stop.is_forced() {
            true => tell!("forced"),
            false => tell!("stopping: healing, collecting and judging what there is; once more to force"),
        }
    }));
}
