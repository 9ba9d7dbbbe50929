use std::num::NonZeroU32;

use history::holds::Ending;
use rustc_hash::FxHashMap;

use super::{At, Grant, Hold, NoticedLate};

/// What clients believe, grant by grant, while a history is read in order of time.
///
/// A hold begins with an answer and ends with the first of: its release's invocation, a refused renewal, an answer of
/// unknown outcome at which its client gives up, its lapse, its client's death, the deadline that the last answer
/// stated. A renewal that is answered later begins it anew. Whether a client gave up at an answer of unknown outcome
/// shows later: if it goes on under the grant, it did not.
#[derive(Default)]
pub(super) struct Beliefs {
    pub(super) holds: Vec<Hold>,
    pub(super) noticed_late: NoticedLate,
    /// By grant, as long as an event can still be about it.
    states: States,
}

#[derive(Default)]
struct States(FxHashMap<u32, State>);

impl States {
    fn of(&mut self, number: u32) -> &mut State {
        self.0.entry(number).or_default()
    }

    fn get(&self, number: u32) -> Option<&State> {
        self.0.get(&number)
    }
}

/// The belief in one grant.
#[derive(Clone, Copy, Default)]
pub(super) struct State {
    /// How often it was acquired and not yet released.
    pub(super) depth: u32,
    /// Its releases that may have given it back.
    pub(super) given_back: u32,
    /// Operations on it that have no completion so far.
    under_way: u32,
    /// Only operations under way can still be about it.
    forgotten: bool,
    /// The hold that goes on.
    open: Option<u32>,
    /// The last hold.
    last: Option<u32>,
    /// The deadline that the last answer stated, in nanoseconds, and the answer.
    deadline: Option<(u64, At)>,
    /// The first answer of unknown outcome since the client last showed that it believes.
    doubt: Option<At>,
    /// How and when the belief ended last.
    ended: Option<(Ending, At)>,
    /// The last invocation of a release.
    released: Option<At>,
}

impl Beliefs {
    /// A new grant; it is the next in the table's list.
    pub(super) fn begin(&mut self, grant: &mut Grant, number: u32, at: At, deadline: Option<u64>) {
        self.states.0.insert(number, State { depth: 1, ..State::default() });
        self.answered(grant, number, at, deadline);
    }

    /// What is known of a grant.
    pub(super) fn state(&mut self, number: u32) -> &mut State {
        self.states.of(number)
    }

    /// An operation on the grant begins.
    pub(super) fn hold_on(&mut self, number: u32) {
        self.states.of(number).under_way += 1;
    }

    /// An operation on the grant has ended.
    pub(super) fn let_go(&mut self, number: u32) {
        let state = self.states.of(number);
        state.under_way -= 1;
        if state.forgotten {
            self.forget(number);
        }
    }

    /// No later operation names the grant.
    pub(super) fn forget(&mut self, number: u32) {
        let state = self.states.of(number);
        state.forgotten = true;
        if state.under_way == 0 {
            self.last_word(number);
            self.states.0.remove(&number);
        }
    }

    fn last_word(&mut self, number: u32) {
        self.resolve(number);
        self.settle(number, At::END);
    }

    /// The service confirmed the grant, as asked at `asked_ns`.
    pub(super) fn renewed(
        &mut self,
        grant: &mut Grant,
        number: u32,
        at: At,
        asked_ns: u64,
        deadline: Option<u64>,
    ) {
        self.settle(number, at);
        let state = *self.states.of(number);
        // Who asks for a renewal and then for a release believes no more when the first is answered.
        if state.released.is_none_or(|released| released.time <= asked_ns) {
            self.answered(grant, number, at, deadline);
        }
    }

    fn answered(&mut self, grant: &mut Grant, number: u32, at: At, deadline: Option<u64>) {
        let state = self.states.of(number);
        state.deadline = deadline.map(|deadline| (deadline, at));
        // Whatever ended the belief before, the client has been told otherwise since.
        state.ended = None;
        let passed = deadline.is_some_and(|deadline| deadline <= at.time);
        match state.open {
            Some(_) if passed => self.close(number, at, Ending::Deadline),
            None if !passed => {
                state.open = Some(self.holds.len() as u32);
                state.last = state.open;
                grant.hold = NonZeroU32::new(self.holds.len() as u32 + 1);
                self.holds.push(Hold {
                    grant: number,
                    start: at,
                    end: At::END,
                    ending: Ending::Open,
                    beyond: true,
                });
            }
            _ => {}
        }
    }

    /// Ends what the deadline had ended before this moment. While the client is in doubt nobody knows yet.
    pub(super) fn settle(&mut self, number: u32, at: At) {
        let state = *self.states.of(number);
        if let (Some((deadline, told)), None) = (state.deadline, state.doubt)
            && deadline < at.time
        {
            self.close(number, told.moved_to(deadline), Ending::Deadline);
        }
    }

    /// The client acts under the grant, so it had not given up before.
    pub(super) fn confirm(&mut self, number: u32, at: At) {
        self.states.of(number).doubt = None;
        self.settle(number, at);
    }

    /// An operation of the client has no known outcome.
    pub(super) fn doubt(&mut self, number: u32, at: At) {
        self.settle(number, at);
        let state = self.states.of(number);
        if state.open.is_some() {
            state.doubt.get_or_insert(at);
        }
    }

    /// The client did nothing more under the grant after an answer of unknown outcome: it had given up.
    pub(super) fn resolve(&mut self, number: u32) {
        if let Some(doubt) = self.states.of(number).doubt.take() {
            self.close(number, doubt, Ending::Retired);
        }
    }

    /// The client asks to release, which ends its belief whatever comes of it.
    pub(super) fn release(&mut self, number: u32, at: At) {
        self.resolve(number);
        self.settle(number, at);
        self.states.of(number).released = Some(at);
        self.end(number, at, Ending::Released);
    }

    /// The client says that it believes no more.
    pub(super) fn lapse(&mut self, number: u32, at: At) {
        self.settle(number, at);
        if let Some((deadline, _)) = self.states.of(number).deadline
            && deadline < at.time
        {
            self.noticed_late.count += 1;
            self.noticed_late.max_ns = self.noticed_late.max_ns.max(at.time - deadline);
        }
        self.end(number, at, Ending::Lapsed);
    }

    /// The service refused a renewal.
    pub(super) fn refuse(&mut self, number: u32, at: At) {
        self.settle(number, at);
        self.end(number, at, Ending::Refused);
    }

    /// The client was granted the lock anew, without having given this grant back; it had asked at `at`.
    pub(super) fn replace(&mut self, number: u32, at: At) {
        let start = self.states.of(number).open.map(|hold| self.holds[hold as usize].start);
        self.close(number, start.map_or(at, |start| start.max(at)), Ending::Reacquired);
    }

    /// The client's node was killed; `life` is the client's last own event. What it believed since then is not certain.
    pub(super) fn kill(&mut self, number: u32, life: At) {
        let state = *self.states.of(number);
        if state.doubt.is_some_and(|doubt| life > doubt) {
            self.resolve(number);
        }
        self.states.of(number).doubt = None;
        let Some(hold) = state.last else { return };
        let certain = life.max(self.holds[hold as usize].start);
        self.settle(number, certain);
        if self.states.of(number).open.is_some() {
            self.close(number, certain, Ending::Crashed);
        } else if self.holds[hold as usize].end > certain {
            (self.holds[hold as usize].end, self.holds[hold as usize].ending) = (certain, Ending::Crashed);
            self.states.of(number).ended = Some((Ending::Crashed, certain));
        }
    }

    /// Whether the client still believes, as far as is known at `at`.
    pub(super) fn stands(&mut self, number: u32, at: At) -> bool {
        self.settle(number, at);
        let State { open, deadline, .. } = *self.states.of(number);
        // Also a client in doubt believes no longer than to its deadline.
        open.is_some() && deadline.is_none_or(|(deadline, _)| deadline >= at.time)
    }

    /// The hold that goes on.
    pub(super) fn open(&self, number: u32) -> Option<u32> {
        self.states.get(number)?.open
    }

    /// How the belief ended last, if no hold goes on.
    pub(super) fn ended(&self, number: u32) -> Option<(Ending, At)> {
        let state = self.states.get(number)?;
        state.ended.filter(|_| state.open.is_none())
    }

    /// The history ends here.
    pub(super) fn finish(mut self, end: At) -> (Vec<Hold>, NoticedLate) {
        let numbers: Vec<u32> = self.states.0.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.last_word(number));
        for hold in &mut self.holds {
            hold.beyond = hold.end > end;
            hold.end = hold.end.min(end);
        }
        (self.holds, self.noticed_late)
    }

    /// Ends the belief by a word that tells the client that it holds nothing, also if its deadline had passed before.
    fn end(&mut self, number: u32, at: At, ending: Ending) {
        self.close(number, at, ending);
        let state = self.states.of(number);
        if matches!(state.ended, None | Some((Ending::Deadline, _))) {
            state.ended = Some((ending, at));
        }
    }

    fn close(&mut self, number: u32, at: At, ending: Ending) {
        let state = self.states.of(number);
        let Some(hold) = state.open.take() else { return };
        (self.holds[hold as usize].end, self.holds[hold as usize].ending) = (at, ending);
        (state.ended, state.doubt) = (Some((ending, at)), None);
    }
}
