//! `fencepost check`

use super::{CheckArgs, output};
use crate::{error::Result, store::RunFolder, stored};

/// Judges a stored run, or a history, again.
pub fn main(args: &CheckArgs) -> Result<u8> {
    let judged = match RunFolder::open(&args.what) {
        Ok(folder) => stored::judge_run(&folder)?,
        Err(no_run) if std::path::Path::new(&args.what).is_dir() => return Err(no_run),
        Err(_) => stored::judge_file(std::path::Path::new(&args.what))?,
    };
    judged.notes.iter().for_each(|note| eprintln!("note: {note}"));
    let code = output::exit_code(&judged.run.judgement);
    let text = if args.json {
        reports::json::render(&judged.run.judgement).map_err(|error| crate::error::Error::Harness(error.to_string()))?
    } else {
        output::table(&judged.run)
    };
    output::print(&text);
    Ok(code)
}
