//! One server as a sentinel sees it. Times are milliseconds on the sentinel's wall clock, as the program counts them.

use super::{Member, PERIOD_MS, messages::Info};

/// What was heard of a server, and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    /// Of the oldest ping without answer.
    unanswered: Option<i64>,
    pinged: i64,
    /// When it last answered a ping.
    pub(super) answered: i64,
    info: Option<(i64, Info)>,
    asked_info: i64,
    /// Since when it has been subjectively down.
    down: Option<i64>,
    /// When it last began to be.
    fell: Option<i64>,
    /// Since when it has said that it copies whom it copies.
    copies_since: i64,
    /// When it was last told whom to copy.
    pub(super) told: i64,
}

impl Watched {
    /// A server of which nothing is known yet.
    pub(super) fn new(now: i64) -> Watched {
        Watched { answered: now, asked_info: now - PERIOD_MS, copies_since: now, ..Watched::default() }
    }

    /// Whether a ping is due; notes that it is sent.
    pub(super) fn ping(&mut self, now: i64, period: i64) -> bool {
        let due = now - self.answered > period && now - self.pinged > period / 2;
        if due {
            self.pinged = now;
            self.unanswered = self.unanswered.or(Some(now));
        }
        due
    }

    /// Whether a look at `INFO` is due, because the last is as old as this or there was none; notes that it is asked for.
    pub(super) fn ask_info(&mut self, now: i64, period: i64) -> bool {
        let old = self.info.is_none_or(|(at, _)| now - at > period);
        let due = old && now - self.asked_info >= PERIOD_MS;
        if due {
            self.asked_info = now;
        }
        due
    }

    pub(super) fn pong(&mut self, now: i64) {
        self.answered = now;
        self.unanswered = None;
    }

    pub(super) fn heard(&mut self, now: i64, info: Info) {
        if self.info().is_none_or(|old| old.copies != info.copies) {
            self.copies_since = now;
        }
        self.info = Some((now, info));
    }

    /// What it was is forgotten: the primary is another one now.
    pub(super) fn forget(&mut self, now: i64) {
        self.info = None;
        self.asked_info = now - PERIOD_MS;
        self.copies_since = now;
    }

    pub(super) fn info(&self) -> Option<Info> {
        self.info.map(|(_, info)| info)
    }

    /// Since when it has copied whom it copies, or has been a primary.
    pub(super) fn copies_since(&self) -> i64 {
        self.copies_since
    }

    /// What it said of itself, if that is not older than `age`.
    pub(super) fn fresh(&self, now: i64, age: i64) -> Option<Info> {
        self.info.filter(|(at, _)| now - at <= age).map(|(_, info)| info)
    }

    /// Since when it has been subjectively down: a ping went unanswered for too long, or it should be a primary and
    /// has said for long that it is none.
    pub(super) fn judge(&mut self, now: i64, down_after: i64, disowns: bool) {
        let silent = self.unanswered.is_some_and(|since| now - since > down_after);
        match silent || disowns {
            false => self.down = None,
            true if self.down.is_none() => (self.down, self.fell) = (Some(now), Some(now)),
            true => {}
        }
    }

    pub(super) fn down(&self) -> Option<i64> {
        self.down
    }

    /// Whether it has not begun to be down in the last so many milliseconds.
    pub(super) fn up_for(&self, now: i64, ms: i64) -> bool {
        self.down.is_none() && self.fell.is_none_or(|fell| now - fell > ms)
    }

    /// Whether it is, or has been told, something else than a replica of `primary`.
    pub(super) fn strays(&self, primary: Member) -> bool {
        self.info().is_none_or(|info| info.copies != Some(primary))
    }
}
