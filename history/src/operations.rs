use rustc_hash::FxHashMap;

use super::{EventKind, History, Process, Row, is_notice};

const PENDING: u32 = u32::MAX;

/// An invocation and what became of it.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'h> {
    /// The invocation.
    pub invoke: Row<'h>,
    /// Its completion; `None` where the history ends before it.
    pub completion: Option<Row<'h>>,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It happened.
    Ok,
    /// It certainly did not happen.
    Fail,
    /// It may or may not have happened, now or later.
    Info,
}

/// The operations of a history in order of invocation; 8 bytes each.
#[derive(Clone, Debug)]
pub struct Operations<'h> {
    history: &'h History,
    pairs: Vec<(u32, u32)>,
}

impl History {
    /// Pairs each client invocation with the next completion of its process; notices, which may come meanwhile, with
    /// one of their own name. Completions without invocation and the nemesis' events are in no pair.
    pub fn operations(&self) -> Operations<'_> {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut open: FxHashMap<(Process, Option<u32>), usize> = FxHashMap::default();
        for row in self.rows().filter(|row| row.process() != Process::Nemesis) {
            let key = (row.process(), is_notice(row.f()).then(|| row.f_id()));
            if row.kind() == EventKind::Invoke {
                open.insert(key, pairs.len());
                pairs.push((row.index() as u32, PENDING));
            } else if let Some(pair) = open.remove(&key) {
                pairs[pair].1 = row.index() as u32;
            }
        }
        Operations { history: self, pairs }
    }
}

impl<'h> Operations<'h> {
    /// Number of operations.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The operation at this position.
    ///
    /// # Panics
    /// Where there is none.
    pub fn get(&self, position: usize) -> Operation<'h> {
        let (invoke, completion) = self.pairs[position];
        Operation {
            invoke: self.history.row(invoke as usize),
            completion: (completion != PENDING).then(|| self.history.row(completion as usize)),
        }
    }

    /// All of them in order of invocation.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Operation<'h>> + DoubleEndedIterator + Clone + '_ {
        (0..self.len()).map(|position| self.get(position))
    }
}

impl Operation<'_> {
    /// How it ended; one without completion may or may not have happened.
    pub fn outcome(&self) -> Outcome {
        match self.completion.map(Row::kind) {
            Some(EventKind::Ok) => Outcome::Ok,
            Some(EventKind::Fail) => Outcome::Fail,
            _ => Outcome::Info,
        }
    }
}
