//! What shows that a fault took effect, in a few words; the whole stands in `verdict.json`.

use history::judgement::FaultRecord;
use serde_json::Value;

use crate::words::brief;

/// By node: in the words that come with the fault, or as it stands.
pub fn in_words(fault: &FaultRecord) -> String {
    let Value::Object(nodes) = &fault.evidence else { return brief(&fault.evidence) };
    let of_node = |node: &String, shown: &Value| match fault.shown.get(node) {
        Some(words) => words.clone(),
        None => brief(shown),
    };
    let told: Vec<(&String, String)> =
        nodes.iter().map(|(node, shown)| (node, of_node(node, shown))).collect();
    // Many nodes that show the same, such as all clocks by one offset, are told once.
    match told.as_slice() {
        [(_, first), rest @ ..] if !rest.is_empty() && rest.iter().all(|(_, text)| text == first) => {
            format!("{first} on each")
        }
        _ => told.iter().map(|(node, text)| format!("{node} {text}")).collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(evidence: Value, shown: &[(&str, &str)]) -> String {
        let shown = shown.iter().map(|(node, words)| (node.to_string(), words.to_string())).collect();
        in_words(&FaultRecord {
            id: 1,
            kind: "flood".into(),
            targets: Vec::new(),
            start_ns: 0,
            end_ns: None,
            result: "installed".into(),
            healed: true,
            evidence,
            phrase: String::new(),
            shown,
        })
    }

    #[test]
    fn each_node_is_told_in_the_words_that_come_with_it() {
        let two = json!({ "s1": { "litres": 9 }, "s2": { "litres": 7 } });
        assert_eq!(told(two.clone(), &[("s1", "9 l came in")]), "s1 9 l came in; s2 litres 7");
        assert_eq!(told(two, &[("s1", "wet"), ("s2", "wet")]), "wet on each");
        assert_eq!(told(json!({ "reason": "nobody holds the lock" }), &[]), "reason nobody holds the lock");
    }
}
