//! `verdict.json`.

use crate::judgement::Judgement;

/// The judgement, indented, with a final newline.
///
/// # Errors
/// A figure that JSON cannot express.
pub fn render(judgement: &Judgement) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(judgement).map(|text| text + "\n")
}
