//! Everything that a report is made of.

use history::{node::Nodes, record::Facts};
use reports::{message::Message, run::RunData};
use workloads::workload::Workload;

use super::{Judged, holds};
use crate::{
    experiment::{Experiment, On},
    pressure, shell,
    store::{EXPERIMENT, HISTORY, MESSAGES, RunFolder},
};

/// Of a run that was judged.
pub fn run_data(
    experiment: &Experiment,
    folder: &RunFolder,
    judged: Judged,
    nodes: &Nodes,
    facts: &Facts,
    repeat: &str,
) -> RunData {
    let path = |name: &str| folder.path().join(name).display().to_string();
    RunData {
        judgement: judged.judgement,
        events: judged.history.events().collect(),
        holds: holds(&judged.history),
        resource: Some(judged.history.resource),
        messages: messages(folder),
        servers: nodes.servers.clone(),
        metadata: metadata(experiment, facts),
        repeat: repeat.to_string(),
        paths: vec![
            ("report".into(), path("report.html")),
            ("history".into(), path(HISTORY)),
            ("run".into(), folder.path().display().to_string()),
        ],
    }
}

/// What a simulated run left beside its history; nothing where it was not recorded.
fn messages(folder: &RunFolder) -> Vec<Message> {
    let text = folder.read(MESSAGES).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn metadata(experiment: &Experiment, facts: &Facts) -> Vec<(String, String)> {
    let mut lines = vec![
        ("recipe".to_string(), recipe_in_words(experiment)),
        ("system".into(), format!("{} with {} server(s)", experiment.system().name, experiment.nodes)),
        ("clients".into(), experiment.clients.to_string()),
        ("time to live".into(), format!("{:?}", experiment.ttl)),
        ("length".into(), format!("{:?}", experiment.time)),
        ("seed".into(), experiment.seed.to_string()),
        ("fencepost".into(), env!("CARGO_PKG_VERSION").to_string()),
    ];
    if let Some(image) = &facts.image {
        lines.push(("image".into(), image.reference.clone()));
        lines.push(("image id".into(), image.id.clone()));
    }
    if let Some(engine) = &facts.engine {
        lines.push(("Docker engine".into(), engine.engine.clone()));
        lines.push(("kernel".into(), engine.kernel.clone()));
    }
    if let Some(count) = facts.messages_left_out {
        lines.push(("messages".into(), format!("the last {count} of the run were not kept")));
    }
    if !facts.pressure.is_empty() {
        lines.push(("pressure".into(), pressure::in_words(&facts.pressure)));
    }
    lines
}

/// Its name, and that of then.
fn recipe_in_words(experiment: &Experiment) -> String {
    let then = experiment.renamed.as_ref().map(|renamed| format!(", recorded as {}", renamed.then));
    format!("{}{}", experiment.recipe.name, then.unwrap_or_default())
}

/// The exact command that repeats a run: by flags where flags can say it all, else by the run's own file.
pub fn repeat(experiment: &Experiment, folder: &RunFolder) -> String {
    if !experiment.by_flags {
        let file = folder.path().join(EXPERIMENT).display().to_string();
        return shell::line(["fencepost", "run", &file]);
    }
    let on = if experiment.on == On::Sim { "sim" } else { "docker" };
    let millis = |duration: std::time::Duration| nemesis::duration::format_ms(duration.as_millis() as u64);
    let mut options = vec![("--on", on.to_string())];
    if !experiment.faults.faults.is_empty() {
        options.push(("--faults", experiment.faults.to_string()));
    }
    options.extend([
        ("--nodes", experiment.nodes.to_string()),
        ("--clients", experiment.clients.to_string()),
        ("--ttl", millis(experiment.ttl)),
        ("--time", millis(experiment.time)),
        ("--seed", experiment.seed.to_string()),
    ]);
    if experiment.workload != Workload::usual_for(experiment.recipe.primitive) {
        options.push(("--workload", experiment.workload.name().to_string()));
    }
    options.extend(experiment.version.iter().map(|version| ("--version", version.clone())));
    options.extend(experiment.image.iter().map(|image| ("--image", image.clone())));
    options.extend(experiment.settings.iter().map(|(key, value)| ("--set", format!("{key}={value}"))));
    let words = options.iter().flat_map(|(name, value)| [*name, value]);
    shell::line(["fencepost", "run", experiment.recipe.name].into_iter().chain(words))
}
