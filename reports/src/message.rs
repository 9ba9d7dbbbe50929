//! What a simulated node sent.

use serde::{Deserialize, Serialize};

/// One message between two nodes, as a simulation saw it. Times in nanoseconds since the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The sender's node.
    pub from: String,
    /// The receiver's node.
    pub to: String,
    /// When it was sent.
    pub sent_ns: u64,
    /// When it arrived; none when it was lost. One that was sent again and arrived then is another message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrived_ns: Option<u64>,
    /// What it said.
    pub says: String,
}

impl Message {
    /// How long it took; none when it was lost.
    pub fn took_ns(&self) -> Option<u64> {
        self.arrived_ns.map(|arrived| arrived.saturating_sub(self.sent_ns))
    }
}
