//! What the completion of an operation tells.

use std::num::NonZeroU32;

use history::{Action, Outcome, Reacquire, Row};

use super::{
    At, Grant, Promise, Reacquired, Sighting, Ungiven,
    build::Builder,
    clients::Who,
    fields::Fields,
    operation::{Kind, Open},
};

impl<'h> Builder<'h> {
    pub(super) fn complete(
        &mut self,
        who: Who,
        action: Option<Action>,
        row: Row<'h>,
        fields: &Fields<'h>,
        at: At,
        outcome: Outcome,
    ) {
        let operations = self.clients.open(who);
        let Some(place) = operations.iter().position(|open| open.f == row.f_id()) else {
            return self.alone(who, action, row, fields, at);
        };
        let open = operations.swap_remove(place);
        self.counter.complete(open.counted, outcome, at.time.saturating_sub(open.at.time));
        self.end(who, &open, fields, at, outcome);
        open.kind.grant().into_iter().for_each(|grant| self.beliefs.let_go(grant));
    }

    /// A lapse or a keepalive may be told by one event.
    fn alone(&mut self, who: Who, action: Option<Action>, row: Row<'h>, fields: &Fields<'h>, at: At) {
        let Some(name) = fields.lock.filter(|_| action.is_some_and(Action::is_notice)) else { return };
        let lock = self.lock(name);
        let kind = self.begin(who, lock, action, row, fields, at);
        self.end(who, &Open { f: row.f_id(), counted: 0, at, lock, kind }, fields, at, Outcome::Ok);
        kind.grant().into_iter().for_each(|grant| self.beliefs.let_go(grant));
    }

    fn end(&mut self, who: Who, open: &Open, fields: &Fields<'h>, at: At, outcome: Outcome) {
        let ok = outcome == Outcome::Ok;
        match open.kind {
            Kind::Acquire(attempt) => {
                let grant = ok.then(|| self.grant(who, open, fields, at));
                let attempt = &mut self.table.attempts[attempt as usize];
                let grant = grant.and_then(|grant| NonZeroU32::new(grant + 1));
                (attempt.end, attempt.outcome, attempt.grant) = (at, outcome, grant);
            }
            Kind::Renew(Some(grant)) if ok => {
                self.beliefs.confirm(grant, at);
                self.renewed(grant, open.at, fields, at);
            }
            Kind::Renew(Some(grant)) if outcome == Outcome::Fail => {
                self.beliefs.confirm(grant, at);
                self.beliefs.refuse(grant, at);
            }
            Kind::Renewed(Some((grant, before))) => {
                self.beliefs.confirm(grant, at);
                // When it was sent is what it says; else it may have been just after the answer before.
                let asked_ns = fields.asked_ns.unwrap_or(before.time).min(at.time);
                self.renewed(grant, open.at.moved_to(asked_ns), fields, at);
            }
            Kind::Release(Some(release), _) => {
                let release = &mut self.table.releases[release as usize];
                (release.end, release.outcome) = (at, outcome);
                self.beliefs.state(release.grant).given_back -= u32::from(outcome == Outcome::Fail);
            }
            Kind::Release(None, Some(grant)) if outcome == Outcome::Fail => {
                self.beliefs.state(grant).depth += 1;
            }
            Kind::Access(access) => {
                let access = &mut self.table.accesses[access as usize];
                (access.end, access.outcome, access.answered) = (at, outcome, true);
                access.refused = fields.refused;
            }
            Kind::Observe if ok => {
                let Some(leader) = fields.leader else { return };
                let Fields { token, .. } = *fields;
                let (lock, process) = (open.lock, who.process);
                self.table.sightings.push(Sighting { lock, process, ok: at, leader, token });
            }
            // Of an acquire without answer it may have got the lock.
            Kind::Renew(None) | Kind::Release(None, None)
                if ok && self.clients.client(who.client).last_try(open.lock).is_none() =>
            {
                self.doubtful.push(Ungiven { lock: open.lock, process: who.process, at, token: None });
            }
            Kind::Renew(_) | Kind::Renewed(_) | Kind::Release(..) | Kind::Observe | Kind::Other => {}
        }
    }

    fn grant(&mut self, who: Who, open: &Open, fields: &Fields<'h>, at: At) -> u32 {
        let standing = self.standing(who.client, open.lock, fields.token, at);
        if let Some(grant) = standing {
            let again = Reacquired { lock: open.lock, process: who.process, ok: at };
            self.table.reacquired.get_or_insert(again);
            match self.reacquire {
                Reacquire::Defect => self.beliefs.replace(grant, open.at),
                meaning => {
                    self.beliefs.state(grant).depth += u32::from(meaning == Reacquire::Nested);
                    self.renewed(grant, open.at, fields, at);
                    return grant;
                }
            }
        }
        let number = self.table.grants.len() as u32;
        let mut grant = Grant {
            lock: open.lock,
            process: who.process,
            client: who.client,
            first: self.table.promises.len() as u32,
            promise: self.table.promises.len() as u32,
            hold: None,
            again: standing.is_some(),
        };
        let deadline_ns = self.promise(number, open.at, fields, at);
        self.beliefs.begin(&mut grant, number, at, deadline_ns);
        self.table.grants.push(grant);
        let client = self.clients.client(who.client);
        client.prune(open.lock, |grant| self.beliefs.open(grant).is_some());
        client.granted(open.lock, number).into_iter().for_each(|old| self.beliefs.forget(old));
        number
    }

    /// The client's grant of the lock that it still believes in, or that bears the same token and was not given back.
    fn standing(&mut self, client: u32, lock: u32, token: Option<i128>, at: At) -> Option<u32> {
        let last = *self.clients.client(client).grants(lock).last()?;
        let promise = self.table.grants[last as usize].promise;
        let same = token.is_some() && self.table.promises[promise as usize].token() == token;
        let kept = self.beliefs.state(last).given_back == 0;
        (self.beliefs.stands(last, at) || (same && kept)).then_some(last)
    }

    fn renewed(&mut self, grant: u32, invoke: At, fields: &Fields<'h>, at: At) {
        let deadline_ns = self.promise(grant, invoke, fields, at);
        let record = &mut self.table.grants[grant as usize];
        record.promise = self.table.promises.len() as u32 - 1;
        self.beliefs.renewed(record, grant, at, invoke.time, deadline_ns);
        self.clients.client(record.client).reopened(record.lock, grant);
    }

    /// Returns the deadline that came with it.
    fn promise(&mut self, grant: u32, invoke: At, fields: &Fields<'h>, at: At) -> Option<u64> {
        self.table.promises.push(Promise {
            grant,
            invoke,
            ok: at,
            asked_ns: fields.asked_ns.into(),
            ttl_ns: fields.ttl_ms.map(|ms| ms.saturating_mul(1_000_000)).into(),
            deadline_ns: fields.deadline_ns.into(),
            token: fields.token.into(),
        });
        fields.deadline_ns
    }
}
