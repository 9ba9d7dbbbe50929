use std::num::NonZeroU32;

use rustc_hash::FxHashMap;

use super::{
    Access, At, Attempt, Ending, Hold, LockName, LockTable, Promise, Release, crash::Crashes, faults::Faults,
};
use crate::{
    checks::counts::Counter,
    history::{EventKind, History, Outcome, Process, Row},
};

impl<'h> LockTable<'h> {
    /// One pass over a history in time order. Operations of other kinds are counted and otherwise ignored.
    pub fn new(history: &'h History) -> LockTable<'h> {
        let mut builder = Builder::default();
        for row in history.rows() {
            builder.row(row);
        }
        builder.finish()
    }
}

#[derive(Default)]
struct Builder<'h> {
    table: LockTable<'h>,
    locks: FxHashMap<&'h str, u32>,
    processes: FxHashMap<u32, Client>,
    counter: Counter<'h>,
    faults: Faults,
    crashes: Crashes<'h>,
}

/// What is under way in one process.
#[derive(Default)]
struct Client {
    open: Vec<Open>,
    /// By lock: its last hold, ended or not.
    holds: Vec<(u32, u32)>,
}

/// An operation without completion so far.
struct Open {
    f: u32,
    at: At,
    lock: u32,
    kind: Kind,
}

/// What an operation is, with the position of its record.
#[derive(Clone, Copy)]
enum Kind {
    Acquire(u32),
    Renew(Option<u32>),
    Release(Option<u32>),
    Access(u32),
    Other,
}

impl<'h> Builder<'h> {
    fn row(&mut self, row: Row<'h>) {
        let at = At::new(row.time(), row.index());
        self.table.end = self.table.end.max(at);
        let Process::Client(process) = row.process() else {
            self.faults.row(row, at);
            self.crashes.kill(row, &mut self.table.holds);
            return;
        };
        if let Some(node) = row.node() {
            self.table.nodes.entry(process).or_insert(node);
        }
        match row.kind() {
            EventKind::Invoke => self.invoke(process, row, at),
            EventKind::Ok => self.complete(process, row, at, Outcome::Ok),
            EventKind::Fail => self.complete(process, row, at, Outcome::Fail),
            EventKind::Info => self.complete(process, row, at, Outcome::Info),
        }
        if row.kind() == EventKind::Info {
            self.retire(process, row.node(), at);
        } else {
            self.crashes.alive(row.node(), at);
        }
    }

    fn invoke(&mut self, process: u32, row: Row<'h>, at: At) {
        self.counter.invoke(row);
        let mut open = Open { f: row.f_id(), at, lock: 0, kind: Kind::Other };
        if let Some(name) = row.value().get("lock").as_str() {
            open.lock = self.lock(name);
            open.kind = self.begin(process, open.lock, row, at);
        }
        self.processes.entry(process).or_default().open.push(open);
    }

    fn begin(&mut self, process: u32, lock: u32, row: Row<'h>, at: At) -> Kind {
        let hold = self.last_hold(process, lock);
        match row.f() {
            "acquire" | "campaign" => {
                self.table.locks[lock as usize].election |= row.f() == "campaign";
                self.close(hold, at, Ending::Reacquired);
                Kind::Acquire(self.attempt(process, lock, at))
            }
            "renew" => Kind::Renew(hold),
            "release" | "resign" => {
                self.close(hold, at, Ending::Released);
                Kind::Release(hold.filter(|&hold| self.release(hold, at)))
            }
            "lapse" => {
                self.close(hold, at, Ending::Lapsed);
                Kind::Other
            }
            "read" | "write" => Kind::Access(self.access(process, lock, hold, row, at)),
            _ => Kind::Other,
        }
    }

    fn attempt(&mut self, process: u32, lock: u32, at: At) -> u32 {
        self.table.attempts.push(Attempt {
            lock,
            process,
            invoke: at,
            end: OPEN,
            outcome: Outcome::Info,
            hold: None,
        });
        self.table.attempts.len() as u32 - 1
    }

    /// Whether this is the hold's first release.
    fn release(&mut self, hold: u32, at: At) -> bool {
        let release = &mut self.table.holds[hold as usize].release;
        let first = release.is_none();
        release.get_or_insert(Release { invoke: at, end: OPEN, outcome: Outcome::Info });
        first
    }

    fn access(&mut self, process: u32, lock: u32, hold: Option<u32>, row: Row<'h>, at: At) -> u32 {
        self.table.accesses.push(Access {
            write: row.f() == "write",
            lock,
            process,
            invoke: at,
            end: OPEN,
            outcome: Outcome::Info,
            token: row.value().get("token").as_u64(),
            id: row.value().get("id").as_str(),
            seq: None,
            refused: false,
            promise: hold.map(|hold| self.table.holds[hold as usize].promise),
        });
        self.table.accesses.len() as u32 - 1
    }

    fn complete(&mut self, process: u32, row: Row<'h>, at: At, outcome: Outcome) {
        let client = self.processes.entry(process).or_default();
        let Some(place) = client.open.iter().position(|open| open.f == row.f_id()) else { return };
        let open = client.open.swap_remove(place);
        self.counter.complete(row, outcome, at.time.saturating_sub(open.at.time));
        let ok = outcome == Outcome::Ok;
        match open.kind {
            Kind::Acquire(attempt) => {
                let hold = ok.then(|| self.grant(process, &open, row, at));
                let attempt = &mut self.table.attempts[attempt as usize];
                let hold = hold.and_then(|hold| NonZeroU32::new(hold + 1));
                (attempt.end, attempt.outcome, attempt.hold) = (at, outcome, hold);
            }
            Kind::Renew(Some(hold)) if ok => {
                self.promise(hold, &open, row, at);
            }
            Kind::Renew(hold) if outcome == Outcome::Fail => self.close(hold, at, Ending::Refused),
            Kind::Release(Some(hold)) => {
                let release = self.table.holds[hold as usize].release.as_mut();
                release.into_iter().for_each(|release| (release.end, release.outcome) = (at, outcome));
            }
            Kind::Access(access) => {
                let access = &mut self.table.accesses[access as usize];
                (access.end, access.outcome) = (at, outcome);
                access.refused = row.value().get("fenced_refused").as_bool() == Some(true);
                access.seq = row.value().get("seq").as_u64();
            }
            Kind::Renew(_) | Kind::Release(_) | Kind::Other => {}
        }
    }

    fn grant(&mut self, process: u32, open: &Open, row: Row<'h>, at: At) -> u32 {
        let hold = self.table.holds.len() as u32;
        self.table.holds.push(Hold {
            lock: open.lock,
            process,
            invoke: open.at,
            start: at,
            end: OPEN,
            ending: Ending::Open,
            late: false,
            token: row.value().get("token").as_u64().into(),
            promise: 0,
            release: None,
        });
        let deadline = self.promise(hold, open, row, at);
        self.table.holds[hold as usize].late = deadline.is_some_and(|deadline| deadline <= at.time);
        self.crashes.granted(row.node(), hold, &self.table.holds);
        let holds = &mut self.processes.entry(process).or_default().holds;
        holds.retain(|&(lock, _)| lock != open.lock);
        holds.push((open.lock, hold));
        hold
    }

    /// Returns the deadline that came with it.
    fn promise(&mut self, hold: u32, open: &Open, row: Row<'h>, at: At) -> Option<u64> {
        let deadline_ns = row.value().get("deadline_ns").as_u64();
        self.table.holds[hold as usize].promise = self.table.promises.len() as u32;
        self.table.promises.push(Promise {
            hold,
            invoke: open.at,
            ok: at,
            asked_ns: row.value().get("asked_ns").as_u64().into(),
            ttl_ns: row.value().get("ttl_ms").as_u64().map(|ms| ms.saturating_mul(1_000_000)).into(),
            deadline_ns: deadline_ns.into(),
        });
        deadline_ns
    }

    /// An indeterminate outcome retires the process: its client goes on under a new number and without belief.
    fn retire(&mut self, process: u32, node: Option<&'h str>, at: At) {
        let Some(client) = self.processes.get_mut(&process) else { return };
        for (_, hold) in std::mem::take(&mut client.holds) {
            if self.table.holds[hold as usize].ending == Ending::Open {
                self.close(Some(hold), at, Ending::Retired);
                self.crashes.retired(node, hold);
            }
        }
    }

    fn last_hold(&self, process: u32, lock: u32) -> Option<u32> {
        let holds = &self.processes.get(&process)?.holds;
        holds.iter().find(|&&(of, _)| of == lock).map(|&(_, hold)| hold)
    }

    fn close(&mut self, hold: Option<u32>, at: At, ending: Ending) {
        let Some(hold) = hold.map(|hold| &mut self.table.holds[hold as usize]) else { return };
        if hold.ending == Ending::Open {
            (hold.end, hold.ending) = (at, ending);
        }
    }

    fn lock(&mut self, name: &'h str) -> u32 {
        *self.locks.entry(name).or_insert_with(|| {
            self.table.locks.push(LockName { name, election: false });
            self.table.locks.len() as u32 - 1
        })
    }

    fn finish(self) -> LockTable<'h> {
        let mut table = self.table;
        let end = table.end;
        let close = |at: &mut At| *at = (*at).min(end);
        table.attempts.iter_mut().for_each(|attempt| close(&mut attempt.end));
        table.accesses.iter_mut().for_each(|access| close(&mut access.end));
        for hold in &mut table.holds {
            close(&mut hold.end);
            hold.release.iter_mut().for_each(|release| close(&mut release.end));
        }
        (table.faults, table.phases) = self.faults.finish();
        table.operations = self.counter.finish();
        table
    }
}

/// Stands for the end of the history while that is not yet known.
const OPEN: At = At::END;
