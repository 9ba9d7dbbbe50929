//! Words for the tired: who, what, when, and which fault was under way.

use std::fmt::{self, Display, Formatter};

use super::table::{Ending, FaultRecord, Hold, LockTable};

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
    pub(super) fn got(&self, hold: &Hold) -> String {
        let who = self.who(hold.process);
        let lock = self.locks[hold.lock as usize];
        let got = match lock.election {
            true => format!("became leader of {:?}", lock.name),
            false => format!("got lock {:?}", lock.name),
        };
        let token = hold.token().map(|token| format!(" ({} {token})", self.token_word(hold.lock)));
        format!("{who} {got}{} at {}", token.unwrap_or_default(), Ms(hold.start.time))
    }

    /// `since 3 100.0 ms, until it released at 5 022.1 ms`.
    pub(super) fn span(&self, hold: &Hold) -> String {
        let election = self.locks[hold.lock as usize].election;
        let (until, at) = (Ms(hold.end.time), hold.end.time);
        let until = match hold.ending {
            Ending::Released if election => format!("until it resigned at {until}"),
            Ending::Released => format!("until it released at {until}"),
            Ending::Lapsed => format!("until it noticed its lapse at {until}"),
            Ending::Refused => format!("until a renewal was refused at {until}"),
            Ending::Reacquired => format!("until it asked again at {until}"),
            Ending::Retired => format!("until it gave up after an unclear answer at {until}"),
            Ending::Crashed => format!("killed, last heard of at {until}"),
            Ending::Open => format!("to the end at {}", Ms(at)),
        };
        format!("since {}, {until}", Ms(hold.start.time))
    }

    /// The faults under way between two moments: their ids, and a clause that names them.
    pub(super) fn faults_within(&self, start_ns: u64, end_ns: u64) -> (Vec<u32>, String) {
        let under_way =
            |fault: &&FaultRecord| fault.start_ns <= end_ns && fault.end_ns.is_none_or(|end| end >= start_ns);
        let found: Vec<&FaultRecord> = self.faults.iter().filter(under_way).collect();
        let names: Vec<String> = found.iter().map(|fault| name(fault)).collect();
        let clause = match names.as_slice() {
            [] => self.last_fault(start_ns),
            [one] => format!("fault {one} under way"),
            [init @ .., last] => format!("faults {} and {last} under way", init.join(", ")),
        };
        (found.iter().map(|fault| fault.id).collect(), clause)
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
