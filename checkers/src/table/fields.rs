//! What the table needs of an event, read in one pass over its value.

use history::{Action, History, Row, Words};

/// Reads events of one history.
pub(super) struct Reader {
    actions: Words<{ Action::ALL.len() }>,
    fields: Words<{ FIELDS.len() }>,
}

const FIELDS: [&str; 7] = ["lock", "token", "ttl_ms", "asked_ns", "deadline_ns", "fenced_refused", "leader"];

/// The fields of an event's value; of those that it has twice the first counts. A field of the wrong type is absent.
#[derive(Default)]
pub(super) struct Fields<'h> {
    pub(super) lock: Option<&'h str>,
    pub(super) token: Option<i128>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) asked_ns: Option<u64>,
    pub(super) deadline_ns: Option<u64>,
    pub(super) refused: bool,
    pub(super) leader: Option<&'h str>,
}

impl Reader {
    pub(super) fn new(history: &History) -> Reader {
        Reader {
            actions: Words::new(history, Action::ALL.map(Action::name)),
            fields: Words::new(history, FIELDS),
        }
    }

    /// What the event's client does; `None` is of no concern here.
    pub(super) fn action(&self, row: Row<'_>) -> Option<Action> {
        self.actions.operation(row).map(|place| Action::ALL[place])
    }

    pub(super) fn fields<'h>(&self, row: Row<'h>) -> Fields<'h> {
        let mut fields = Fields::default();
        let mut seen = [false; FIELDS.len()];
        for (place, value) in self.fields.entries(row.value()) {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            match place {
                0 => fields.lock = value.as_str(),
                1 => fields.token = value.as_whole(),
                2 => fields.ttl_ms = value.as_count(),
                3 => fields.asked_ns = value.as_count(),
                4 => fields.deadline_ns = value.as_count(),
                5 => fields.refused = value.as_bool() == Some(true),
                _ => fields.leader = value.as_str(),
            }
        }
        fields
    }
}
