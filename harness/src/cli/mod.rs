//! The command line.

mod check;
mod clean;
mod conclude;
mod doctor;
mod explore;
mod images;
mod interrupt;
mod junit;
mod list;
mod numbers;
pub mod output;
mod replay;
mod report;
mod run;
mod runtime;
mod simulate;

use std::process;

use clap::{
    Args, CommandFactory, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use history::exit::ExitCode;
use workloads::workload::Workload;

use crate::{
    error::Result,
    experiment::{Expectation, On},
    world::docker::keeper,
};

/// Finds out whether a lock, a lease or an election holds when the world misbehaves.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version, about, long_about = None, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs an experiment: a recipe, or a file that describes one
    Run(RunArgs),
    /// Runs many seeds of an experiment in the simulation
    Explore(ExploreArgs),
    /// Runs a simulated run again, or its faults on real servers
    Replay(ReplayArgs),
    /// Judges a stored run, or a history file, again
    Check(CheckArgs),
    /// Renders a stored run
    Report(ReportArgs),
    /// Shows recipes, systems, faults and checks
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows the server images, and builds those that are missing
    Images(ImagesArgs),
    /// Tells whether this machine can run experiments, and what to do if not
    Doctor,
    /// Removes what runs left behind whose harness is dead
    Clean {
        /// Also remove the node images (server images stay)
        #[arg(long)]
        images: bool,
    },
    /// Prints a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Prints the manual page
    Man,
    #[command(hide = true)]
    Keep { run: String },
    #[command(hide = true)]
    Base { suite: String },
    #[command(hide = true)]
    Flood { process: u32, operations: u64 },
    #[command(hide = true)]
    Agent {
        #[arg(long, default_value_t = crate::agent::LEASE_MS)]
        lease_ms: u64,
    },
    #[command(hide = true)]
    Client,
    #[command(hide = true)]
    Resource { listen: std::net::SocketAddr },
    #[command(hide = true)]
    Probe { family: String, address: std::net::SocketAddr, wait_ms: u64 },
}

/// What `explore` takes beside what `run` does.
#[derive(Debug, Args)]
struct ExploreArgs {
    #[command(flatten)]
    run: RunArgs,
    /// How many seeds, from --seed on [default first: 1]
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = numbers::seeds)]
    seeds: u64,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = numbers::jobs)]
    jobs: Option<std::num::NonZeroUsize>,
    /// Go on after the first violation and count them all
    #[arg(long)]
    count: bool,
    /// Reduce the first violation to a smallest run, and keep that
    #[arg(long)]
    shrink: bool,
}

/// What `replay` takes.
#[derive(Debug, Args)]
struct ReplayArgs {
    /// A run's folder, such as store/latest, or its experiment file
    #[arg(value_name = "RUN|FILE.toml")]
    what: String,
    /// Where: sim, the default, repeats the run exactly; docker plays its faults to real servers
    #[arg(long, value_enum)]
    on: Option<On>,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = "store", env = "FENCEPOST_STORE")]
    store: std::path::PathBuf,
}

/// What `run` takes; flags go before what a file says.
#[derive(Clone, Debug, Args)]
struct RunArgs {
    /// A recipe's name (`fencepost list`), or the path of an experiment file
    #[arg(value_name = "RECIPE|FILE.toml")]
    what: String,
    /// Which world to run in
    #[arg(long, value_enum)]
    on: Option<On>,
    /// Faults to inject, such as pause:holder,clock:server; none for none
    #[arg(long, value_name = "KIND[:TARGET],…")]
    faults: Option<String>,
    /// Number of servers
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = numbers::count)]
    nodes: Option<u32>,
    /// Number of clients
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = numbers::count)]
    clients: Option<u32>,
    /// Time to live of a grant [default: 2s]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION")]
    ttl: Option<String>,
    /// Length of the phase with faults [default: 30s]
    #[arg(long, allow_hyphen_values = true, value_name = "DURATION")]
    time: Option<String>,
    /// Tries a second that each client aims at
    #[arg(long, allow_negative_numbers = true, value_name = "R", value_parser = numbers::rate)]
    rate: Option<f64>,
    /// Decides everything that is left to chance on our side
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = numbers::seed)]
    seed: Option<u64>,
    /// Version of the system (`fencepost images`)
    #[arg(long, value_name = "V")]
    version: Option<String>,
    /// Any image instead
    #[arg(long, value_name = "REF")]
    image: Option<String>,
    /// Drive the recipe by another workload
    #[arg(long, value_parser = workload())]
    workload: Option<Workload>,
    /// A setting of the recipe or the system; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// What the verdict is expected to be; the exit code tells whether it is
    #[arg(long, value_enum)]
    expect: Option<Expectation>,
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<std::path::PathBuf>,
    /// Print verdict.json instead of tables
    #[arg(long)]
    json: bool,
    /// Where runs are kept
    #[arg(long, value_name = "DIR", default_value = "store", env = "FENCEPOST_STORE")]
    store: std::path::PathBuf,
}

impl RunArgs {
    /// What a command that runs something of its own reports as asked.
    fn of(what: &str, store: &std::path::Path) -> RunArgs {
        RunArgs {
            what: what.to_owned(),
            on: None,
            faults: None,
            nodes: None,
            clients: None,
            ttl: None,
            time: None,
            rate: None,
            seed: None,
            version: None,
            image: None,
            workload: None,
            settings: Vec::new(),
            expect: None,
            junit: None,
            json: false,
            store: store.to_owned(),
        }
    }
}

/// A workload, by its name.
fn workload() -> impl TypedValueParser<Value = Workload> {
    let names = PossibleValuesParser::new(Workload::ALL.map(Workload::name));
    names.try_map(|name| Workload::named(&name).ok_or("there is no such workload"))
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// A run's folder, a file that holds a history (JSON Lines, EDN, Jepsen's text log, lock lines), or - for standard
    /// input
    #[arg(value_name = "RUN|HISTORY")]
    what: String,
    /// Judge a history against this model instead of the one its operations suggest: register, cas-register,
    /// multi-register, mutex, owned-mutex, reentrant-mutex, fenced-mutex, reentrant-fenced-mutex, semaphore:PERMITS,
    /// counter, fifo-queue, set, key-value
    #[arg(long, value_name = "MODEL", conflicts_with = "workload")]
    model: Option<crate::check::model::ModelName>,
    /// Judge a history by the checks of this workload
    #[arg(long, value_parser = workload())]
    workload: Option<Workload>,
    /// How long it may take; then the verdict is unknown [default: the searches a minute, or a millisecond an event if that
    /// is longer]
    #[arg(long, value_name = "DURATION", value_parser = crate::check::quantity::duration)]
    timeout: Option<std::time::Duration>,
    /// How much memory it may take; then the verdict is unknown [default: half of what is free]
    #[arg(long, value_name = "SIZE", value_parser = crate::check::quantity::bytes)]
    memory: Option<u64>,
    /// How long the search for an explanation may take; then it shows what it has [default: 1.5 s, or ten times as long as
    /// the verdict took]. It takes at most 256 MiB, unless --memory is given
    #[arg(long, value_name = "DURATION", value_parser = crate::check::quantity::duration)]
    explain: Option<std::time::Duration>,
    /// Threads [default: one a processor]
    #[arg(long, value_name = "N", value_parser = numbers::jobs)]
    jobs: Option<std::num::NonZeroUsize>,
    /// What registers hold before the first write, as EDN writes it, such as 0 or nil
    #[arg(long, value_name = "VALUE")]
    initial: Option<String>,
    /// What a compare-and-set, acquire, release or dequeue that failed says, whatever the format [default: dropped]
    #[arg(long, value_enum)]
    failed_cas: Option<FailedArg>,
    /// What a read of nil from a register says, in a transaction too, whatever the format [default: nothing]
    #[arg(long, value_enum)]
    nil_read: Option<NilReadArg>,
    /// What the values of acquires and releases are [default: what they certainly are; where that is not certain and the
    /// verdict hangs on it, it is unknown]
    #[arg(long, value_enum)]
    lock_value: Option<LockValueArg>,
    /// What it means that a lock is granted to a client which still holds it [default: nobody knows, and what hangs on it
    /// is unknown]
    #[arg(long, value_enum)]
    reacquire: Option<ReacquireArg>,
    /// What to make
    #[arg(long, value_enum, default_value = "table")]
    format: CheckFormat,
    /// Print verdict.json: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write it to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<std::path::PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReacquireArg {
    /// The same grant is confirmed, as by a renewal
    #[value(alias = "refreshed")]
    Refresh,
    /// The lock is reentrant: it has to be released as often as it was acquired
    #[value(alias = "reentrant")]
    Nested,
    /// It is a second grant, which the lock should have refused
    Defect,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FailedArg {
    /// Another value was seen; somebody else held it; nothing was there: as in Jepsen's old etcd logs
    Observation,
    /// It did not happen
    Dropped,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NilReadArg {
    /// The register held nil: as in Jepsen's old etcd logs
    Value,
    /// Nothing: as in Knossos
    Nothing,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LockValueArg {
    /// Which lock; of a vector, several locks
    Name,
    /// Who acquires or releases it; of a vector of two, which lock and who
    Owner,
}

/// What `check` can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// For a terminal
    Table,
    /// verdict.json
    Json,
    /// A page that shows what is wrong
    Html,
}

#[derive(Debug, Args)]
struct ReportArgs {
    /// A run's folder, such as store/latest
    run: String,
    /// What to make
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write it to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<std::path::PathBuf>,
}

/// What `report` can make.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// The page with the timeline
    Html,
    /// For a pull request
    Md,
    /// verdict.json
    Json,
    /// For continuous integration
    Junit,
    /// The history as Jepsen's EDN
    Edn,
    /// As printed after a run
    Table,
}

#[derive(Debug, Args)]
struct ImagesArgs {
    /// Images to build, such as redis or etcd:3.4.23; all when nothing is named with --build
    #[arg(value_name = "SYSTEM[:VERSION]")]
    which: Vec<String>,
    /// Build what is missing of the default versions
    #[arg(long)]
    build: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

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
