//! Words for the tired: who, what, when, and which fault was under way.

use std::fmt::{self, Display, Formatter};

use history::{
    holds::Ending,
    judgement::{Exit, FaultRecord},
};

use super::table::{Grant, Hold, LockTable, Promise, Reacquired, Ungiven};

/// Writes nanoseconds as milliseconds: `4 210.3 ms`, below one millisecond `0.042 ms`.
pub(super) struct Ms(pub u64);

impl Display for Ms {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 < 1_000_000 && self.0 != 0 {
            return write!(f, "{}.{:03} ms", 0, (self.0 / 1_000).max(1));
        }
        let tenths = self.0 / 100_000;
        let whole = (tenths / 10).to_string();
        for (i, digit) in whole.chars().enumerate() {
            if i > 0 && (whole.len() - i).is_multiple_of(3) {
                f.write_str(" ")?;
            }
            write!(f, "{digit}")?;
        }
        write!(f, ".{} ms", tenths % 10)
    }
}

/// Nanoseconds as a figure in milliseconds.
pub(super) fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

impl LockTable<'_> {
    /// `c2 (process 6)`.
    pub(super) fn who(&self, process: u32) -> String {
        match self.node(process) {
            Some(node) => format!("{node} (process {process})"),
            None => format!("process {process}"),
        }
    }

    /// `lock "a"` or `election "e"`.
    pub(super) fn what(&self, lock: u32) -> String {
        let lock = self.locks[lock as usize];
        format!("{} {:?}", if lock.election { "election" } else { "lock" }, lock.name)
    }

    /// `token` or `term`.
    pub(super) fn token_word(&self, lock: u32) -> &'static str {
        if self.locks[lock as usize].election { "term" } else { "token" }
    }

    /// `c2 (process 6) got lock "a" (token 8) at 4 210.3 ms`.
    pub(super) fn got(&self, grant: &Grant) -> String {
        let lock = self.locks[grant.lock as usize];
        let got = match lock.election {
            true => format!("became leader of {:?}", lock.name),
            false => format!("got lock {:?}", lock.name),
        };
        format!(
            "{} {got}{} at {}",
            self.who(grant.process),
            self.with_token(grant.lock, self.given(grant).token()),
            Ms(self.given(grant).ok.time)
        )
    }

    /// As [`got`](Self::got), or `c2 (process 6) was confirmed as holder of lock "a" (token 8) at 4 210.3 ms`.
    pub(super) fn answered(&self, promise: &Promise) -> String {
        let grant = &self.grants[promise.grant as usize];
        if !self.is_renewal(promise) {
            return self.got(grant);
        }
        let as_what = if self.locks[grant.lock as usize].election { "leader" } else { "holder" };
        let (who, what) = (self.who(grant.process), self.what(grant.lock));
        let token = self.with_token(grant.lock, promise.token());
        format!("{who} was confirmed as {as_what} of {what}{token} at {}", Ms(promise.ok.time))
    }

    /// How a hold began.
    pub(super) fn began(&self, hold: &Hold) -> String {
        let grant = self.grant_of(hold);
        match hold.start == self.given(grant).ok {
            true => self.got(grant),
            false => {
                let (who, what) = (self.who(grant.process), self.what(grant.lock));
                format!("{who} was confirmed again in {what} at {}", Ms(hold.start.time))
            }
        }
    }

    /// That a client was granted a lock which it still held.
    pub(super) fn again(&self, again: &Reacquired) -> String {
        let (who, what) = (self.who(again.process), self.what(again.lock));
        format!("{who} asked for {what} while it held it, and was granted it again at {}", Ms(again.ok.time))
    }

    /// That something was done under a grant of which the history does not tell.
    pub(super) fn tell_ungiven(&self, ungiven: &Ungiven) -> String {
        let Ungiven { lock, process, at, token } = *ungiven;
        let (who, what, at) = (self.who(process), self.what(lock), Ms(at.time));
        match token {
            Some(token) => format!(
                "{who} used {} {token} of {what} at {at}, which no answer had given it: the history does not tell of \
                 every grant",
                self.token_word(lock)
            ),
            None => format!(
                "{who} was answered at {at} as a holder of {what} which it had never asked for: the history does not \
                 tell of every grant"
            ),
        }
    }

    fn with_token(&self, lock: u32, token: Option<i128>) -> String {
        token.map(|token| format!(" ({} {token})", self.token_word(lock))).unwrap_or_default()
    }

    /// Whether the promise came with a renewal.
    pub(super) fn is_renewal(&self, promise: &Promise) -> bool {
        promise.ok != self.given(&self.grants[promise.grant as usize]).ok
    }

    /// `since 3 100.0 ms, until it released at 5 022.1 ms`.
    pub(super) fn span(&self, hold: &Hold) -> String {
        let election = self.locks[self.grant_of(hold).lock as usize].election;
        let until = Ms(hold.end.time);
        let until = match hold.ending {
            _ if hold.beyond => format!("to the end at {until}"),
            Ending::Released if election => format!("until it resigned at {until}"),
            Ending::Released => format!("until it released at {until}"),
            Ending::Lapsed => format!("until it noticed its lapse at {until}"),
            Ending::Deadline => format!("until its deadline at {until}"),
            Ending::Refused => format!("until a renewal was refused at {until}"),
            Ending::Reacquired => format!("until it asked again at {until}"),
            Ending::Retired => format!("until it gave up after an unclear answer at {until}"),
            Ending::Crashed => format!("killed, last heard of at {until}"),
            Ending::Open => format!("to the end at {until}"),
        };
        format!("since {}, {until}", Ms(hold.start.time))
    }

    /// The faults under way between two moments: their ids, and a clause that names them.
    pub(super) fn faults_within(&self, start_ns: u64, end_ns: u64) -> (Vec<u32>, String) {
        let under_way =
            |fault: &&FaultRecord| fault.start_ns <= end_ns && fault.end_ns.is_none_or(|end| end >= start_ns);
        let found: Vec<&FaultRecord> = self.faults.iter().filter(under_way).collect();
        let names: Vec<String> = found.iter().map(|fault| name(fault)).collect();
        let mut clause = match names.as_slice() {
            [] => self.last_fault(start_ns),
            [one] => format!("fault {one} under way"),
            [init @ .., last] => format!("faults {} and {last} under way", init.join(", ")),
        };
        for exit in self.exits.iter().filter(|exit| self.is_down(exit, start_ns, end_ns)) {
            clause += &format!(", but {} had ended by itself at {}", exit.node, Ms(exit.at_ns));
        }
        if let Some(stall) = self.longest_stall(start_ns, end_ns) {
            clause += &format!(", but {} stood still for {}", stall.node, Ms(stall.to_ns - stall.from_ns));
        }
        (found.iter().map(|fault| fault.id).collect(), clause)
    }

    /// Whether the server is gone at some time between two moments. One that a fault kills is started again at its heal.
    fn is_down(&self, exit: &Exit, start_ns: u64, end_ns: u64) -> bool {
        let started = |fault: &FaultRecord| {
            let healed = fault.end_ns.is_some_and(|end| end > exit.at_ns && end < start_ns);
            fault.kind == "kill" && healed && fault.targets.contains(&exit.node)
        };
        exit.at_ns < end_ns && !self.faults.iter().any(started)
    }

    fn last_fault(&self, before_ns: u64) -> String {
        let ended = self.faults.iter().filter_map(|fault| Some((fault.end_ns?, fault)));
        match ended.filter(|&(end, _)| end < before_ns).max_by_key(|&(end, _)| end) {
            Some((end, fault)) => {
                format!(
                    "no fault under way, the last one, {}, ended {} before",
                    name(fault),
                    Ms(before_ns - end)
                )
            }
            None => "no fault under way".to_owned(),
        }
    }
}

/// `2 (pause c1)`.
fn name(fault: &FaultRecord) -> String {
    let result = if fault.result == "installed" { String::new() } else { format!(": {}", fault.result) };
    format!("{} ({} {}{result})", fault.id, fault.kind, fault.targets.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_grouped() {
        let text = |ns| Ms(ns).to_string();
        assert_eq!(text(4_210_350_000), "4 210.3 ms");
        assert_eq!(text(1_234_567_890_000), "1 234 567.8 ms");
        assert_eq!(text(811_800_000), "811.8 ms");
        assert_eq!(text(42_000), "0.042 ms");
        assert_eq!(text(1), "0.001 ms");
        assert_eq!(text(0), "0.0 ms");
    }
}
