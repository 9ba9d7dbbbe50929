//! All recipes under all faults, in simulation: which checks each breaks.
//!
//! `cargo run --release -p fencepost --example matrix -- --seeds 100 --check [RECIPE]…`
//!
//! Prints a line for each recipe and fault: the checks that were violated, and in how many of the seeds; the runs about
//! which nothing certain could be said. A seed is a run, so the lines are the same whatever the machine. With `--check`
//! they are held against what `fencepost list --json` says may break (`workloads::recipes::promises`): a violation that
//! is not listed is an error; one that is listed and was not seen is looked for in more seeds, and told if it never comes.

mod cell;

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use cell::{Cell, Counted};
use clap::Parser;
use harness::{cells, experiment, systems::System};
use workloads::recipes::{self, RecipeInfo};

/// What it takes.
#[derive(Debug, Parser)]
struct Args {
    /// Recipes; all when none is named
    recipes: Vec<String>,
    /// Only this fault, such as pause:holder or none; may be repeated
    #[arg(long)]
    faults: Vec<String>,
    /// Seeds of each recipe and fault, from 1 on
    #[arg(long, default_value_t = 100)]
    seeds: u64,
    /// With --check: seeds in which what may break is looked for
    #[arg(long, default_value_t = 500)]
    most: u64,
    /// Virtual time of a run's phase with faults
    #[arg(long, default_value = "10s")]
    time: String,
    /// Threads [default: one a core]
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    /// Hold it against what may break
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let chosen: Vec<&RecipeInfo> = match args.recipes.as_slice() {
        [] => recipes::all().collect(),
        names => names.iter().map(|name| recipes::find(name).unwrap_or_else(|why| panic!("{why}"))).collect(),
    };
    let cells: Vec<Cell> = chosen
        .into_iter()
        .flat_map(|recipe| {
            let system = experiment::system_of(recipe);
            chosen_cells(system, &args.faults).into_iter().map(move |faults| Cell { recipe, faults })
        })
        .collect();
    let wrong = count_all(&args, &cells);
    eprintln!("{} recipes and faults, {} seeds each: {wrong} not as listed", cells.len(), args.seeds);
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn chosen_cells(system: &System, only: &[String]) -> Vec<String> {
    let mut cells = cells::of(system);
    cells.retain(|cell| only.is_empty() || only.contains(cell));
    cells
}

/// Counts every cell and prints the lines in order, each as soon as those before it are there; how many are not as listed.
fn count_all(args: &Args, cells: &[Cell]) -> usize {
    let cores = std::thread::available_parallelism().ok();
    let jobs = args.jobs.or(cores).map_or(1, NonZeroUsize::get);
    let (next, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let waiting = Mutex::new((0, BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(place) else { return };
                    let lines = lines(args, cell);
                    wrong.fetch_add(lines.len() - 1, Ordering::Relaxed);
                    print(&mut waiting.lock().expect("nobody panics"), place, lines);
                }
            });
        }
    });
    wrong.into_inner()
}

/// One line that tells, and one for each thing that is not as listed.
fn lines(args: &Args, cell: &Cell) -> Vec<String> {
    let mut counted = Counted::default();
    cell.count(&mut counted, &args.time, 1..=args.seeds);
    let mut lines = vec![format!("{cell}\t{counted}")];
    if args.check {
        let (listed, as_well) = (cell.may_break(), cell.may_break_as_well());
        let is_told = |check: &str| listed.contains(check) || as_well.contains(check);
        for (check, seeds) in counted.violated.iter().filter(|(check, _)| !is_told(check)) {
            lines.push(format!("{cell}\tNOT LISTED: {check}, seeds {:?}", &seeds[..seeds.len().min(10)]));
        }
        let missing = |counted: &Counted| {
            let of = listed.iter().filter(|check| !counted.violated.contains_key(**check));
            of.copied().collect::<Vec<&str>>()
        };
        let mut seed = args.seeds;
        while !missing(&counted).is_empty() && seed < args.most {
            seed += 1;
            cell.count(&mut counted, &args.time, seed..=seed);
        }
        let never = missing(&counted);
        lines.extend(never.iter().map(|check| format!("{cell}\tNEVER BROKE in {seed} seeds: {check}")));
    }
    lines
}

fn print((shown, waiting): &mut (usize, BTreeMap<usize, Vec<String>>), place: usize, lines: Vec<String>) {
    waiting.insert(place, lines);
    while let Some(lines) = waiting.remove(shown) {
        lines.iter().for_each(|line| println!("{line}"));
        *shown += 1;
    }
}
