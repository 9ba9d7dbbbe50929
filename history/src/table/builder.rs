use super::encode::Encoder;
use super::indexes::Indexes;
use super::names::{NameCache, SharedNames};
use super::rows::{ERROR, History, NEMESIS, Slot, UNTIMED};
use super::value::Value;
use crate::names::LOCK;
use crate::{Event, EventKind, Process};

/// A history that is built event by event, for whoever need not keep the events themselves.
pub struct HistoryBuilder {
    names: SharedNames,
    segment: Segment,
}

impl Default for HistoryBuilder {
    fn default() -> Self {
        let names = SharedNames::default();
        HistoryBuilder { segment: Segment::new(&names), names }
    }
}

impl HistoryBuilder {
    /// Adds an event; its position becomes its index.
    pub fn push(&mut self, event: &Event) {
        let segment = &mut self.segment;
        let mark = segment.mark();
        segment.encoder().json(&event.value);
        let head = Head {
            line: segment.rows.len() as u64 + 1,
            index: None,
            time: Some(event.time),
            process: event.process,
            kind: event.kind,
            f: segment.name(&event.f),
            node: event.node.as_deref().map(|node| segment.name(node)),
            error: event.error.as_deref(),
        };
        segment.push(mark, &head);
    }

    /// The history of all events so far.
    pub fn finish(mut self) -> History {
        let mut history = History::default();
        self.segment.append_to(&mut history);
        history.seal(&self.names);
        history
    }
}

impl History {
    /// The events in the order given, with their positions as indexes.
    pub fn from_events<'e>(events: impl IntoIterator<Item = &'e Event>) -> History {
        let mut builder = HistoryBuilder::default();
        events.into_iter().for_each(|event| builder.push(event));
        builder.finish()
    }
}

/// A run of events under construction; one thread fills it, then it is appended to the whole.
pub(crate) struct Segment {
    pub(crate) names: NameCache,
    rows: Vec<Slot>,
    arena: Vec<u8>,
    indexes: Indexes,
}

/// Where a packed value begins and ends.
pub(crate) type Span = (usize, usize);

/// What an event has beside its value.
pub(crate) struct Head<'a> {
    pub line: u64,
    pub index: Option<u64>,
    pub time: Option<u64>,
    pub process: Process,
    pub kind: EventKind,
    pub f: u32,
    pub node: Option<u32>,
    pub error: Option<&'a str>,
}

impl Segment {
    pub(crate) fn new(names: &SharedNames) -> Self {
        Self {
            names: NameCache::new(names),
            rows: Vec::new(),
            arena: Vec::new(),
            indexes: Indexes::default(),
        }
    }

    /// Where the next value begins; write it with [`encoder`](Self::encoder), then [`push`](Self::push) its event.
    pub(crate) fn mark(&self) -> usize {
        self.arena.len()
    }

    pub(crate) fn encoder(&mut self) -> Encoder<'_> {
        Encoder { arena: &mut self.arena, names: &mut self.names }
    }

    pub(crate) fn name(&mut self, name: &str) -> u32 {
        self.names.intern(name)
    }

    /// Forgets what was written since the mark.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.arena.truncate(mark);
    }

    /// The text of the value at the mark: of a string, keyword or symbol its own, else as EDN writes it. `None` for
    /// null.
    pub(crate) fn text(&self, mark: usize) -> Option<String> {
        self.names.with(|names| {
            let value = Value::new(&self.arena[mark..], names);
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (!value.is_null()).then_some(text)
        })
    }

    /// Puts the name of the event's object, if it has one of its own, and its value into one object with the name's field
    /// and `value`. A `lock` or `name` is that of an object only in an acquire or release.
    pub(crate) fn join(
        &mut self,
        mark: usize,
        f: u32,
        key: Option<(&'static str, Span)>,
        value: Option<Span>,
    ) {
        if key.is_none() {
            return;
        }
        let is_lock =
            |f| self.names.with(|names| LOCK.operation(names.get(f)).is_some_and(|it| !it.is_empty()));
        let key = key.filter(|(name, _)| *name == "key" || is_lock(f));
        let part = |(start, end)| self.arena[start..end].to_vec();
        let (key, value) = (key.map(|(name, span)| (name, part(span))), value.map(part));
        let Some((name, key)) = key else {
            self.rewind(mark);
            self.encoder().packed_or_null(value.as_deref());
            return;
        };
        self.rewind(mark);
        let mut out = self.encoder();
        out.begin_object();
        out.key(name);
        out.packed(&key);
        out.key("value");
        out.packed_or_null(value.as_deref());
        out.end_object();
    }

    /// Ends the event whose value was written since the mark.
    pub(crate) fn push(&mut self, mark: usize, head: &Head<'_>) {
        if self.arena.len() == mark {
            self.encoder().null();
        }
        let (process, nemesis) = match head.process {
            Process::Client(number) => (number, 0),
            Process::Nemesis => (0, NEMESIS),
        };
        let mut flags = nemesis | kind_bits(head.kind);
        if let Some(error) = head.error {
            self.encoder().string(error);
            flags |= ERROR;
        }
        if head.time.is_none() {
            flags |= UNTIMED;
        }
        if let Some(index) = head.index {
            self.indexes.add(self.rows.len() as u64, index);
        }
        self.rows.push(Slot {
            time: head.time.unwrap_or_else(|| self.rows.last().map_or(0, |row| row.time)),
            value: flags | mark as u64,
            process,
            line: u32::try_from(head.line).unwrap_or(u32::MAX),
            f: head.f,
            node: head.node.map_or(0, |node| node + 1),
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Moves all events to the end of the history.
    pub(crate) fn append_to(&mut self, history: &mut History) {
        history.append(&self.rows, &self.arena, self.indexes);
        self.rows.clear();
        self.arena.clear();
        self.indexes = Indexes::default();
    }

    /// Bytes, about.
    pub(crate) fn memory(&self) -> usize {
        self.rows.len() * size_of::<Slot>() + self.arena.len()
    }
}

fn kind_bits(kind: EventKind) -> u64 {
    let kind: u64 = match kind {
        EventKind::Invoke => 0,
        EventKind::Ok => 1,
        EventKind::Fail => 2,
        EventKind::Info => 3,
    };
    kind << super::rows::KIND_SHIFT
}
