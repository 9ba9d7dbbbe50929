//! The file that `--junit` names: it speaks of this run, or says that it failed, and never of an earlier one.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::FileTypeExt,
    path::Path,
};

use reports::run::RunData;

use crate::{
    error::{Error, Result},
    store::cannot_be_written,
};

/// From now on the file says that the run did not come to its end; what it said before is gone.
///
/// # Errors
/// It cannot be written, which is found out before the run, not after it.
pub fn begin(path: &Path, experiment: &str) -> Result<()> {
    let kind = fs::metadata(path).map(|file| file.file_type());
    let begun = match kind {
        // Into a pipe goes one document, and whoever reads takes its closing for the end.
        Ok(kind) if kind.is_fifo() => Ok(()),
        Ok(kind) if !kind.is_file() => OpenOptions::new().append(true).open(path).map(|_| ()),
        _ => fs::write(path, failure(experiment, "the run did not come to its end")?),
    };
    begun.map_err(|error| Error::Usage(format!("--junit: {} cannot be written: {error}", path.display())))
}

/// The run could not be made, or not be finished.
pub fn failed(path: &Path, experiment: &str, error: &Error) {
    let written = failure(experiment, &error.of_a_run()).and_then(|xml| write_text(path, &xml));
    if let Err(error) = written {
        tell!("error: {error}");
    }
}

/// What a run showed, with the harness' own failures.
pub fn write(path: &Path, run: &RunData, failures: &[String]) -> Result<()> {
    let xml =
        reports::junit::render_with(run, failures).map_err(|error| Error::Harness(error.to_string()))?;
    write_text(path, &xml)
}

fn failure(experiment: &str, why: &str) -> Result<String> {
    reports::junit::failed(experiment, why).map_err(|error| Error::Harness(error.to_string()))
}

fn write_text(path: &Path, xml: &str) -> Result<()> {
    fs::write(path, xml).map_err(|error| cannot_be_written(path, &error))
}
