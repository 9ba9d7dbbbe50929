use super::*;
use history::{History, ReadOptions, jsonl};

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Four clients take a lock in turn, two at a time with luck; most wait until it is free.
fn history(seed: u64) -> History {
    let mut random = Random(seed);
    let (mut text, mut time) = (String::new(), 0);
    let mut event = |time: &mut u64, passed: u64, client: u64, kind: &str, f: &str, more: &str| {
        *time += passed * 1_000_000;
        text.push_str(&format!(
            "{{\"time\":{time},\"process\":{client},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{{\"lock\":\"a\"{more}}}}}\n"
        ));
    };
    let with_tokens = random.below(2) == 0;
    // Of how many turns one goes wrong.
    let rarely = [12, 60, 600][random.below(3) as usize];
    event(&mut time, 0, 0, "invoke", "acquire", "");
    for turn in 0..60 {
        let (client, next) = (turn % 4, (turn + 1) % 4);
        let token = turn + 1 - 2 * u64::from(random.below(3 * rarely) == 0 && turn > 1);
        let token = if with_tokens { format!(",\"token\":{token}") } else { String::new() };
        let promise = format!(",\"ttl_ms\":20{token}");
        event(&mut time, random.below(3), client, "ok", "acquire", &promise);
        let waits_early = random.below(2) == 0;
        if waits_early {
            event(&mut time, random.below(5), next, "invoke", "acquire", "");
        }
        for _ in 0..random.below(3) {
            event(&mut time, random.below(5), client, "invoke", "renew", &token);
            event(&mut time, random.below(5), client, "ok", "renew", &promise);
        }
        match random.below(rarely) {
            0 => {}
            1..4 => time += 20_000_000,
            _ => {
                event(&mut time, random.below(5), client, "invoke", "release", &token);
                let outcome = if random.below(rarely) == 0 { "fail" } else { "ok" };
                event(&mut time, random.below(3), client, outcome, "release", &token);
            }
        }
        if !waits_early {
            event(&mut time, random.below(25), next, "invoke", "acquire", "");
        }
    }
    jsonl::read(text.as_bytes(), &ReadOptions { threads: 1, memory_max: None }).expect("it is well formed")
}

fn told(found: Found) -> Option<Vec<(u32, u32, bool)>> {
    match found {
        Found::Early(found) => Some(found.iter().map(|it| (it.first, it.second, it.certain)).collect()),
        Found::Undecided => None,
    }
}

#[test]
fn stretches_hold_what_a_whole_lock_does() {
    let (mut broken, mut sound, mut parts) = (0, 0, 0);
    for seed in 0..300 {
        let history = history(seed);
        let table = LockTable::new(&history, Reacquire::Defect);
        let promises =
            Promises { table: &table, drift_ns: 0, tokens_ordered: true, reacquire: Reacquire::Defect };
        let places: Vec<u32> = (0..table.promises.len() as u32).collect();
        let mut looked_at = Vec::new();
        let whole = stretches::each(&promises, |_, places| looked_at.extend_from_slice(places));
        let found: Vec<_> = by_lock(&promises).into_iter().map(told).collect();
        let of_all = told(as_a_whole(&Lock::of(&promises, &places)));
        assert_eq!(found, [of_all], "seed {seed}");
        match &found[0] {
            Some(found) if !found.is_empty() => broken += 1,
            _ => sound += 1,
        }
        assert!(looked_at.is_sorted(), "seed {seed}");
        parts += usize::from(!whole[0] && !looked_at.is_empty() && looked_at.len() < places.len());
    }
    assert!(broken > 50 && sound > 50 && parts > 50, "{broken} broken, {sound} sound, {parts} in part");
}
