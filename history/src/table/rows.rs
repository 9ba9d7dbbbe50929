use super::indexes::Indexes;
use super::names::{Names, SharedNames};
use super::value::Value;
use crate::{Event, EventKind, Process, ResourceEntry};

/// The low bits of [`Slot::value`] are the offset in the arena.
const OFFSET: u64 = (1 << 48) - 1;
pub(super) const KIND_SHIFT: u32 = 48;
pub(super) const NEMESIS: u64 = 1 << 50;
/// The error's text follows the value.
pub(super) const ERROR: u64 = 1 << 51;
/// The source gave no time; the event before lends its own.
pub(super) const UNTIMED: u64 = 1 << 52;

/// A history: events in order, and the protected resource's own log beside them.
#[derive(Clone, Debug, Default)]
pub struct History {
    rows: Vec<Slot>,
    arena: Vec<u8>,
    names: Names,
    indexes: Indexes,
    /// The resource's log, in its serial order; empty where there is none.
    pub resource: Vec<ResourceEntry>,
    /// What a reader had to say beside the events, such as that a torn last line was dropped.
    pub notes: Vec<String>,
}

/// One event of a history; copying it costs nothing.
#[derive(Clone, Copy)]
pub struct Row<'h> {
    history: &'h History,
    slot: &'h Slot,
    index: usize,
}

/// 32 bytes an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) time: u64,
    /// Offset in the arena, kind and flags.
    pub(super) value: u64,
    pub(super) process: u32,
    pub(super) line: u32,
    pub(super) f: u32,
    /// 0 for none, else the name's number plus 1.
    pub(super) node: u32,
}

impl History {
    /// Number of events.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The event at this position.
    ///
    /// # Panics
    /// Where there is none.
    pub fn row(&self, index: usize) -> Row<'_> {
        Row { history: self, slot: &self.rows[index], index }
    }

    /// All events in order.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row<'_>> + ExactSizeIterator + Clone {
        self.rows.iter().enumerate().map(|(index, slot)| Row { history: self, slot, index })
    }

    /// All events in order, each as an owned [`Event`].
    pub fn events(&self) -> impl Iterator<Item = Event> {
        self.rows().map(Row::to_event)
    }

    /// Whether the source gave every event its time. Where not, an event has the time of the one before it.
    pub fn is_timed(&self) -> bool {
        self.rows.iter().all(|slot| slot.value & UNTIMED == 0)
    }

    /// Takes the events' order for their time, one nanosecond an event, where the source gave no times.
    pub fn time_by_order(&mut self) {
        for (position, slot) in (0..).zip(&mut self.rows) {
            slot.time = position;
        }
    }

    /// Whether the source numbered its events, before they are sorted: a recorder that never came to its end left them
    /// at 0.
    pub fn is_numbered(&self) -> bool {
        self.len() < 2 || self.indexes.numbered()
    }

    /// Bytes that the events occupy, about.
    pub fn memory(&self) -> usize {
        self.rows.len() * size_of::<Slot>() + self.arena.len() + self.names.memory()
    }

    /// Takes rows with the arena that their values lie in; their names are the shared ones of this history.
    pub(super) fn append(&mut self, slots: &[Slot], arena: &[u8], indexes: Indexes) {
        let (rows, base) = (self.rows.len() as u64, self.arena.len() as u64);
        let last = self.rows.last().map_or(0, |row| row.time);
        self.rows.extend(slots.iter().map(|slot| Slot { value: slot.value + base, ..*slot }));
        for slot in self.rows[rows as usize..].iter_mut().take_while(|slot| slot.value & UNTIMED != 0) {
            slot.time = last;
        }
        self.arena.extend_from_slice(arena);
        self.indexes.append(rows, indexes);
    }

    /// Takes over the names once all segments are in.
    pub(crate) fn seal(&mut self, names: &SharedNames) {
        self.names = names.snapshot();
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn indexes(&self) -> &Indexes {
        &self.indexes
    }

    /// Puts the rows from the first on into the order of these positions, in place: one cycle after another, and what
    /// is where it belongs stands for itself in the order.
    pub(crate) fn permute(&mut self, first: usize, order: &mut [u32]) {
        for start in 0..order.len() {
            let mut place = start;
            loop {
                let from = order[place] as usize - first;
                order[place] = (place + first) as u32;
                if from == start {
                    break;
                }
                self.rows.swap(place + first, from + first);
                place = from;
            }
        }
    }

    /// From now on positions are the indexes.
    pub(crate) fn number(&mut self) {
        self.indexes = Indexes::default();
    }
}

impl<'h> Row<'h> {
    /// Position in the history, from 0.
    pub fn index(self) -> usize {
        self.index
    }

    /// Nanoseconds since the run began.
    pub fn time(self) -> u64 {
        self.slot.time
    }

    /// Whether the source gave the time.
    pub fn is_timed(self) -> bool {
        self.slot.value & UNTIMED == 0
    }

    /// Who.
    pub fn process(self) -> Process {
        if self.slot.value & NEMESIS == 0 { Process::Client(self.slot.process) } else { Process::Nemesis }
    }

    /// What kind of event.
    pub fn kind(self) -> EventKind {
        match self.slot.value >> KIND_SHIFT & 3 {
            0 => EventKind::Invoke,
            1 => EventKind::Ok,
            2 => EventKind::Fail,
            _ => EventKind::Info,
        }
    }

    /// The operation.
    pub fn f(self) -> &'h str {
        self.history.names.get(self.slot.f)
    }

    /// The operation as a number, equal within one history exactly for equal [`f`](Self::f).
    pub fn f_id(self) -> u32 {
        self.slot.f
    }

    /// The node as a number, equal within one history exactly for equal [`node`](Self::node).
    pub fn node_id(self) -> u32 {
        self.slot.node
    }

    /// The node that the process ran on.
    pub fn node(self) -> Option<&'h str> {
        self.slot.node.checked_sub(1).map(|node| self.history.names.get(node))
    }

    /// Arguments of an invocation, results of a completion.
    pub fn value(self) -> Value<'h> {
        let offset = (self.slot.value & OFFSET) as usize;
        Value::new(&self.history.arena[offset..], &self.history.names)
    }

    /// Why a `fail` or `info` did not succeed.
    pub fn error(self) -> Option<&'h str> {
        if self.slot.value & ERROR == 0 {
            return None;
        }
        self.value().following().as_str()
    }

    /// The line of the source on which the event began, from 1.
    pub fn line(self) -> u64 {
        u64::from(self.slot.line)
    }

    /// An owned copy, its value as [`Value::to_json`] gives it.
    pub fn to_event(self) -> Event {
        Event {
            index: self.index as u64,
            time: self.time(),
            process: self.process(),
            node: self.node().map(str::to_owned),
            kind: self.kind(),
            f: self.f().to_owned(),
            value: self.value().to_json(),
            error: self.error().map(str::to_owned),
        }
    }
}

impl std::fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_event().fmt(f)
    }
}
