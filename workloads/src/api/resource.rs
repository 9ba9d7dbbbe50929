//! The protected resource: for each lock an unfenced and a fenced register side by side.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::OpResult;

/// One request of a client in its critical section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Whose registers.
    pub lock: String,
    /// The client's process number.
    pub process: u32,
    /// The fencing token of its grant, where the recipe has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// What to do.
    #[serde(flatten)]
    pub op: Op,
}

/// What to do with the two registers of a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Op {
    /// Read both.
    Read,
    /// Write both.
    Write {
        /// The new content, unique in the run.
        id: String,
        /// What the client had read in the unfenced register.
        unfenced_base: Option<String>,
        /// What the client had read in the fenced register.
        fenced_base: Option<String>,
    },
    /// Write both, the fenced one without comparing the token: the second half of a check-then-set, whose check was
    /// the read. What a store without a conditional write does; the token is set with the content, even to a lower one.
    Set {
        /// The new content, unique in the run.
        id: String,
        /// What the client had read in the unfenced register.
        unfenced_base: Option<String>,
        /// What the client had read in the fenced register.
        fenced_base: Option<String>,
    },
}

/// What the resource did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The resource's serial number of the request.
    pub seq: u64,
    /// Id of the last write in the unfenced register, after this request.
    pub unfenced: Option<String>,
    /// Id of the last write in the fenced register, after this request.
    pub fenced: Option<String>,
    /// The fenced register refused: it has seen a higher token.
    #[serde(default)]
    pub fenced_refused: bool,
}

/// A connection to the resource. A request that arrives late is still served.
#[async_trait(?Send)]
pub trait ResourceApi {
    /// One request.
    async fn request(&self, request: Request) -> OpResult<Reply>;
    /// Whether the connection can still be used.
    fn usable(&self) -> bool;
}
