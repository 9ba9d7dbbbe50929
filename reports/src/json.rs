//! `verdict.json`.

use crate::plain;
use history::judgement::Judgement;

/// The judgement, indented, with a final newline. No character of it moves a terminal.
///
/// # Errors
/// A figure that JSON cannot express.
pub fn render(judgement: &Judgement) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(judgement).map(|text| plain::json(&text).into_owned() + "\n")
}
