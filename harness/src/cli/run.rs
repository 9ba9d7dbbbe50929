//! `fencepost run`

use std::rc::Rc;

use history::exit::ExitCode;

use super::{
    args::RunArgs,
    conclude::{Ended, Losses, finish},
    interrupt, junit, output, runtime, simulate,
};
use crate::{
    engine::Engine,
    error::Result,
    experiment::{Experiment, Flags, On},
    recorder::Recorder,
    run::{Progress, Run, Silent, Stop, progress::Shown},
    store::RunFolder,
    world::{
        World,
        docker::{DockerWorld, binary::NodeBinary, clean},
    },
};

/// Runs the experiment and returns the exit code that its verdict asks for.
pub fn main(args: RunArgs) -> Result<ExitCode> {
    let experiment = Experiment::resolve(&args.what, &args.flags).inspect_err(|error| {
        // It has no name yet but what was asked for.
        args.results.junit.iter().for_each(|path| junit::failed(path, &args.what, error));
    })?;
    output::note_renamed(&experiment);
    let Some(path) = args.results.junit.clone() else { return in_its_world(args, experiment) };
    let name = experiment.name.clone();
    junit::begin(&path, &name)?;
    in_its_world(args, experiment).inspect_err(|error| junit::failed(&path, &name, error))
}

fn in_its_world(args: RunArgs, experiment: Experiment) -> Result<ExitCode> {
    // The simulation runs outside of the asynchronous runtime, on this thread alone.
    match experiment.on {
        On::Sim => simulate::main(&args, experiment),
        // An engine that is meant and cannot be used is an error: the simulation would hide it.
        On::Auto if runtime::block_on(Engine::if_any())?.is_none() => {
            let flags = Flags { on: Some(On::Sim), ..args.flags.clone() };
            let code = simulate::main(&args, Experiment::resolve(&args.what, &flags)?)?;
            tell!("{}", output::NO_ENGINE);
            Ok(code)
        }
        On::Auto | On::Docker => runtime::block_on(run(args, experiment)).map(|ran| ran.code),
    }
}

/// A run on real servers that came to its end, one way or another.
pub(super) struct Ran {
    /// The exit code that its verdict asks for, or its failure.
    pub code: ExitCode,
    /// Its files.
    pub folder: RunFolder,
}

/// Runs the experiment on real servers.
pub(super) async fn run(args: RunArgs, experiment: Experiment) -> Result<Ran> {
    let binary = NodeBinary::look()?;
    let engine = Engine::connect().await?;
    binary.map_or(Ok(()), |binary| binary.runs_on(&engine.facts.architecture))?;
    // Tidying is a courtesy: what cannot be removed now is told by `doctor` and removed by `clean`.
    let _ = engine.attended(clean::remove_abandoned(&engine)).await?;
    let folder = RunFolder::create(&args.store.path, &experiment.name, &experiment.to_toml()?)?;
    let experiment = Rc::new(experiment);
    let progress: Rc<dyn Progress> = if args.results.json { Rc::new(Silent) } else { Rc::new(Shown::new()) };
    if !args.results.json {
        output::announce(&experiment, &engine);
    }
    let recorder = Rc::new(Recorder::create(folder.path())?);
    let world = Rc::new(DockerWorld::new(engine, &folder.run_name())?);
    let stop = Stop::default();
    listen_for_interrupts(stop.clone(), recorder.clone());
    let run = Run::new(world.clone(), experiment.clone(), recorder.clone(), stop, progress.clone());
    let mut outcome = run.go().await;
    drop(progress);

    let begun = std::time::Instant::now();
    let mut losses = Losses::default();
    for (node, log) in world.logs() {
        losses.note(folder.write(&format!("nodes/{node}/process.log"), log));
    }
    outcome.phases_ms.insert("collect".into(), begun.elapsed().as_secs_f64() * 1000.0);
    let facts = world.facts();
    let ended =
        Ended { folder: folder.clone(), experiment, recorder, outcome, facts, world: "docker", losses };
    let code = finish(&args.what, &args.results, ended)?;
    Ok(Ran { code, folder })
}

/// The first Ctrl-C (or SIGTERM, SIGHUP) stops in good order, the second forces, the third ends.
fn listen_for_interrupts(stop: Stop, recorder: Rc<Recorder>) {
    interrupt::end_at_the_third();
    tokio::task::spawn_local(interrupt::hear(move || {
        stop.request();
        match stop.is_forced() {
            true => tell!("forced; once more to end at once"),
            false => tell!("stopping: healing, collecting and judging what there is; once more to force"),
        }
        recorder.flush();
    }));
}
