//! What README and `fencepost list` tell of recipes is what their tables say.

use std::{collections::BTreeSet, fs, path::Path};

use crate::support::{fencepost, text};
use history::exit::ExitCode;
use serde_json::Value;
use workloads::recipes;

const BEGIN: &str = "<!-- recipes: made by `cargo run -p fencepost --example recipe_table` -->\n";
const END: &str = "<!-- end of recipes -->";

/// `BLESS=1` writes the table anew.
#[test]
fn the_table_of_recipes_is_made_from_their_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(&path).expect("there is a README");
    let (before, rest) = readme.split_once(BEGIN).expect("the table's beginning is marked");
    let (table, after) = rest.split_once(END).expect("the table's end is marked");
    let made = harness::recipe_table::markdown();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{made}{END}{after}")).expect("it can be written");
    } else {
        assert!(table == made, "README's table is not what the recipes say; BLESS=1 writes it anew");
    }
}

#[test]
fn the_exit_codes_are_those_that_commands_end_with() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md"));
    let readme = readme.expect("there is a README");
    let (_, table) =
        readme.split_once("| exit code | meaning |\n|---|---|\n").expect("a table of exit codes");
    let rows = table.lines().map_while(|row| row.strip_prefix("| ")?.split_once(" | "));
    let told: Vec<u8> = rows.map(|(code, _)| code.parse().expect("a number")).collect();
    use ExitCode::{Data, Harness, Interrupted, Invalid, Ok, Unavailable, Unknown, Usage};
    let codes = [Ok, Invalid, Unknown, Usage, Data, Unavailable, Harness, Interrupted];
    assert_eq!(told, codes.map(u8::from));
}

#[test]
fn what_may_break_names_faults_and_checks_that_there_are() {
    let checks: BTreeSet<&str> = checkers::CHECKS.iter().map(|check| check.name).collect();
    for recipe in recipes::all() {
        let system = harness::experiment::system_of(recipe);
        let cells = harness::cells::of(system);
        for (fault, broken) in recipe.may_break() {
            assert!(cells.contains(&fault), "{}: {fault} is no fault on {}", recipe.name, system.name);
            for check in broken {
                let applies = match check {
                    "token" | "fencing" => recipe.has_token,
                    _ => checks.contains(check),
                };
                assert!(applies, "{}: {fault}: {check}", recipe.name);
            }
        }
        for gap in recipe.gaps() {
            let [never, prevented] = [gap.never_promised, &gap.prevented_by];
            assert!(!never.ends_with('.') && never.len() > 20, "{}: {never}", recipe.name);
            assert!(prevented.ends_with('.') && prevented.len() > 20, "{}: {prevented}", recipe.name);
        }
    }
}

/// A broken recipe may break the check that finds it; a sound one is silent without faults.
#[test]
fn the_check_that_finds_a_broken_recipe_is_listed() {
    for recipe in recipes::all() {
        let cells = recipe.may_break();
        match recipe.breaks {
            Some(check) => assert!(cells.values().any(|checks| checks.contains(check)), "{}", recipe.name),
            None => assert!(!cells.contains_key(harness::cells::NONE), "{}", recipe.name),
        }
    }
}

#[test]
fn list_tells_what_may_break_and_who_looks() {
    let output = fencepost().args(["list", "--json"]).output().expect("the binary runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let recipe = |name: &str| {
        let all = told["recipes"].as_array().expect("recipes");
        all.iter().find(|recipe| recipe["name"] == name).expect("it is listed").clone()
    };
    let plain = recipe("redis/set-nx");
    assert_eq!(plain["aware"], false);
    let broken: Vec<&str> = plain["may_break"]["pause:holder"]
        .as_array()
        .expect("checks")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(broken, ["exclusion", "deadline", "damage"], "in the order of reports");
    assert!(plain["never_promised"][0].is_string() && plain["prevented_by"]["exclusion"][0].is_string());
    assert!(plain["promise"].is_string());
    let aware = recipe("redis/set-nx-aware");
    assert_eq!((&aware["aware"], &aware["may_break"]["pause:holder"]), (&true.into(), &Value::Null));
    let output = fencepost().arg("list").output().expect("the binary runs");
    let table = text(&output);
    assert!(table.lines().next().is_some_and(|head| head.contains("looks at its clock")), "{table}");
}
