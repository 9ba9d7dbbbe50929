//! One simulated run of an experiment, through the same run loop as on real servers.

use std::rc::Rc;

use history::record::Facts;
use reports::message::Message;
use workloads::env::EnvApi;

use crate::{
    error::{Error, Result},
    experiment::Experiment,
    recorder::Recorder,
    run::{Judged, Outcome, Progress, Run, Silent, Stop, judge_history},
    world::sim::SimWorld,
};
use simulation::Sim;

/// Stored, printed and judged as this world.
pub const WORLD: &str = "sim";

/// What came of a simulated run, beside what its recorder took.
pub struct Simulated {
    /// How the run went.
    pub outcome: Outcome,
    /// For `run.json`: that it was simulated, the modelled version, and the trace's hash.
    pub facts: Facts,
    /// Hash of every decision and message.
    pub trace: u64,
    /// Nanoseconds of virtual time.
    pub time_ns: u64,
    /// The messages since the run began, in order of sending, where they were asked for.
    pub messages: Vec<Message>,
}

/// Runs an experiment in virtual time, on this thread, to its end. Not within an asynchronous runtime, whose budgets would get between the tasks.
pub fn simulate(
    experiment: &Rc<Experiment>,
    recorder: Rc<Recorder>,
    progress: Rc<dyn Progress>,
    stop: Stop,
    record_messages: bool,
) -> Simulated {
    let sim = Sim::new(experiment.seed);
    if record_messages {
        sim.record_messages();
    }
    let world = Rc::new(SimWorld::new(&sim));
    let run = Run::new(world.clone(), experiment.clone(), recorder, stop, progress);
    let ended = sim.block_on(async move { run.go().await });
    let outcome = ended.unwrap_or_else(|stuck| Outcome {
        failure: Some(Error::Harness(format!("the simulation is stuck: {stuck}"))),
        ..Outcome::default()
    });
    let trace = sim.trace();
    let facts = Facts {
        trace: Some(format!("{trace:016x}")),
        virtual_ms: Some(sim.now() / 1_000_000),
        messages_left_out: Some(sim.messages_left_out()).filter(|left_out| *left_out > 0),
        ..crate::world::World::facts(&*world)
    };
    let origin = sim.now() - EnvApi::now(&sim.harness());
    let mut messages: Vec<Message> = Vec::new();
    for arrow in sim.take_messages().into_iter().filter(|arrow| arrow.sent >= origin) {
        messages.push(Message {
            from: world.name_of(arrow.from),
            to: world.name_of(arrow.to),
            sent_ns: arrow.sent - origin,
            arrived_ns: arrow.arrived.map(|arrived| arrived - origin),
            says: words_of(&arrow.label),
        });
    }
    messages.sort_by_key(|message| message.sent_ns);
    Simulated { outcome, facts, trace, time_ns: sim.now(), messages }
}

/// A call's number before what it says, without the frame: `Call(7, Get("a"))` is `7: Get("a")`.
fn words_of(label: &str) -> String {
    let framed = ["Call(", "Say("].iter().find_map(|frame| label.strip_prefix(frame));
    let inside = framed.and_then(|rest| rest.strip_suffix(')'));
    match inside.and_then(|inside| inside.split_once(", ")) {
        Some((number, says)) => format!("{number}: {says}"),
        None => label.to_owned(),
    }
}

/// A simulated run that was judged without touching a file.
pub struct Tried {
    /// The verdict, and the history it is about.
    pub judged: Judged,
    /// Hash of every decision and message.
    pub trace: u64,
    /// Nanoseconds of virtual time.
    pub time_ns: u64,
}

/// Runs and judges an experiment in memory.
///
/// # Errors
/// The harness failed: the run says nothing about the recipe.
pub fn try_out(experiment: &Rc<Experiment>) -> Result<Tried> {
    let recorder = Rc::new(Recorder::in_memory());
    let simulated = simulate(experiment, recorder.clone(), Rc::new(Silent), Stop::default(), false);
    if let Some(why) = &simulated.outcome.failure {
        return Err(Error::Harness(format!("seed {}: {why}", experiment.seed)));
    }
    let mut history = recorder.take_kept();
    history.sort();
    let form = history.check_form();
    form.map_err(|error| Error::Harness(format!("seed {}: {error}", experiment.seed)))?;
    let judged = judge_history(history, experiment, &simulated.outcome, WORLD, None);
    Ok(Tried { judged, trace: simulated.trace, time_ns: simulated.time_ns })
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn frames_are_taken_off() {
        assert_eq!(words_of("Call(7, Get(\"a\", 1))"), "7: Get(\"a\", 1)");
        assert_eq!(words_of("Say(7, Nil)"), "7: Nil");
        assert_eq!(words_of("Append { term: 3 }"), "Append { term: 3 }");
    }
}
