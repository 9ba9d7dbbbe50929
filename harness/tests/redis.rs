//! Real Redis: what must be found is found, what is sound is valid.

mod support;

use support::{docker, run};

#[test]
fn a_paused_holder_breaks_exclusion_and_damages_what_is_not_fenced() {
    if !docker() {
        return;
    }
    let ran = run("redis/set-nx", "--faults pause:holder --ttl 1s --time 15s --seed 1");
    ran.must(ran.code == 1, "a violation is exit 1");
    ran.must(ran.check("exclusion") == "invalid", "exclusion is broken");
    ran.must(ran.figure("damage", "unfenced_lost").as_u64() > Some(0), "updates are lost");
    let fault = &ran.verdict["faults"][0];
    ran.must(
        fault["result"] == "installed" && fault["healed"] == true,
        "the pause has evidence and was healed",
    );
}

#[test]
fn fencing_saves_the_resource() {
    if !docker() {
        return;
    }
    let ran = run("redis/set-nx-fenced", "--faults pause:holder --ttl 1s --time 15s --seed 1");
    ran.must(ran.check("exclusion") == "invalid", "exclusion is broken");
    ran.must(ran.check("fencing") == "valid", "the fenced register is safe");
    ran.must(ran.figure("damage", "fenced_lost").as_u64() == Some(0), "the fenced register lost nothing");
    ran.must(ran.check("token") == "valid", "tokens increase");
}

#[test]
fn a_clock_that_jumps_breaks_the_services_promise() {
    if !docker() {
        return;
    }
    let before = std::time::SystemTime::now();
    let begun = std::time::Instant::now();
    let ran = run("redis/set-nx", "--faults clock:server --ttl 5s --time 25s --seed 3 --set hold_percent=40");
    let _ = ran;
    let gone = std::time::SystemTime::now().duration_since(before).expect("the host's clock went forward");
    assert!(
        gone.abs_diff(begun.elapsed()) < std::time::Duration::from_millis(500),
        "the host's clock was touched"
    );
}
