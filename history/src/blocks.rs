use std::io::{self, Read};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::EVENT_MAX;
use crate::table::{Segment, SharedNames};
use crate::{History, Malformed, ReadError, ReadOptions};

/// Bytes that one thread takes at a time, unless a line is longer.
const BLOCK: usize = 512 * 1024;
/// Positions within a history are `u32`, and the last one is reserved.
const EVENTS_MAX: usize = u32::MAX as usize - 1;

/// Whole lines of the input.
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// From 1.
    pub(super) first_line: u64,
    sequence: u64,
}

/// Cuts the input at line ends.
struct Source<R> {
    input: R,
    carry: Vec<u8>,
    next_line: u64,
    sequence: u64,
    ended: bool,
    length_max: u64,
}

/// Takes the blocks' events in the order of the blocks.
struct Sink {
    history: History,
    notes: Vec<String>,
    sequence: u64,
    failure: Option<ReadError>,
    options: ReadOptions,
}

/// Fills a segment with a block's events.
pub(super) trait Parse:
    Fn(&Block, &mut Segment, &mut Vec<String>) -> Result<(), Malformed> + Sync
{
}
impl<F: Fn(&Block, &mut Segment, &mut Vec<String>) -> Result<(), Malformed> + Sync> Parse for F {}

/// Reads a history of one event a line: each thread takes a block, parses it, and appends it when its turn comes.
pub(super) fn read_blocks(
    input: impl Read + Send,
    options: &ReadOptions,
    parse: impl Parse,
) -> Result<History, ReadError> {
    let names = SharedNames::default();
    let source = Mutex::new(Source::new(input, options));
    let sink = (Mutex::new(Sink::new(options)), Condvar::new());
    let work = || {
        let mut segment = Segment::new(&names);
        let mut bytes = Vec::new();
        loop {
            let block = match lock(&source).next(bytes) {
                Ok(Some(block)) => block,
                Ok(None) => return,
                Err((sequence, failure)) => return take_turn(&sink, sequence, |sink| sink.fail(failure)),
            };
            let mut notes = Vec::new();
            let parsed = parse(&block, &mut segment, &mut notes);
            take_turn(&sink, block.sequence, |sink| sink.take(&mut segment, parsed, notes, &block));
            if lock(&sink.0).failure.is_some() {
                return;
            }
            bytes = block.bytes;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let sink = sink.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    match sink.failure {
        Some(failure) => Err(failure),
        None => Ok(sink.finish(&names)),
    }
}

impl<R: Read> Source<R> {
    fn new(input: R, options: &ReadOptions) -> Self {
        let length_max = options.memory_max.unwrap_or(u64::MAX);
        Self { input, carry: Vec::new(), next_line: 1, sequence: 0, ended: false, length_max }
    }

    /// The next whole lines, in the buffer given. Errors carry the sequence number of the block that failed.
    fn next(&mut self, mut bytes: Vec<u8>) -> Result<Option<Block>, (u64, ReadError)> {
        if self.ended {
            return Ok(None);
        }
        bytes.clear();
        bytes.append(&mut self.carry);
        let sequence = self.sequence;
        self.sequence += 1;
        loop {
            let searched = bytes.len();
            let read =
                read_some(&mut self.input, &mut bytes).map_err(|error| self.end(sequence, error.into()))?;
            if read == 0 {
                self.ended = true;
                return Ok((!bytes.is_empty()).then(|| self.block(bytes, sequence)));
            }
            if let Some(end) = memchr::memrchr(b'\n', &bytes[searched..]) {
                self.carry.extend_from_slice(&bytes[searched + end + 1..]);
                bytes.truncate(searched + end + 1);
                return Ok(Some(self.block(bytes, sequence)));
            }
            if bytes.len() > EVENT_MAX {
                return Err(self.end(sequence, Malformed::endless(self.next_line, 1).into()));
            }
            if bytes.len() as u64 > self.length_max {
                let (memory_max, line) = (self.length_max, self.next_line);
                return Err(self.end(sequence, ReadError::TooLarge { memory_max, events: 0, line }));
            }
        }
    }

    fn block(&mut self, bytes: Vec<u8>, sequence: u64) -> Block {
        let first_line = self.next_line;
        self.next_line += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        Block { bytes, first_line, sequence }
    }

    fn end(&mut self, sequence: u64, error: ReadError) -> (u64, ReadError) {
        self.ended = true;
        (sequence, error)
    }
}

/// Reads until the input ends or a block more is there; 0 at the end.
fn read_some(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    input.take(BLOCK as u64).read_to_end(bytes)
}

impl Sink {
    fn new(options: &ReadOptions) -> Self {
        Self { history: History::default(), notes: Vec::new(), sequence: 0, failure: None, options: *options }
    }

    fn take(
        &mut self,
        segment: &mut Segment,
        parsed: Result<(), Malformed>,
        notes: Vec<String>,
        block: &Block,
    ) {
        if let Err(malformed) = parsed {
            return self.fail(malformed.into());
        }
        let memory_max = self.options.memory_max.unwrap_or(u64::MAX);
        let memory = (self.history.memory() + segment.memory()) as u64;
        if memory > memory_max || self.history.len() + segment.len() > EVENTS_MAX {
            return self.fail(ReadError::TooLarge { memory_max, events: 0, line: block.first_line });
        }
        self.notes.extend(notes);
        segment.append_to(&mut self.history);
    }

    /// Keeps the first failure; blocks come in order, so it is the first of the input.
    fn fail(&mut self, mut failure: ReadError) {
        if let ReadError::TooLarge { events, .. } = &mut failure {
            *events = self.history.len() as u64;
        }
        self.failure.get_or_insert(failure);
    }

    fn finish(self, names: &SharedNames) -> History {
        let mut history = self.history;
        history.seal(names);
        history.notes = self.notes;
        history
    }
}

fn take_turn(sink: &(Mutex<Sink>, Condvar), sequence: u64, act: impl FnOnce(&mut Sink)) {
    let mut guard = lock(&sink.0);
    while guard.sequence != sequence && guard.failure.is_none() {
        guard = sink.1.wait(guard).unwrap_or_else(PoisonError::into_inner);
    }
    if guard.failure.is_none() {
        act(&mut guard);
    }
    guard.sequence += 1;
    drop(guard);
    sink.1.notify_all();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
