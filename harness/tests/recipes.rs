//! Every recipe on real servers: the sound ones hold without faults, those broken by design are caught.

mod support;

use serde_json::Value;
use support::{Ran, alone, fencepost, run, run_file};

fn sound_recipes() -> Vec<String> {
    let output = fencepost().args(["list", "--json"]).output().expect("the binary runs");
    let list: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    let recipes = list["recipes"].as_array().expect("recipes");
    let sound = recipes.iter().filter(|recipe| recipe["broken"].is_null());
    sound.map(|recipe| recipe["name"].as_str().expect("a name").to_string()).collect()
}

#[test]
fn sound_ones_are_valid_without_faults() {
    let Some(_alone) = alone() else { return };
    let recipes = sound_recipes();
    assert!(recipes.len() >= 20, "{recipes:?}");
    // Two at a time: mostly they wait for servers to start.
    let (even, odd): (Vec<_>, Vec<_>) = recipes.iter().enumerate().partition(|(index, _)| index % 2 == 0);
    let all = |half: Vec<(usize, &String)>| {
        for (_, recipe) in half {
            let ran = run(recipe, "--clients 3 --ttl 1s --time 3s --seed 5");
            ran.must(ran.code == 0, &format!("{recipe} holds without faults"));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| all(even));
        all(odd);
    });
}

fn caught(recipe: &str, args: &str, check: &str, blame: Option<&str>) {
    let Some(_alone) = alone() else { return };
    // What a pause meets on a real server is chance: of five runs one shows it.
    let mut runs = (6..=10).map(|seed| run(recipe, &format!("--seed {seed} {args}")));
    let shows = |ran: &Ran| ran.check(check) == "invalid";
    let ran = runs.find(shows).unwrap_or_else(|| panic!("{recipe}: no run in five shows {check}"));
    ran.says(1, &format!("{check}=invalid"));
    if let Some(blame) = blame {
        ran.must(ran.figure(check, "blame") == blame, &format!("{blame} is to blame"));
    }
}

#[test]
fn releasing_without_comparing_is_caught() {
    // A sound release leaves the next holder's lock alone, and the promise is kept.
    caught("redis/release-without-compare", "--faults pause:holder --ttl 1s --time 12s", "promise", None);
}

#[test]
fn tokens_counted_in_the_client_are_caught() {
    caught("redis/client-counter-token", "--ttl 1s --time 3s", "token", None);
}

#[test]
fn a_fence_that_compares_before_the_write_is_caught() {
    let args = "--faults pause:holder --ttl 1s --time 12s";
    caught("redis/check-then-set", args, "fencing", Some("recipe"));
}

#[test]
fn putting_without_comparing_is_caught() {
    caught("etcd/put-without-compare", "--ttl 2s --time 3s", "exclusion", None);
}

#[test]
fn lease_numbers_as_tokens_are_caught() {
    caught("etcd/lease-id-token", "--ttl 2s --time 5s", "token", None);
}

#[test]
fn node_versions_as_tokens_are_caught() {
    caught("zookeeper/version-token", "--ttl 2s --time 3s", "token", None);
}

#[test]
fn each_kind_of_fault_shows_its_own_evidence() {
    let Some(_alone) = alone() else { return };
    let faults = "pause:client,kill:server,partition:client,clock:client,delay:server";
    let ran = run("redis/set-nx", &format!("--faults {faults} --ttl 1s --time 12s --seed 7"));
    ran.all_installed(&["pause", "kill", "partition", "clock", "delay"]);
    for fault in ran.faults() {
        let node = fault["targets"][0].as_str().unwrap_or_default();
        let shown = &fault["evidence"][node];
        let proves = match fault["kind"].as_str().unwrap_or_default() {
            "pause" => shown["state"] == "T" && shown["after"]["state"] != "T",
            "kill" => shown["after"]["new_pid"].as_u64() > Some(0),
            "partition" => shown["packets"].as_u64() > Some(0),
            "delay" => is_slower(shown),
            "clock" => {
                let (asked, seen) = (shown["offset_ms"].as_f64(), shown["observed_ms"][0].as_f64());
                asked
                    .zip(seen)
                    .is_some_and(|(asked, seen)| asked.abs() > 100.0 && (asked - seen).abs() < 50.0)
            }
            _ => false,
        };
        ran.must(proves, &format!("the evidence of fault {} speaks of its kind", fault["id"]));
    }
}

/// To some peer the round trip was as long as packets were held, and is short again.
fn is_slower(shown: &Value) -> bool {
    let by_us = shown["by_ms"].as_u64().unwrap_or_default() * 1000;
    let peers = shown["round_trip"].as_object().into_iter().flat_map(|peers| peers.values());
    let us = |of: &Value, when: &str| of[when].as_u64().unwrap_or_default();
    shown["packets"].as_u64() > Some(0)
        && peers.into_iter().any(|peer| us(peer, "during_us") > by_us && us(peer, "after_us") < by_us / 2)
}

/// What was sent in time arrives late.
fn slow_writes(recipe: &str) -> Ran {
    let ran = run_file(&format!(
        "recipe = \"{recipe}\"\nclients = 3\nttl = \"1s\"\ntime = \"15s\"\nseed = 11\n\
         [faults.delay]\ntarget = \"holder\"\nfrom = \"resource\"\nby = \"1500ms\"\njitter = \"150ms\"\n"
    ));
    ran.all_installed(&["delay"]);
    ran.must(ran.faults().iter().all(|fault| fault["healed"] == true), "each was healed");
    ran
}

#[test]
fn writes_that_are_late_on_their_way_do_damage_that_only_a_fence_prevents() {
    let Some(_alone) = alone() else { return };
    let ran = slow_writes("redis/redlock-aware");
    ran.says(1, "exclusion=valid deadline=valid damage=invalid");
    let ran = slow_writes("etcd/lease-lock-aware");
    for check in ["exclusion", "deadline", "fencing"] {
        ran.must(ran.check(check) == "valid", &format!("{check} holds"));
    }
    ran.must(ran.figure("damage", "fenced_lost") == 0, "the fence lost nothing");
}

#[test]
fn faults_that_cannot_act_are_told_apart_and_nothing_certain_is_said() {
    let Some(_alone) = alone() else { return };
    // One round each, then everybody thinks until the end: nobody sends, nobody holds.
    let ran = run_file(
        "recipe = \"redis/set-nx\"\nttl = \"1s\"\ntime = \"5s\"\nseed = 9\nclients = 2\n[rates]\nthink_ms = [30000, 30000]\n\
         [[schedule]]\nkind = \"partition\"\ntarget = \"server\"\nat_ms = 3000\nlasts_ms = 500\n\
         [[schedule]]\nkind = \"pause\"\ntarget = \"holder\"\nat_ms = 3100\nlasts_ms = 500\n",
    );
    let result = |kind: &str| {
        let fault = ran.faults().iter().find(|fault| fault["kind"] == kind);
        fault.map_or("absent", |fault| fault["result"].as_str().unwrap_or_default())
    };
    ran.must(result("partition") == "no-effect", "nobody sent anything");
    ran.must(result("pause") == "failed", "nobody held anything");
    ran.must(ran.code == 2 && ran.verdict["verdict"] == "unknown", "nothing certain is said");
}

#[test]
fn without_contention_nothing_certain_is_said() {
    let Some(_alone) = alone() else { return };
    let ran = run("redis/set-nx", "--clients 1 --ttl 1s --time 2s --seed 10");
    ran.says(2, "exclusion=unknown");
    ran.must(ran.verdict["grants"]["total"].as_u64() > Some(0), "there were grants");
    ran.must(ran.verdict["grants"]["contended"].as_u64() == Some(0), "none was contended");
}
