//! Words for what a node showed, common to several kinds.

use serde_json::{Map, Value};

/// What the heal showed, where that is told beside what the start did.
pub(super) fn after<'a>(shown: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    shown.get("after")?.get(key)
}

/// `left to fault 4`, where another fault still held the node at the end.
pub(super) fn left_to(shown: &Map<String, Value>) -> Option<String> {
    let other = after(shown, "left_to")?.as_array()?.first()?;
    Some(format!("left to fault {other}"))
}

/// Text without its quotes, anything else as it is written.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
