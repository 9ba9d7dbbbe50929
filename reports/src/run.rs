//! A finished run, as the renderers take it.

use history::{Event, ResourceEntry, holds::Holds, judgement::Judgement};

use crate::message::Message;

/// Everything a report is made of. All of it has been judged already.
#[derive(Clone, Debug)]
pub struct RunData {
    /// What `verdict.json` says.
    pub judgement: Judgement,
    /// The history, in its final order.
    pub events: Vec<Event>,
    /// When clients were entitled to believe that they had a lock, as the checks counted it.
    pub holds: Holds,
    /// Lines of the protected resource's own log, where there is one.
    pub resource: Option<Vec<ResourceEntry>>,
    /// What was sent in a simulated run, in order of sending, where that was recorded.
    pub messages: Vec<Message>,
    /// Names of the servers, so that each gets its lane even when no fault hit it.
    pub servers: Vec<String>,
    /// What a reader needs to trust or repeat the run, in the order in which to show it.
    pub metadata: Vec<(String, String)>,
    /// The exact command that repeats the run.
    pub repeat: String,
    /// What was written where: a name such as `report` or `history`, and the path.
    pub paths: Vec<(String, String)>,
}

impl RunData {
    /// The path under `name`, if there is one.
    pub fn path(&self, name: &str) -> Option<&str> {
        self.paths.iter().find(|(key, _)| key == name).map(|(_, path)| path.as_str())
    }
}
