//! Runs that older builds recorded, in which a recipe's plain name stood for another client than it does now.
//!
//! What is saved beside a run bears its format since then: `format` in `experiment.toml` and in `run.json`. A file
//! without it that lies beside a run is older. One that somebody wrote means what names mean now.

use std::{fmt, ops::Range, path::Path};

use history::record::RunRecord;
use toml::Spanned;
use workloads::recipes;

use super::file::Source;
use crate::{
    error::Result,
    input,
    store::{EXPERIMENT, HISTORY, RUN},
};

/// The format in which experiments and runs are saved. In 1, plain names stood for clients that look at their clocks,
/// where there were such.
pub const FORMAT: u32 = 2;

/// A recipe of an older run, which has another name now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// As it was recorded.
    pub then: String,
    /// As it is called now.
    pub now: String,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Renamed { then, now } = self;
        write!(f, "recorded by an older build: its recipe {then} is called {now} now")
    }
}

impl Renamed {
    /// The command that repeated the run then, as it is now; `None` where it names no recipe.
    pub fn in_command(&self, command: &str) -> Option<String> {
        let rest = command.strip_prefix("fencepost run ")?.strip_prefix(&self.then)?;
        rest.starts_with(' ').then(|| format!("fencepost run {}{rest}", self.now))
    }
}

/// Gives the recipe of an older run, and its experiment where it bears the recipe's name, the names of now.
///
/// # Errors
/// A format that this build does not know.
pub(super) fn rename(source: &mut Source) -> Result<Option<Renamed>> {
    if let Some(format) = source.file.format.as_ref().filter(|format| !known(*format.get_ref())) {
        let message = format!(
            "format {} is not known here: it is at most {FORMAT}; a newer build of Fencepost wrote it",
            format.get_ref()
        );
        return Err(source.wrong(format.span(), &message));
    }
    if !is_older(source) {
        return Ok(None);
    }
    let Some(recipe) = source.file.recipe.take() else { return Ok(None) };
    let (span, then) = (recipe.span(), recipe.into_inner());
    let now = recipes::name_before_twins(&then).to_owned();
    source.file.recipe = Some(spanned(span, now.clone()));
    if now == then {
        return Ok(None);
    }
    if let Some(name) = source.file.name.take_if(|name| *name.get_ref() == then) {
        source.file.name = Some(spanned(name.span(), now.clone()));
    }
    Ok(Some(Renamed { then, now }))
}

/// Whether an older build wrote it.
pub fn is_older_run(record: &RunRecord) -> bool {
    record.format < FORMAT
}

/// By its own word; else by the run that it lies beside.
fn is_older(source: &Source) -> bool {
    if let Some(format) = &source.file.format {
        return *format.get_ref() < FORMAT;
    }
    let path = Path::new(&source.path);
    let folder = path.parent().unwrap_or(Path::new(""));
    if path.file_name().is_none_or(|name| name != EXPERIMENT) {
        return false;
    }
    match input::text_of_run(&folder.join(RUN)) {
        Ok(text) => serde_json::from_str(&text).map_or(true, |record| is_older_run(&record)),
        // Its harness never came to write it.
        Err(_) => folder.join(HISTORY).exists(),
    }
}

fn known(format: u32) -> bool {
    (1..=FORMAT).contains(&format)
}

fn spanned(span: Range<usize>, text: String) -> Spanned<String> {
    Spanned::new(span, text)
}
