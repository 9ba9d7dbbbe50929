use std::num::NonZeroU32;

use rustc_hash::FxHashMap;

use super::{
    Access, At, Attempt, Ending, LockName, LockTable, Release, Ungiven, Without,
    belief::Beliefs,
    clients::{Clients, Who},
    faults::Faults,
    fields::{Fields, Reader},
    operation::{Kind, Open},
};
use history::{Action, EventKind, History, Outcome, Process, Reacquire, Row};

use crate::counts::Counter;

impl<'h> LockTable<'h> {
    /// One pass over a history in time order. Operations of other kinds are counted and otherwise ignored.
    pub fn new(history: &'h History, reacquire: Reacquire) -> LockTable<'h> {
        let mut builder = Builder {
            reader: Reader::new(history),
            reacquire,
            table: LockTable::empty(history),
            beliefs: Beliefs::default(),
            locks: FxHashMap::default(),
            clients: Clients::default(),
            counter: Counter::default(),
            faults: Faults::default(),
            doubtful: Vec::new(),
        };
        for row in history.rows() {
            builder.row(row);
        }
        builder.finish()
    }
}

/// Whether it is done under a grant.
fn is_use(action: Option<Action>) -> bool {
    action.is_some_and(|action| !action.asks() && action != Action::Observe)
}

/// That a client was killed is what the harness says, not the client.
fn is_of_a_kill(row: Row<'_>) -> bool {
    row.value().get("cause").as_str() == Some("killed")
}

pub(super) struct Builder<'h> {
    reader: Reader,
    pub(super) reacquire: Reacquire,
    pub(super) table: LockTable<'h>,
    pub(super) beliefs: Beliefs,
    locks: FxHashMap<&'h str, u32>,
    pub(super) clients: Clients<'h>,
    pub(super) counter: Counter<'h>,
    faults: Faults,
    /// What was done under a token that is not known to be its client's, or under no grant.
    pub(super) doubtful: Vec<Ungiven>,
}

impl<'h> Builder<'h> {
    fn row(&mut self, row: Row<'h>) {
        let at = At::new(row.time(), row.index());
        self.table.end = self.table.end.max(at);
        let Process::Client(process) = row.process() else {
            self.faults.row(row, at);
            self.kill(row);
            return;
        };
        let who = self.clients.of(process, row);
        let action = self.reader.action(row);
        let is_notice = action.is_some_and(Action::is_notice);
        let fields = self.reader.fields(row);
        match row.kind() {
            EventKind::Invoke => self.invoke(who, action, row, &fields, at),
            EventKind::Ok => self.complete(who, action, row, &fields, at, Outcome::Ok),
            // What is merely told has no outcome, and retires nobody.
            EventKind::Fail | EventKind::Info if is_notice => {
                self.complete(who, action, row, &fields, at, Outcome::Ok);
            }
            EventKind::Fail => self.complete(who, action, row, &fields, at, Outcome::Fail),
            EventKind::Info => self.complete(who, action, row, &fields, at, Outcome::Info),
        }
        if row.kind() == EventKind::Info && !is_notice {
            for grant in self.clients.client(who.client).all_open() {
                self.beliefs.doubt(grant, at);
            }
        } else if !(action == Some(Action::Lapse) && is_of_a_kill(row)) {
            self.clients.lives(who, row, at);
        }
    }

    fn invoke(&mut self, who: Who, action: Option<Action>, row: Row<'h>, fields: &Fields<'h>, at: At) {
        let counted = self.counter.invoke(row);
        let mut open = Open { f: row.f_id(), counted, at, lock: 0, kind: Kind::Other };
        if let Some(name) = fields.lock {
            open.lock = self.lock(name);
            open.kind = self.begin(who, open.lock, action, row, fields, at);
        }
        self.clients.open(who).push(open);
    }

    pub(super) fn begin(
        &mut self,
        who: Who,
        lock: u32,
        action: Option<Action>,
        row: Row<'h>,
        fields: &Fields<'h>,
        at: At,
    ) -> Kind {
        let kind = self.kind(who, lock, action, row, fields, at);
        kind.grant().into_iter().for_each(|grant| self.beliefs.hold_on(grant));
        kind
    }

    fn kind(
        &mut self,
        who: Who,
        lock: u32,
        action: Option<Action>,
        row: Row<'h>,
        fields: &Fields<'h>,
        at: At,
    ) -> Kind {
        let token = fields.token;
        let grant = self.named_grant(who.client, lock, token);
        // Nearly every operation names a grant that is known: only else it matters what it is.
        let is_known = token.is_none() || grant.is_some_and(|grant| self.table.has_token(grant, token));
        if !is_known && is_use(action) {
            self.doubtful.push(Ungiven { lock, process: who.process, at, token });
        }
        match action {
            Some(Action::Acquire | Action::Campaign) => {
                self.table.locks[lock as usize].election |= action == Some(Action::Campaign);
                let attempt = self.attempt(who.process, lock, at);
                let client = self.clients.client(who.client);
                client.open(lock).for_each(|grant| self.beliefs.resolve(grant));
                client.tried(lock, attempt);
                Kind::Acquire(attempt)
            }
            Some(Action::Renew) => {
                grant.into_iter().for_each(|grant| self.beliefs.confirm(grant, at));
                Kind::Renew(grant)
            }
            Some(Action::Renewed) => {
                let confirmed =
                    |grant: u32| self.table.promises[self.table.grants[grant as usize].promise as usize].ok;
                Kind::Renewed(grant.map(|grant| (grant, confirmed(grant))))
            }
            Some(Action::Release | Action::Resign) => {
                grant.map_or(Kind::Release(None, None), |grant| self.release(grant, at))
            }
            Some(Action::Lapse) => {
                grant.into_iter().for_each(|grant| self.lapse(grant, row, at));
                Kind::Other
            }
            Some(Action::Read | Action::Write) => {
                Kind::Access(self.access(who, lock, grant, action == Some(Action::Write), at))
            }
            Some(Action::Observe) => Kind::Observe,
            None => Kind::Other,
        }
    }

    fn attempt(&mut self, process: u32, lock: u32, at: At) -> u32 {
        self.table.attempts.push(Attempt {
            lock,
            process,
            invoke: at,
            end: At::END,
            outcome: Outcome::Info,
            grant: None,
        });
        self.table.attempts.len() as u32 - 1
    }

    fn lapse(&mut self, grant: u32, row: Row<'h>, at: At) {
        if is_of_a_kill(row) {
            self.beliefs.resolve(grant);
        } else {
            self.beliefs.confirm(grant, at);
        }
        self.beliefs.lapse(grant, at);
    }

    /// The last release of a nested grant gives it back; those before only count.
    fn release(&mut self, grant: u32, at: At) -> Kind {
        let state = self.beliefs.state(grant);
        if state.depth > 1 {
            state.depth -= 1;
            self.beliefs.confirm(grant, at);
            return Kind::Release(None, Some(grant));
        }
        state.given_back += 1;
        self.beliefs.release(grant, at);
        self.table.releases.push(Release { grant, invoke: at, end: At::END, outcome: Outcome::Info });
        Kind::Release(Some(self.table.releases.len() as u32 - 1), Some(grant))
    }

    fn access(&mut self, who: Who, lock: u32, grant: Option<u32>, write: bool, at: At) -> u32 {
        grant.into_iter().for_each(|grant| self.beliefs.confirm(grant, at));
        let without = self.without(who.client, lock, grant, at);
        let table = &mut self.table;
        table.withouts.extend(without);
        let place = |place: u32| NonZeroU32::new(place + 1);
        table.accesses.push(Access {
            write,
            refused: false,
            outcome: Outcome::Info,
            answered: false,
            lock,
            process: who.process,
            invoke: at,
            end: At::END,
            promise: grant.and_then(|grant| place(table.grants[grant as usize].promise)),
            hold: grant.and_then(|grant| self.beliefs.open(grant)).and_then(place),
            without: without.and_then(|_| NonZeroU32::new(table.withouts.len() as u32)),
        });
        table.accesses.len() as u32 - 1
    }

    /// Why the client certainly holds nothing, other than that a deadline has passed.
    fn without(&mut self, client: u32, lock: u32, grant: Option<u32>, at: At) -> Option<Without> {
        let state = self.clients.client(client);
        let Some(grant) = grant else {
            let tried = state.last_try(lock);
            return (state.named || tried.is_some()).then_some(Without::NeverGranted(tried));
        };
        if state.open(lock).any(|own| self.beliefs.stands(own, at)) {
            return None;
        }
        let (ending, ended) = self.beliefs.ended(grant)?;
        let told = !matches!(ending, Ending::Deadline | Ending::Reacquired);
        (told && ended.time < at.time).then_some(Without::Ended(ending, ended))
    }

    /// The client's grant that an event names by its token, else its last.
    fn named_grant(&mut self, client: u32, lock: u32, token: Option<i128>) -> Option<u32> {
        let grants = self.clients.client(client).grants(lock);
        let last = grants.last().copied()?;
        let named = || grants.iter().rev().copied().find(|&grant| self.table.has_token(grant, token));
        token.and_then(|_| named()).or(Some(last))
    }

    /// Ends the holds of clients, if this row tells that their nodes were killed or may have been.
    ///
    /// The kill of a node is recorded after it took effect, and the operation that it cut off is ended by the harness,
    /// perhaps earlier. So a killed client is certain to have believed only up to its own last event. Whether a kill that
    /// failed took effect all the same shows in what the client does afterwards.
    fn kill(&mut self, row: Row<'h>) {
        let result = row.value().get("result").as_str();
        if row.f() != "start-kill" || result == Some("no-effect") {
            return;
        }
        for node in row.value().get("targets").items().filter_map(|target| target.as_str()) {
            let Some((client, life)) = self.clients.on(node) else { continue };
            let is_seen = row.value().get("evidence").get(node).get("signal").as_str().is_some();
            for grant in self.clients.client(client).all() {
                match result == Some("failed") && !is_seen {
                    true => self.beliefs.doubt(grant, life),
                    false => self.beliefs.kill(grant, life),
                }
            }
        }
    }

    pub(super) fn lock(&mut self, name: &'h str) -> u32 {
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
        table.releases.iter_mut().for_each(|release| close(&mut release.end));
        table.releases.sort_by_key(|release| (release.grant, release.invoke));
        table.release_places = places(&table.releases, table.grants.len());
        (table.holds, table.noticed_late) = self.beliefs.finish(end);
        table.operations = self.counter.finish();
        table.processes = self.clients.processes().collect();
        self.faults.finish(&mut table);
        table.ungiven = table.first_ungiven(&self.doubtful);
        table
    }
}

/// By grant: where its releases begin; at the end, how many there are.
fn places(releases: &[Release], grants: usize) -> Vec<u32> {
    let mut places = vec![0; grants + 1];
    releases.iter().for_each(|release| places[release.grant as usize + 1] += 1);
    for grant in 0..grants {
        places[grant + 1] += places[grant];
    }
    places
}
