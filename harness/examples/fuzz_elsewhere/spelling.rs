//! What the same events may look like, whatever the format.

use super::{
    history::{Event, Value},
    names::{self, Names, Style},
    objects::Object,
    random::Random,
};

/// Where an event names its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keying {
    /// First in a tuple: `[k v]`.
    Tuple,
    /// In a tuple as Jepsen's `independent` prints it: `#jepsen.independent.Tuple{:key k, :value v}`.
    Record,
    /// In a field of the event: `:key k`.
    Field,
    /// In the value: `{:key k, :value v}`.
    Map,
    /// In a field of the event: `:name k`; for locks.
    Name,
    /// It is the value, which has nothing else to tell; for locks whose names are plainly names.
    Alone,
}

impl Keying {
    /// What the field is called.
    pub fn field(self) -> &'static str {
        if self == Keying::Name { "name" } else { "key" }
    }
}

/// The formats, and what may vary within each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Format {
    /// EDN, a map a line.
    EdnLines,
    /// EDN, one vector.
    EdnVector,
    /// EDN, one list.
    EdnList,
    /// EDN, records one after another.
    EdnRecords,
    /// Jepsen's text, tabs between.
    TextTabs,
    /// Jepsen's log, with other messages between.
    TextLog,
    /// JSON Lines with times.
    JsonTimed,
    /// JSON Lines without times.
    JsonBare,
    /// Process, kind, operation, token.
    LockLines,
}

/// All of them.
pub const FORMATS: [Format; 9] = [
    Format::EdnLines,
    Format::EdnVector,
    Format::EdnList,
    Format::EdnRecords,
    Format::TextTabs,
    Format::TextLog,
    Format::JsonTimed,
    Format::JsonBare,
    Format::LockLines,
];

impl Format {
    /// As the table has it.
    pub fn name(self) -> &'static str {
        match self {
            Format::EdnLines => "edn-lines",
            Format::EdnVector => "edn-vector",
            Format::EdnList => "edn-list",
            Format::EdnRecords => "edn-records",
            Format::TextTabs => "text-tabs",
            Format::TextLog => "text-log",
            Format::JsonTimed => "json-timed",
            Format::JsonBare => "json-bare",
            Format::LockLines => "lock-lines",
        }
    }

    /// Whether it has words for these events.
    pub fn has(self, object: Object, events: &[Event]) -> bool {
        self != Format::LockLines || (object.is_lock() && events.iter().all(|event| event.key.is_none()))
    }
}

/// How one text is written.
#[derive(Clone, Debug)]
pub struct Spelling {
    pub format: Format,
    pub keying: Keying,
    /// Of JSON: whether events bear their indexes.
    pub has_index: bool,
    /// The first of them.
    pub index_from: usize,
    /// Of JSON: whether there are spaces.
    pub spaced: bool,
    /// Of JSON with times and without indexes: whether lines are in any order.
    pub shuffled: bool,
    /// What operations are called instead.
    names: Names,
    /// How their names are written.
    style: Style,
}

impl Spelling {
    /// One that the format permits.
    pub fn draw(
        format: Format,
        object: Object,
        named: bool,
        events: &[Event],
        random: &mut Random,
    ) -> Spelling {
        let is_text = matches!(format, Format::TextTabs | Format::TextLog);
        let is_json = matches!(format, Format::JsonTimed | Format::JsonBare);
        let is_alone = |event: &Event| event.value == Value::Nil && matches!(event.key, Some(Value::Uuid(_)));
        let mut keyings = vec![Keying::Tuple, Keying::Map];
        if !is_text {
            keyings.push(Keying::Field);
            keyings.extend(object.is_lock().then_some(Keying::Name));
        }
        keyings.extend((!is_json).then_some(Keying::Record));
        if object.is_lock() && !is_json && events.iter().all(is_alone) {
            keyings.push(Keying::Alone);
        }
        let has_index = random.chance(30);
        // Of what is only read little is known but how it is called.
        let reads_only = events.iter().all(|event| event.f == "read");
        Spelling {
            format,
            keying: *random.pick(&keyings),
            has_index,
            shuffled: format == Format::JsonTimed && !has_index && random.chance(20),
            index_from: random.below(2),
            spaced: random.chance(30),
            names: if reads_only && !named { &[] } else { names::draw(object, named, random) },
            style: if format == Format::LockLines { Style::Plain } else { Style::draw(random) },
        }
    }

    /// What the operation is called here.
    pub fn name(&self, f: &'static str) -> String {
        self.style.write(self.names.iter().find(|(own, _)| *own == f).map_or(f, |(_, other)| other))
    }
}
