//! Which messages are drawn: a run has thousands.

use crate::message::Message;
use crate::{run::RunData, timeline::Timeline, violations::numbered};

/// Messages in one diagram.
pub const SHOWN_MAX: usize = 200;
/// A message that took so many times the median is late.
const LATE: u64 = 10;

/// What is drawn, in order of sending.
pub struct Window<'a> {
    /// The messages.
    pub messages: Vec<&'a Message>,
    /// The moment or span they stand around, nanoseconds since the run began, where something was violated.
    pub violation: Option<(u64, u64)>,
    /// How they were chosen, in words.
    pub choice: String,
    /// Longer than this on the way is late, nanoseconds.
    pub late_ns: u64,
}

/// All messages if they fit. Otherwise those nearest in time to the first violation: first those of the clients that
/// it names, then any other; without a violation the first of the run.
pub fn choose<'a>(run: &'a RunData, timeline: &Timeline) -> Window<'a> {
    let violations = numbered(&run.judgement);
    let first = violations.first().map(|first| first.violation);
    let violation = first.map(|first| (first.start_ns, first.end_ns.max(first.start_ns)));
    let named: Vec<&str> = first.map_or_else(Vec::new, |first| {
        let operations = first.operations.iter().filter_map(|index| timeline.operation_of(*index));
        let mut names: Vec<&str> = operations
            .map(|operation| timeline.lanes[timeline.operations[operation].lane].name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    });
    let (start, end) = violation.unwrap_or_default();
    let involved = |message: &Message| named.iter().any(|name| message.from == *name || message.to == *name);
    let away = |message: &Message| match message.sent_ns {
        sent if sent < start => start - sent,
        sent => sent.saturating_sub(end),
    };
    let mut messages: Vec<&Message> = run.messages.iter().collect();
    messages.sort_by_key(|message| (!involved(message), away(message)));
    messages.truncate(SHOWN_MAX);
    let choice = in_words(messages.len(), run.messages.len(), violation.is_some(), &named);
    messages.sort_by_key(|message| message.sent_ns);
    let late_ns = LATE * median_ns(&run.messages).max(1);
    Window { messages, violation, choice, late_ns }
}

fn in_words(shown: usize, of: usize, violated: bool, named: &[&str]) -> String {
    match (shown < of, violated, named) {
        (false, ..) => format!("All {of} messages of the run."),
        (true, false, _) => format!("The first {shown} of {of} messages; nothing was violated."),
        (true, true, []) => {
            format!("{shown} of {of} messages: those nearest in time to the first violation.")
        }
        (true, true, named) => format!(
            "{shown} of {of} messages: those of {} nearest in time to the first violation, then others near it.",
            named.join(" and ")
        ),
    }
}

fn median_ns(messages: &[Message]) -> u64 {
    let mut took: Vec<u64> = messages.iter().filter_map(Message::took_ns).collect();
    let middle = took.len() / 2;
    if took.is_empty() { 0 } else { *took.select_nth_unstable(middle).1 }
}
