//! Good inputs, to be changed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Formats of which no golden history is.
const HISTORIES: [&str; 5] = [
    "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 0 0 y\"}\n{:process 0, :type :ok, :f :append, :key \"0\"}\n",
    "[{:process 0 :type :invoke :f :cas :value [1 2]} {:process 1 :type :invoke :f :read} {:process 0 :type :ok :f :cas :value [1 2]}\n\
     {:process 1 :type :ok :f :read :value 1} {:type :info :process :nemesis :f :stop}]\n",
    "{:process 0 :type :invoke :f :txn :value [[:w x 1] [:r y nil]]}\n{:process 0 :type :ok :f :txn :value [[:w x 1] [:r y 2]]}\n",
    "INFO  jepsen.util - 4\t:invoke\t:cas\t[1 2]\nINFO  jepsen.util - 4\t:info\t:cas\t:timed-out\n0 :invoke :read nil\n0 :ok :read nil\n",
    "12 invoke acquire \n12 ok acquire 7\n3 invoke acquire\n12 invoke release\n12 ok release\n3 ok acquire 8\n",
];

const EXPERIMENTS: [&str; 2] = [
    "name = \"x\"\nrecipe = \"etcd/lease-lock\"\ntime = \"10s\"\nttl = \"2s\"\nclients = 5\nexpect = { exclusion = \"invalid\" }\n\
     [system]\nversion = \"3.5.16\"\nnodes = 3\n[rates]\nthink_ms = [5, 60]\nlocks = 2\n[sim]\ndelay_us = 40\nloss_ppm = 100\n\
     [[faults.clock]]\nby = \"-3s..3s\"\nevery = \"2s\"\nlasts = \"1s..2s\"\n[faults.partition]\ngroups = [[\"s1\", \"c1\"], [\"s2\"]]\n",
    "recipe = \"redis/redlock\"\n[settings]\ndrift_percent = 10\n[[schedule]]\nkind = \"pause\"\ntarget = \"s3\"\nat_ms = 1000\n\
     lasts_ms = 500\n[[schedule]]\nkind = \"partition\"\ntarget = \"minority\"\nat_ms = 2000\nlasts_ms = 500\nparams = { from = \"all\" }\n",
];

/// Experiment files.
pub fn experiments() -> Vec<Vec<u8>> {
    let written = EXPERIMENTS.iter().map(|text| text.as_bytes().to_vec());
    written.chain(read(&workspace().join("suites"), &["toml"])).collect()
}

/// Histories in every format.
pub fn histories() -> Vec<Vec<u8>> {
    let written = HISTORIES.iter().map(|text| text.as_bytes().to_vec());
    let golden = read(&workspace().join("checkers/tests/golden"), &["jsonl"]);
    written
        .chain(golden)
        .chain(read(&workspace().join("../shared/field"), &["jsonl", "edn", "txt"]))
        .collect()
}

/// Makes a run of the binary in this folder.
pub fn run(binary: &Path, folder: &Path) -> PathBuf {
    let args =
        "run redis/set-nx --on sim --time 2s --clients 3 --faults pause:holder --seed 1 --json --store";
    let made = Command::new(binary).args(args.split(' ')).arg(folder).output().expect("the binary runs");
    assert!(made.status.code().is_some_and(|code| code < 3), "{}", String::from_utf8_lossy(&made.stderr));
    fs::canonicalize(folder.join("latest")).expect("the run was kept")
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// In the order of their names.
fn read(folder: &Path, extensions: &[&str]) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let wanted =
        |path: &PathBuf| path.extension().is_some_and(|of| extensions.iter().any(|wanted| of == *wanted));
    let mut paths: Vec<PathBuf> = entries.filter(wanted).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| fs::read(path).ok()).collect()
}
