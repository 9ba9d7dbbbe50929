//! What shows that a fault took effect, in a few words; the whole stands in `verdict.json`.

use serde_json::{Map, Value};

use crate::words::brief;

/// By node: the state of a paused process, the pids of a killed one, the packets dropped, the offset read back.
pub fn in_words(kind: &str, evidence: &Value) -> String {
    let Value::Object(nodes) = evidence else { return brief(evidence) };
    let told: Vec<(&String, String)> = nodes
        .iter()
        .map(|(node, shown)| {
            (node, shown.as_object().and_then(|shown| one(kind, shown)).unwrap_or_else(|| brief(shown)))
        })
        .collect();
    // Many nodes that show the same, such as all clocks by one offset, are told once.
    match told.as_slice() {
        [(_, first), rest @ ..] if !rest.is_empty() && rest.iter().all(|(_, text)| text == first) => {
            format!("{first} on each")
        }
        _ => told.iter().map(|(node, text)| format!("{node} {text}")).collect::<Vec<_>>().join("; "),
    }
}

fn one(kind: &str, shown: &Map<String, Value>) -> Option<String> {
    if let Some(error) = shown.get("error") {
        return Some(format!("error: {}", brief(error)));
    }
    let after = |key: &str| shown.get("after").and_then(|after| after.get(key));
    // Another fault of its kind was still under way on the node.
    let left_to = after("left_to").and_then(Value::as_array).and_then(|others| others.first());
    match kind {
        "pause" => Some(format!(
            "state {}, then {}",
            brief(shown.get("state")?),
            match left_to {
                Some(other) => format!("left to fault {other}"),
                None => after("state").map_or("?".into(), brief),
            }
        )),
        "kill" => Some(format!(
            "pid {} killed, {}",
            brief(shown.get("pid")?),
            match left_to {
                Some(other) => format!("left to fault {other}"),
                None => format!("{} started", after("new_pid").map_or("none".into(), brief)),
            }
        )),
        "partition" => Some(format!("{} packets dropped", shown.get("packets")?)),
        "clock" => {
            let first = |value: &Value| value.as_array().and_then(|values| values.first()?.as_f64());
            if let Some(observed) = shown.get("observed_ms").and_then(first) {
                return Some(format!("{:+.1} s read back", observed / 1000.0));
            }
            let wanted = shown.get("offset_ms")?.as_f64()? / 1000.0;
            // It was dead when its clock was moved.
            Some(match after("pids").and_then(first) {
                Some(pid) => format!("{wanted:+.1} s, started with it as pid {pid}"),
                None => format!("{wanted:+.1} s for nobody: its process did not run"),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::in_words;

    #[test]
    fn each_kind_is_told_shortly() {
        let pause = json!({ "c5": { "state": "T", "pids": [8], "after": { "state": "S", "pids": [8] } } });
        assert_eq!(in_words("pause", &pause), "c5 state T, then S");
        let kill = json!({ "s1": { "pid": 7, "after": { "new_pid": 35 } }, "s2": { "error": "gone" } });
        assert_eq!(in_words("kill", &kill), "s1 pid 7 killed, 35 started; s2 error: gone");
        let left = json!({ "c1": { "state": "T", "pids": [8], "after": { "left_to": [4] } } });
        assert_eq!(in_words("pause", &left), "c1 state T, then left to fault 4");
        let cut = json!({ "s2": { "packets": 41, "dropped": { "198.18.0.5": { "packets_in": 41 } } } });
        assert_eq!(in_words("partition", &cut), "s2 41 packets dropped");
        let clock = json!({ "s1": { "observed_ms": [6000.01] }, "c1": { "observed_ms": [5999.99] } });
        assert_eq!(in_words("clock", &clock), "+6.0 s read back on each");
        let dead = |pids: &[u32]| json!({ "s1": { "offset_ms": -2500, "pids": [], "after": { "offset_ms": 0, "pids": pids } } });
        assert_eq!(in_words("clock", &dead(&[9])), "s1 -2.5 s, started with it as pid 9");
        assert_eq!(in_words("clock", &dead(&[])), "s1 -2.5 s for nobody: its process did not run");
        assert_eq!(
            in_words("pause", &json!({ "reason": "nobody holds the lock" })),
            "reason nobody holds the lock"
        );
    }
}
