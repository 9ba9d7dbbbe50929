//! The command line.

mod args;
mod check;
mod clean;
mod conclude;
mod doctor;
mod explore;
mod images;
mod interrupt;
mod junit;
mod list;
pub mod output;
mod replay;
mod report;
mod run;
mod runtime;
mod simulate;

use clap::{CommandFactory, Parser};
use history::exit::ExitCode;
use std::process;

use self::args::{Cli, Command};
use crate::{error::Result, world::docker::keeper};

/// Parses the arguments, runs the command, and returns its exit code.
pub fn main() -> process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Clap's own code for mistakes is 2, which would read as "unknown".
            let code = if error.use_stderr() { ExitCode::Usage } else { ExitCode::Ok };
            print_of_clap(&error);
            return ended(Ok(code));
        }
    };
    let result = match cli.command {
        Command::Run(args) => run::main(args),
        Command::Explore(args) => explore::main(args),
        Command::Replay(args) => replay::main(args),
        Command::Check(args) => check::main(&args),
        Command::Report(args) => report::main(&args),
        Command::List { json } => list::main(json),
        Command::Images(args) => images::main(&args),
        Command::Doctor => doctor::main(),
        Command::Clean { images } => clean::main(images),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "fencepost", &mut script);
            output::print(&String::from_utf8_lossy(&script));
            Ok(ExitCode::Ok)
        }
        Command::Man => {
            output::printed(clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout()));
            Ok(ExitCode::Ok)
        }
        Command::Keep { run } => {
            keeper::let_go();
            runtime::block_on(async { keeper::main(&run).await }).map(|()| ExitCode::Ok)
        }
        // Its code is the script's.
        Command::Base { suite } => return ended(crate::images::base::main(&suite)),
        Command::Flood { process, operations } => {
            crate::client::flood(process, operations);
            Ok(ExitCode::Ok)
        }
        Command::Agent { lease_ms } => {
            crate::agent::main(std::time::Duration::from_millis(lease_ms)).map(|()| ExitCode::Ok)
        }
        Command::Client => crate::client::main().map(|()| ExitCode::Ok),
        Command::Resource { listen } => crate::resource::main(listen).map(|()| ExitCode::Ok),
        Command::Probe { family, address, wait_ms } => {
            crate::probe::main(&family, address, std::time::Duration::from_millis(wait_ms))
                .map(|()| ExitCode::Ok)
        }
    };
    ended(result)
}

/// As clap colours it, unless it repeats what no terminal should be told.
fn print_of_clap(error: &clap::Error) {
    let words = error.render().to_string();
    match reports::plain::message(&words) {
        shown if error.use_stderr() && shown != words.trim_end() => tell!("{shown}"),
        _ => output::printed(error.print()),
    }
}

/// The exit code; that of a failure, if what was found could not be printed.
fn ended(result: Result<impl Into<process::ExitCode>>) -> process::ExitCode {
    result.and_then(|code| output::all_printed().map(|()| code)).map_or_else(
        |error| {
            tell!("error: {error}");
            error.exit_code().into()
        },
        Into::into,
    )
}
