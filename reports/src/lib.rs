//! Renders finished runs: terminal, HTML, plots, JUnit, Markdown, JSON. Never judges.
//!
//! Everything starts from a [`run::RunData`]: what was judged, and the history it was judged from.
//! The renderers are functions from it to a string:
//! [`table::render`], [`html::render`], [`plots::render`], [`junit::render`], [`markdown::render`], [`json::render`].

pub mod evidence;
pub mod exits;
pub mod headline;
pub mod html;
pub mod json;
pub mod junit;
pub mod latency;
pub mod markdown;
pub mod message;
mod messages;
pub mod plain;
pub mod plots;
pub mod run;
pub mod stalls;
pub mod table;
pub mod timeline;
pub mod violations;
pub mod words;
