use serde::{Deserialize, Serialize};

/// One line of `resource.jsonl`: a request that the protected resource served, in its own serial order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceEntry {
    /// Position in the resource's serial order.
    pub seq: u64,
    /// Nanoseconds since the run began.
    pub time: u64,
    /// The lock whose registers were touched.
    pub lock: String,
    /// What was asked for.
    pub op: ResourceOp,
    /// The client's process number.
    pub process: u32,
    /// The id that a write carries; none for a read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The fencing token that the request carried, where the recipe has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// The id of the last write that the client had read from the unfenced register; `None` before the first.
    #[serde(default)]
    pub unfenced_base: Option<String>,
    /// Whether the unfenced register took the request.
    #[serde(default)]
    pub unfenced: bool,
    /// The id of the last write that the client had read from the fenced register; `None` before the first.
    #[serde(default)]
    pub fenced_base: Option<String>,
    /// Whether the fenced register took the request; `None` for a request without token, which it never saw.
    #[serde(default)]
    pub fenced: Option<bool>,
}

/// What a request asks the protected resource for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourceOp {
    /// The ids of the last writes.
    Read,
    /// To take a write into both registers.
    Write,
}
