//! What commands print and write.

use std::{
    io::{self, Write},
    path::Path,
    sync::OnceLock,
};

use reports::{run::RunData, table};

use crate::{
    engine::Engine,
    error::{Error, Result},
    experiment::Experiment,
    store::RunFolder,
    tell,
};

/// The first lines: where, what, with which seed and faults. On stderr.
pub fn announce(experiment: &Experiment, engine: &Engine) {
    tell!(
        "{} on docker (engine {} at {}): {} server(s), {} clients, TTL {:?}, {:?}, seed {}",
        experiment.recipe.name,
        engine.facts.engine,
        engine.meant,
        experiment.nodes,
        experiment.clients,
        experiment.ttl,
        experiment.time,
        experiment.seed
    );
    if !experiment.sim.is_default() {
        tell!("[sim] says nothing about real servers: their network and disks are as they are");
    }
    if experiment.schedule.faults.is_empty() {
        tell!("no faults");
    } else {
        tell!("faults:\n{}", experiment.schedule.to_string().trim_end());
    }
}

/// Says what an older name of the recipe means now.
pub fn note_renamed(experiment: &Experiment) {
    if let Some(renamed) = &experiment.renamed {
        tell!("note: {renamed}");
    }
}

/// The first lines of a simulated run.
pub fn announce_simulated(experiment: &Experiment) {
    tell!(
        "{} simulated (store models in virtual time, no real servers): {} server(s), {} clients, TTL {:?}, {:?}, seed {}",
        experiment.recipe.name,
        experiment.nodes,
        experiment.clients,
        experiment.ttl,
        experiment.time,
        experiment.seed
    );
    if experiment.schedule.faults.is_empty() {
        tell!("no faults");
    } else {
        tell!("faults:\n{}", experiment.schedule.to_string().trim_end());
    }
}

/// Said last of a run that was simulated for want of an engine.
pub const NO_ENGINE: &str = "This run was simulated, because no Docker engine answers. For real servers, install Docker \
                             (Debian: apt-get install docker.io) and start it, or name one (DOCKER_HOST); `fencepost doctor` \
                             tells what else is missing.";

/// `report.html` and `plots/`.
pub fn write_reports(folder: &RunFolder, run: &RunData) -> Result<()> {
    let failed =
        |error: &dyn std::fmt::Display| Error::Harness(format!("failed to draw the report: {error}"));
    let page = reports::html::render(run).map_err(|error| failed(&error))?;
    folder.write("report.html", page)?;
    for (name, svg) in reports::plots::render(run).map_err(|error| failed(&error))? {
        folder.write(&format!("plots/{name}.svg"), svg)?;
    }
    Ok(())
}

/// The tables, as wide as the terminal and coloured if it wants colours.
pub fn table(run: &RunData) -> String {
    table::render(run, options())
}

/// As [`table`], without its last lines.
pub fn table_without_help(run: &RunData) -> String {
    table::without_help(run, options())
}

/// The last lines of [`table`], where there are such.
pub fn help(run: &RunData) -> String {
    table::help(run, options()).unwrap_or_default()
}

fn options() -> table::Options {
    let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0));
    table::Options { width, color: tell::is_colored() }
}

/// Why something could not be printed. Kept aside, so that what was begun is finished first.
static NOT_PRINTED: OnceLock<String> = OnceLock::new();

/// Prints to stdout; a reader that went away is no failure.
pub fn print(text: &str) {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut stdout = std::io::stdout().lock();
    printed(write!(stdout, "{text}{end}").and_then(|()| stdout.flush()));
}

/// Prints words that others may have a part in, such as paths and what an engine says, to stdout.
pub fn say(words: &str) {
    print(&reports::plain::message(words));
}

/// Notes why printing failed, unless the reader went away.
pub fn printed(outcome: io::Result<()>) {
    if let Err(error) = outcome
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = NOT_PRINTED.set(error.to_string());
    }
}

/// Fails if anything could not be printed.
pub fn all_printed() -> Result<()> {
    match NOT_PRINTED.get() {
        None => Ok(()),
        Some(why) => Err(Error::Harness(format!("the output could not be written: {why}"))),
    }
}

/// Writes to a file, or prints.
pub fn write_or_print(path: Option<&Path>, text: &str) -> Result<()> {
    match path {
        None => print(text),
        Some(path) => std::fs::write(path, text)
            .map_err(|error| Error::Harness(format!("failed to write {}: {error}", path.display())))?,
    }
    Ok(())
}
