//! Takes every event of a run as it arrives: into the file at once, and into a live view of who holds and who waits.

mod live;
mod log;

use std::{cell::RefCell, path::Path};

use history::{Event, EventKind, History, HistoryBuilder, Process, ResourceEntry};
use serde_json::{Value, json};

pub use self::live::{Counts, Live};
use self::log::Log;
use crate::{
    error::Result,
    store::{HISTORY, RESOURCE},
};

/// Lines that are in no file.
#[derive(Clone, Debug, Default)]
pub struct Unwritten {
    /// Of the history.
    pub history: Vec<u8>,
    /// Of the resource's log.
    pub resource: Vec<u8>,
}

/// The recorder of one run.
pub struct Recorder {
    inner: RefCell<Inner>,
}

struct Inner {
    sink: Sink,
    live: Live,
    failure: Option<String>,
}

enum Sink {
    Files { history: Log, resource: Log },
    Memory { history: HistoryBuilder, resource: Vec<ResourceEntry> },
}

impl Recorder {
    /// Opens both files in the run's folder.
    pub fn create(folder: &Path) -> Result<Recorder> {
        let open = |name: &str| Log::create(folder.join(name));
        let sink = Sink::Files { history: open(HISTORY)?, resource: open(RESOURCE)? };
        Ok(Recorder::with(sink))
    }

    /// A recorder that keeps everything in memory, for campaigns.
    pub fn in_memory() -> Recorder {
        Recorder::with(Sink::Memory { history: HistoryBuilder::default(), resource: Vec::new() })
    }

    fn with(sink: Sink) -> Recorder {
        Recorder { inner: RefCell::new(Inner { sink, live: Live::default(), failure: None }) }
    }

    /// What was kept in memory, in the order of arrival; nothing when there are files.
    pub fn take_kept(&self) -> History {
        match &mut self.inner.borrow_mut().sink {
            Sink::Memory { history, resource } => {
                let mut taken = std::mem::take(history).finish();
                taken.resource = std::mem::take(resource);
                taken
            }
            Sink::Files { .. } => History::default(),
        }
    }

    /// An event of a client.
    pub fn record(&self, event: Event) {
        let inner = &mut *self.inner.borrow_mut();
        match &mut inner.sink {
            Sink::Memory { history, .. } => history.push(&event),
            Sink::Files { history, .. } => {
                let taken = history.append(&event);
                inner.note(taken);
            }
        }
        inner.live.take(event);
    }

    /// An event of the fault schedule.
    pub fn nemesis(&self, time: u64, f: &str, value: Value) {
        self.record(Event {
            index: 0,
            time,
            process: Process::Nemesis,
            node: None,
            kind: EventKind::Info,
            f: f.to_string(),
            value,
            error: None,
        });
    }

    /// A line of the resource's log.
    pub fn resource(&self, entry: ResourceEntry) {
        let inner = &mut *self.inner.borrow_mut();
        match &mut inner.sink {
            Sink::Memory { resource, .. } => resource.push(entry),
            Sink::Files { resource, .. } => {
                let taken = resource.append(&entry);
                inner.note(taken);
            }
        }
    }

    /// A client's process, one of so many clients', was killed at `time`: what it was doing is indeterminate, and what
    /// it held it no longer believes to hold.
    pub fn client_killed(&self, node: &str, time: u64, clients: u32) {
        let closing = self.inner.borrow().live.closing_events(node, time, clients, "the client was killed");
        closing.into_iter().for_each(|event| self.record(event));
    }

    /// A client, one of so many, ended though nobody killed it, nobody knows when: nothing is certain of it since its
    /// last event.
    pub fn client_lost(&self, node: &str, clients: u32) {
        let why = "the client ended by itself, some time after it asked";
        let closing = self.live(|live| {
            let last = live.last_event(node)?;
            Some(live.closing_events(node, last + 1, clients, why))
        });
        closing.into_iter().flatten().for_each(|event| self.record(event));
    }

    /// Who holds, who waits, what was counted.
    pub fn live<T>(&self, look: impl FnOnce(&Live) -> T) -> T {
        look(&self.inner.borrow().live)
    }

    /// Writes out what is buffered. Called now and then, so that little is lost with a killed harness.
    pub fn flush(&self) {
        let inner = &mut *self.inner.borrow_mut();
        if let Sink::Files { history, resource } = &mut inner.sink {
            let flushed = [history.flush(), resource.flush()];
            flushed.into_iter().for_each(|flushed| inner.note(flushed));
        }
    }

    /// What the files did not take, such as those on a full disk: it follows what they hold.
    pub fn unwritten(&self) -> Unwritten {
        match &self.inner.borrow().sink {
            Sink::Memory { .. } => Unwritten::default(),
            Sink::Files { history, resource } => {
                Unwritten { history: history.unwritten().to_vec(), resource: resource.unwritten().to_vec() }
            }
        }
    }

    /// The first failure to write, if any: a run that cannot be recorded is stopped.
    pub fn failure(&self) -> Option<String> {
        self.inner.borrow().failure.clone()
    }
}

impl Inner {
    fn note(&mut self, written: Result<()>) {
        if let Err(error) = written {
            self.failure.get_or_insert_with(|| error.to_string());
        }
    }
}

/// The value of a `phase` event.
pub fn phase(name: &str) -> Value {
    json!({ "phase": name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_is_lost_believes_nothing_after_its_last_event() {
        let recorder = Recorder::in_memory();
        let event = |kind, f: &str, time| Event {
            index: 0,
            time,
            process: Process::Client(0),
            node: Some("c1".into()),
            kind,
            f: f.into(),
            value: json!({ "lock": "a" }),
            error: None,
        };
        recorder.record(event(EventKind::Invoke, "acquire", 1));
        recorder.record(event(EventKind::Ok, "acquire", 2));
        recorder.record(event(EventKind::Invoke, "write", 5));
        recorder.client_lost("c1", 2);
        recorder.client_lost("c2", 2);
        recorder.client_lost("s1", 2);
        let mut history = recorder.take_kept();
        history.sort();
        history.check_form().unwrap();
        let ends: Vec<_> = history.events().filter(|event| event.time > 5).collect();
        let said: Vec<_> = ends.iter().map(|event| (event.time, event.kind, event.f.as_str())).collect();
        let lapse = |kind| (6, kind, "lapse");
        assert_eq!(said, [lapse(EventKind::Invoke), lapse(EventKind::Ok), (6, EventKind::Info, "write")]);
        recorder.live(|live| assert!(live.holders().is_empty()));
    }
}
