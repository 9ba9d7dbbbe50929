use history::EventKind;
use serde_json::{Value, json};

use super::{MS, recording::Recording};

const TTL_MS: u64 = 1_500;

/// Three clients in turn; the second is paused while it holds, the third killed.
pub fn play(recording: &mut Recording) {
    let lock = json!({"lock": "a"});
    let grant = |token: u64, asked_ms: u64| json!({"lock": "a", "token": token, "ttl_ms": TTL_MS, "deadline_ns": (asked_ms + TTL_MS) * MS});
    let mut op = |client, f: &str, ms: (u64, u64), asked: &Value, end: (EventKind, Value)| {
        recording.operation(client, f, (ms.0 * MS, ms.1 * MS), asked.clone(), end)
    };
    op(0, "acquire", (100, 104), &lock, (EventKind::Ok, grant(1, 100)));
    for at in [900, 1_800, 2_700] {
        op(0, "renew", (at, at + 6), &json!({"lock": "a", "token": 1}), (EventKind::Ok, grant(1, at)));
    }
    op(0, "release", (3_400, 3_403), &lock, (EventKind::Ok, lock.clone()));
    op(1, "acquire", (120, 3_410), &lock, (EventKind::Ok, grant(2, 3_404)));
    let over = json!({"lock": "a", "token": 2, "cause": "deadline"});
    op(1, "lapse", (6_204, 6_204), &over, (EventKind::Ok, over.clone()));
    op(2, "acquire", (130, 6_300), &lock, (EventKind::Ok, grant(3, 6_290)));
    op(2, "renew", (7_000, 7_500), &json!({"lock": "a", "token": 3}), (EventKind::Info, Value::Null));
    op(0, "observe", (8_000, 8_002), &lock, (EventKind::Ok, json!({"lock": "a", "leader": null})));
    recording.fault("pause", &["c2"], (3_800, 6_200), "installed", json!({"state": "T"}));
    recording.fault("kill", &["c3"], (7_400, 8_500), "installed", json!({"signal": 9}));
}
