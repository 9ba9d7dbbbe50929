//! Properties of drawn schedules, and one draw that must never change.

use nemesis::{
    kind::{Fault, FaultKind, clock::Asked},
    plan::{FaultSpec, Plan},
    schedule::{Schedule, ScheduledFault},
    target::Target,
};
use proptest::prelude::*;

fn draw(plan: &str, seed: u64, run_ms: u64, ttl_ms: u64) -> Schedule {
    Schedule::draw(&plan.parse().unwrap(), seed, run_ms, ttl_ms).unwrap()
}

#[test]
fn one_draw_never_changes() {
    let drawn = draw("pause:holder,clock:server,partition:leader,kill", 1, 14_000, 2000);
    let lines: String = drawn.faults.iter().map(|fault| format!("{fault}  seed {}\n", fault.seed)).collect();
    assert_eq!(lines, include_str!("golden/schedule.txt"), "\n{lines}");
}

#[test]
fn rolling_takes_turns_three_within_a_ttl() {
    let drawn = draw("kill:rolling", 1, 20_000, 2000);
    let turns: Vec<u64> = drawn.faults.iter().map(|fault| fault.seed).collect();
    assert_eq!(turns, (0..turns.len() as u64).collect::<Vec<_>>());
    assert!(drawn.faults.windows(3).all(|turns| turns[2].end_ms() - turns[0].at_ms < 2000), "{drawn}");
}

/// A year of faults every few milliseconds would be drawn until no memory is left.
#[test]
fn no_run_has_faults_without_number() {
    let mut plan: Plan = "pause:holder".parse().unwrap();
    plan.faults[0].every = Some("1ms".parse().unwrap());
    let year_ms = 365 * 24 * 3_600_000;
    let error = Schedule::draw(&plan, 1, year_ms, 100).unwrap_err().to_string();
    assert!(error.starts_with("pause: more than 60000 faults do not fit into one run"), "{error}");
    let day_ms = 24 * 3_600_000;
    assert!(draw("pause,kill,partition,clock", 1, day_ms, 2000).faults.len() > 50_000, "a day of all");
    let twice: Plan = "pause,pause,pause,pause,pause".parse().unwrap();
    assert!(Schedule::draw(&twice, 1, day_ms, 2000).is_err(), "all together count");
}

fn plans() -> impl Strategy<Value = Plan> {
    let spec = (0..FaultKind::ALL.len(), any::<prop::sample::Index>()).prop_map(|(kind, target)| {
        let kind = FaultKind::ALL[kind];
        let targets: Vec<_> =
            kind.info().targets.iter().filter(|target| **target != Target::Groups).collect();
        FaultSpec::new(kind, target.get(&targets).to_owned().clone())
    });
    prop::collection::vec(spec, 1..5).prop_map(|faults| Plan { faults })
}

/// Faults of one specification; specifications are told apart by kind and target.
fn of<'a>(schedule: &'a Schedule, spec: &FaultSpec) -> Vec<&'a ScheduledFault> {
    schedule
        .faults
        .iter()
        .filter(|fault| fault.kind() == spec.kind() && fault.target == spec.target)
        .collect()
}

fn jump_ms(fault: &ScheduledFault) -> i64 {
    match &fault.fault {
        Fault::Clock(clock) => clock.by_ms,
        other => panic!("{other:?} is no clock"),
    }
}

proptest! {
    #[test]
    fn schedules_keep_their_promises(plan in plans(), seed: u64, run_ms in 400u64..60_000, ttl_ms in 50u64..10_000) {
        let schedule = Schedule::draw(&plan, seed, run_ms, ttl_ms).unwrap();
        prop_assert_eq!(&schedule, &Schedule::draw(&plan, seed, run_ms, ttl_ms).unwrap());
        for (fault, id) in schedule.faults.iter().zip(1..) {
            prop_assert_eq!(fault.id, id);
            prop_assert!(fault.lasts_ms > 0 && fault.end_ms() < run_ms, "{}", fault);
            prop_assert!(fault.seed < 1 << 53);
        }
        prop_assert!(schedule.faults.is_sorted_by_key(|fault| fault.at_ms));
        for spec in &plan.faults {
            let faults = of(&schedule, spec);
            prop_assert!(!faults.is_empty() && faults[0].at_ms <= ttl_ms);
            let twins = plan.faults.iter().filter(|other| *other == spec).count();
            prop_assert!(twins > 1 || faults.windows(2).all(|pair| pair[0].end_ms() < pair[1].at_ms));
            if spec.kind() == FaultKind::Clock && spec.target.may_be_server() {
                prop_assert!(faults.iter().any(|fault| jump_ms(fault) >= ttl_ms as i64));
            }
        }
    }

    #[test]
    fn another_specification_disturbs_none(plan in plans(), seed: u64) {
        let alone = Plan { faults: plan.faults[..1].to_vec() };
        let strip = |schedule: &Schedule| -> Vec<ScheduledFault> {
            let faults = of(schedule, &plan.faults[0]).into_iter();
            faults.map(|fault| ScheduledFault { id: 0, ..fault.clone() }).collect()
        };
        let all = Schedule::draw(&plan, seed, 30_000, 2000).unwrap();
        let alone = Schedule::draw(&alone, seed, 30_000, 2000).unwrap();
        let all = strip(&all);
        prop_assert!(strip(&alone).iter().all(|fault| all.contains(fault)));
    }

    #[test]
    fn saved_schedules_read_back(plan in plans(), seed: u64) {
        let schedule = Schedule::draw(&plan, seed, 30_000, 2000).unwrap();
        let json = serde_json::to_string(&schedule).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Schedule>(&json).unwrap(), &schedule);
        let table = std::collections::BTreeMap::from([("schedule", &schedule)]);
        let read: std::collections::BTreeMap<String, Schedule> =
            toml::from_str(&toml::to_string(&table).unwrap()).unwrap();
        prop_assert_eq!(&read["schedule"], &schedule);
        prop_assert_eq!(&Schedule::given(schedule.faults.clone(), 30_000).unwrap(), &schedule);
    }

    #[test]
    fn no_text_makes_a_plan_panic(text in "[a-z0-9:,. ±\\-]{0,24}") {
        let _ = text.parse::<Plan>().map_err(|error| error.to_string());
        let _ = text.parse::<nemesis::duration::OffsetRange>().map_err(|error| error.to_string());
    }
}

#[test]
fn given_lengths_that_do_not_fit_are_refused() {
    let mut plan: Plan = "pause:holder".parse().unwrap();
    plan.faults[0].lasts = Some("5s".parse().unwrap());
    let refused = Schedule::draw(&plan, 1, 3000, 2000).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a pause of 5s does not fit into a run of 3s: make the run longer or the fault shorter"
    );
}

/// A jump by nothing is no fault, and would be refused where the schedule is read again.
#[test]
fn no_clock_is_drawn_to_jump_by_nothing() {
    let mut plan: Plan = "clock".parse().unwrap();
    for by in ["-1ms..1ms", "0ms..1ms", "-1ms..0ms"] {
        plan.faults[0].asked = Asked { by: Some(by.parse().unwrap()) }.into();
        let schedule = Schedule::draw(&plan, 1, 600_000, 2000).unwrap();
        assert!(schedule.faults.len() > 50, "{by}");
        assert_eq!(Schedule::given(schedule.faults, 600_000).err(), None, "{by}");
    }
}

#[test]
fn given_schedules_are_checked() {
    let read = |text: &str| -> Result<Schedule, String> {
        let faults: std::collections::BTreeMap<String, Vec<ScheduledFault>> =
            toml::from_str(text).map_err(|error| error.to_string())?;
        Schedule::given(faults["schedule"].clone(), 10_000).map_err(|error| error.to_string())
    };
    let later = "[[schedule]]\nkind = \"kill\"\ntarget = \"s2\"\nat_ms = 5000\nlasts_ms = 1000\n";
    let clock = "[[schedule]]\nkind = \"clock\"\ntarget = \"s1\"\nat_ms = 1000\nlasts_ms = 1000\n";
    let both = read(&format!("{later}{clock}params = {{ by_ms = 3000 }}\n")).unwrap();
    assert_eq!(
        both.faults.iter().map(|fault| (fault.id, fault.kind().name())).collect::<Vec<_>>(),
        [(1, "clock"), (2, "kill")]
    );
    assert_eq!(read(clock).unwrap_err(), "clock: a scheduled clock fault needs `by_ms`");
    for beyond in ["9223372036854775807", "-9223372036854775808", "31622400001"] {
        assert_eq!(
            read(&format!("{clock}params = {{ by_ms = {beyond} }}\n")).unwrap_err(),
            "clock: `by_ms` is out of range: a clock jumps by at most a year, 31622400000 ms, either way"
        );
    }
    assert!(read(&format!("{clock}params = {{ by_ms = -31622400000 }}\n")).is_ok());
    let late = later.replace("5000", "9500");
    assert!(read(&late).unwrap_err().starts_with("kill: it must end before the run does"));
    let foreign = read(&format!("{later}params = {{ by_ms = 3000 }}\n")).unwrap_err();
    assert!(foreign.contains("kill: `by_ms` belongs to clock faults"), "{foreign}");
    assert!(foreign.contains("line 6"), "{foreign}");
    let before = later.replace("kind", "params = { by = 3000 }\nkind");
    assert!(read(&before).unwrap_err().contains("unknown field `by`"), "though the kind comes later");
    let before = clock.replace("kind", "params = { by_ms = 3000 }\nkind");
    assert_eq!(read(&before).unwrap().to_string(), " 1    1.000 s  clock     s1       for 1.000 s  by +3s\n");
    assert!(read(&later.replace("s2", "resource")).unwrap_err().starts_with("`kill` cannot hit `resource`"));
    assert!(read(&later.replace("target", "targt")).unwrap_err().contains("unknown field `targt`"));
}

#[test]
fn a_clock_is_planned_to_jump_by_a_year_at_most() {
    let mut plan: Plan = "clock".parse().unwrap();
    let by = nemesis::duration::OffsetRange { from_ms: i64::MIN, to_ms: 3000 };
    plan.faults[0].asked = Asked { by: Some(by) }.into();
    assert!(plan.check().unwrap_err().to_string().starts_with("clock: `by` is out of range"));
}
