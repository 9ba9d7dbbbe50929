//! Takes every event of a run as it arrives: into the file at once, and into a live view of who holds and who waits.

mod live;

use std::{
    cell::RefCell,
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use checkers::history::{Event, EventKind, History, HistoryBuilder, Process, ResourceEntry};
use serde_json::{Value, json};

pub use self::live::{Counts, Live};
use crate::error::{Error, Result};

/// Name of the history's file in a run's folder.
pub const HISTORY: &str = "history.jsonl";
/// Name of the resource's log in a run's folder.
pub const RESOURCE: &str = "resource.jsonl";

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
    Files { history: BufWriter<File>, resource: BufWriter<File> },
    Memory { history: HistoryBuilder, resource: Vec<ResourceEntry> },
}

impl Recorder {
    /// Opens both files in the run's folder.
    pub fn create(folder: &Path) -> Result<Recorder> {
        let open = |name: &str| {
            let path = folder.join(name);
            File::create(&path)
                .map(|file| BufWriter::with_capacity(1 << 18, file))
                .map_err(|error| Error::Harness(format!("failed to write {}: {error}", path.display())))
        };
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
                let line = append(history, &event);
                inner.note(line);
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
                let line = append(resource, &entry);
                inner.note(line);
            }
        }
    }

    /// A client's process was killed at `time`: what it was doing is indeterminate, and what it held it no longer
    /// believes to hold.
    pub fn client_killed(&self, node: &str, time: u64) {
        let closing = self.inner.borrow().live.closing_events(node, time);
        closing.into_iter().for_each(|event| self.record(event));
    }

    /// Who holds, who waits, what was counted.
    pub fn live<T>(&self, look: impl FnOnce(&Live) -> T) -> T {
        look(&self.inner.borrow().live)
    }

    /// Writes out what is buffered. Called now and then, so that little is lost with a killed harness.
    pub fn flush(&self) {
        let inner = &mut *self.inner.borrow_mut();
        if let Sink::Files { history, resource } = &mut inner.sink {
            let flushed = history.flush().and_then(|()| resource.flush());
            inner.note(flushed);
        }
    }

    /// The first failure to write, if any: a run that cannot be recorded is stopped.
    pub fn failure(&self) -> Option<String> {
        self.inner.borrow().failure.clone()
    }
}

impl Inner {
    fn note(&mut self, written: std::io::Result<()>) {
        if let (Err(error), None) = (written, &self.failure) {
            self.failure = Some(format!("failed to record: {error}"));
        }
    }
}

fn append(file: &mut BufWriter<File>, line: &impl serde::Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")
}

/// The value of a `phase` event.
pub fn phase(name: &str) -> Value {
    json!({ "phase": name })
}
