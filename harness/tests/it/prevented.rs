//! What a recipe's table says would have prevented a violation does, in simulation; what it says does not, does not.

use std::{collections::BTreeSet, rc::Rc};

use harness::{
    campaigns::{explore::with_seed, simulate::try_out},
    experiment::{Experiment, Flags, On},
};
use history::verdict::Verdict;

/// A recipe under a fault, with settings such as `persistence=always` and a version where they are not the usual ones.
#[derive(Clone, Copy)]
struct Try {
    recipe: &'static str,
    faults: &'static str,
    settings: &'static [&'static str],
    version: Option<&'static str>,
}

const SEEDS: u64 = 15;

const fn tried(recipe: &'static str, faults: &'static str) -> Try {
    Try { recipe, faults, settings: &[], version: None }
}

impl Try {
    const fn set(self, settings: &'static [&'static str]) -> Try {
        Try { settings, ..self }
    }

    const fn version(self, version: &'static str) -> Try {
        Try { version: Some(version), ..self }
    }

    /// The checks that some seed violates.
    fn breaks(self) -> BTreeSet<String> {
        let flags = Flags {
            on: Some(On::Sim),
            faults: Some(self.faults.into()),
            time: Some("10s".into()),
            seed: Some(1),
            version: self.version.map(str::to_owned),
            settings: self.settings.iter().map(|setting| setting.to_string()).collect(),
            ..Flags::default()
        };
        let base =
            Experiment::resolve(self.recipe, &flags).unwrap_or_else(|why| panic!("{}: {why}", self.recipe));
        let mut broken = BTreeSet::new();
        for seed in 1..=SEEDS {
            let experiment = with_seed(&base, seed).expect("the faults fit");
            let judgement = try_out(&Rc::new(experiment)).expect("the run ends").judged.judgement;
            let invalid = judgement.checks.into_iter().filter(|(_, check)| check.verdict == Verdict::Invalid);
            broken.extend(invalid.map(|(name, _)| name));
        }
        broken
    }
}

#[test]
fn what_would_have_prevented_it_does() {
    let always = &["persistence=always"];
    let fenced = tried("redis/set-nx-fenced", "kill:server");
    let redlock = tried("redis/redlock", "kill:all");
    let hole = tried("etcd/lock-rpc", "pause:server,pause:waiter").version("3.4.23");
    for (broken, check, prevented) in [
        (tried("redis/set-nx", "pause:holder"), "deadline", tried("redis/set-nx-aware", "pause:holder")),
        (
            tried("redis/set-nx-lease", "kill:server"),
            "deadline",
            tried("redis/set-nx-lease-aware", "pause:all"),
        ),
        (tried("redis/set-nx", "clock:server"), "promise", tried("etcd/lease-lock", "clock:all")),
        (fenced, "promise", fenced.set(always)),
        (fenced, "token", fenced.set(always)),
        (redlock, "promise", redlock.set(always)),
        (tried("redis/sentinel", "kill:leader"), "token", tried("zookeeper/lock", "kill:leader")),
        (tried("etcd/lock-rpc", "pause:waiter"), "exclusion", tried("etcd/lock-rpc-aware", "pause:waiter")),
        (hole, "exclusion", Try { recipe: "etcd/lock-rpc-aware", ..hole }),
    ] {
        assert!(broken.breaks().contains(check), "{} under {}: {check}", broken.recipe, broken.faults);
        let left = prevented.breaks();
        assert!(left.is_empty(), "{} under {}: {left:?}", prevented.recipe, prevented.faults);
    }
}

#[test]
fn waiting_for_replicas_does_not_prevent_it() {
    let waits = tried("redis/sentinel", "kill:leader,partition:leader").set(&["wait_replicas=1"]);
    let broken = waits.breaks();
    assert!(broken.contains("token") || broken.contains("promise"), "{broken:?}");
}
