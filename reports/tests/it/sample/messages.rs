use history::EventKind;
use reports::{message::Message, run::RunData};

use super::MS;

/// A run with messages: each operation is asked of `n1` and answered. Every 37th question is lost, every 41st answer
/// is late.
pub fn with_messages(run: RunData) -> RunData {
    let mut messages = Vec::new();
    for (i, event) in run.events.iter().enumerate() {
        let Some(client) = event.node.clone() else { continue };
        let (asks, says) = (event.kind == EventKind::Invoke, format!("{} <{}>", event.f, event.index));
        let way = if i % 41 == 0 { 20 * MS } else { MS / 5 };
        messages.push(match asks {
            true => Message {
                from: client,
                to: "n1".into(),
                sent_ns: event.time,
                arrived_ns: (i % 37 != 0).then_some(event.time + MS / 5),
                says,
            },
            false => Message {
                from: "n1".into(),
                to: client,
                sent_ns: event.time.saturating_sub(way),
                arrived_ns: Some(event.time),
                says,
            },
        });
    }
    messages.sort_by_key(|message| message.sent_ns);
    RunData { messages, ..run }
}
