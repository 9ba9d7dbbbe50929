//! What the table needs of an event, read in one pass over its value.

use history::{History, Row, Words};

/// What an operation of a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Acquire,
    Campaign,
    Renew,
    /// A keepalive that was answered in the background.
    Renewed,
    Release,
    Resign,
    Lapse,
    Read,
    Write,
    Observe,
    Other,
}

impl Verb {
    const ALL: [(&'static str, Verb); 10] = [
        ("acquire", Verb::Acquire),
        ("campaign", Verb::Campaign),
        ("renew", Verb::Renew),
        ("renewed", Verb::Renewed),
        ("release", Verb::Release),
        ("resign", Verb::Resign),
        ("lapse", Verb::Lapse),
        ("read", Verb::Read),
        ("write", Verb::Write),
        ("observe", Verb::Observe),
    ];

    /// Whether it is done under a grant.
    pub(super) fn is_use(self) -> bool {
        !matches!(self, Verb::Acquire | Verb::Campaign | Verb::Observe | Verb::Other)
    }

    /// As [`is_notice`](history::is_notice).
    pub(super) fn is_notice(self) -> bool {
        matches!(self, Verb::Renewed | Verb::Lapse)
    }
}

/// Reads events of one history.
pub(super) struct Reader {
    verbs: Words<{ Verb::ALL.len() }>,
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
            verbs: Words::new(history, Verb::ALL.map(|(name, _)| name)),
            fields: Words::new(history, FIELDS),
        }
    }

    pub(super) fn verb(&self, row: Row<'_>) -> Verb {
        self.verbs.operation(row).map_or(Verb::Other, |place| Verb::ALL[place].1)
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
