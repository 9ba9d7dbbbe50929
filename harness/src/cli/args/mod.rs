//! What the command line takes.

mod check;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use self::check::{CheckArgs, CheckFormat};
use crate::{
    experiment::{Flags, On},
    numbers,
};

/// Finds out whether a lock, a lease or an election holds when the world misbehaves.
#[derive(Debug, Parser)]
#[command(name = "fencepost", version, about, long_about = None, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
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
pub struct ExploreArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// How many seeds, from --seed on [default first: 1]
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = numbers::seeds)]
    pub seeds: u64,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = numbers::jobs)]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Go on after the first violation and count them all
    #[arg(long)]
    pub count: bool,
    /// Reduce the first violation to a smallest run, and keep that
    #[arg(long)]
    pub shrink: bool,
}

/// What `replay` takes.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A run's folder, such as store/latest, or its experiment file
    #[arg(value_name = "RUN|FILE.toml")]
    pub what: String,
    /// Where: sim, the default, repeats the run exactly; docker plays its faults to real servers
    #[arg(long, value_enum)]
    pub on: Option<On>,
    #[command(flatten)]
    pub store: Store,
}

/// What `run` takes; flags go before what a file says.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// A recipe's name (`fencepost list`), or the path of an experiment file
    #[arg(value_name = "RECIPE|FILE.toml")]
    pub what: String,
    #[command(flatten)]
    pub flags: Flags,
    #[command(flatten)]
    pub results: Results,
    #[command(flatten)]
    pub store: Store,
}

/// How a run's results are told.
#[derive(Clone, Debug, Default, Args)]
pub struct Results {
    /// Also write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print verdict.json instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Where runs go.
#[derive(Clone, Debug, Args)]
pub struct Store {
    /// Where runs are kept
    #[arg(long = "store", value_name = "DIR", default_value = "store", env = "FENCEPOST_STORE")]
    pub path: PathBuf,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A run's folder, such as store/latest
    pub run: String,
    /// What to make
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    /// Write it to a file instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What `report` can make.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Format {
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
pub struct ImagesArgs {
    /// Images to build, such as redis or etcd:3.4.23; all when nothing is named with --build
    #[arg(value_name = "SYSTEM[:VERSION]")]
    pub which: Vec<String>,
    /// Build what is missing of the default versions
    #[arg(long)]
    pub build: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
