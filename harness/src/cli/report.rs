//! `fencepost report`

use history::exit::ExitCode;

use super::{
    args::{Format, ReportArgs},
    output,
};
use crate::{
    error::{Error, Result},
    store::RunFolder,
    stored,
};

/// Renders a stored run as it was judged.
pub fn main(args: &ReportArgs) -> Result<ExitCode> {
    let stored::Rejudged { run, notes, .. } = stored::load(&RunFolder::open(&args.run)?)?;
    notes.iter().for_each(|note| tell!("note: {note}"));
    let failed = |error: &dyn std::fmt::Display| Error::Harness(format!("failed to render: {error}"));
    let text = match args.format {
        Format::Html => reports::html::render(&run).map_err(|error| failed(&error))?,
        Format::Md => reports::markdown::render(&run),
        Format::Json => reports::json::render(&run.judgement).map_err(|error| failed(&error))?,
        Format::Junit => reports::junit::render(&run).map_err(|error| failed(&error))?,
        Format::Edn => stored::edn(&run)?,
        Format::Table => output::table(&run),
    };
    output::write_or_print(args.output.as_deref(), &text)?;
    Ok(ExitCode::Ok)
}
