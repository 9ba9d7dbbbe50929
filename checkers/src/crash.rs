use super::{
    check::{Check, Stake},
    findings::{Findings, unknown},
    table::LockTable,
    words::Ms,
};
use history::{
    judgement::Exit,
    verdict::{CheckResult, Verdict, Violation},
};

pub(super) const CHECK: Check = Check {
    name: "crash",
    about: "a server ended by itself; only judged where one did",
    promise: "No server ends by itself.",
    prevented_by: "A server is to stand whatever its clients do; its own log, under nodes/ in the run's folder, tells \
        what it died of.",
    rank: 7,
    informs: false,
    on_occasion: true,
    kept_only_at_end: false,
    stalls_excuse: false,
    stake: Stake::Contention,
    needs_every_grant: false,
    not_applicable: |case| case.table.exits.is_empty().then_some("no server ended by itself"),
    run: |case| crash(&case.table),
};

/// A server's process ended by itself: no fault of the run did that.
///
/// One that somebody outside of the run may have ended, by a signal or by asking it to stop, accuses nobody: `unknown`.
fn crash(table: &LockTable<'_>) -> CheckResult {
    let mut findings = Findings::new();
    table.exits.iter().filter(|exit| !may_be_from_outside(exit)).for_each(|exit| findings.push(exit));
    let reason = "a server ended by itself";
    let result = findings.judge(Some("service"), reason, |exit| exit.at_ns, |exit| table.tell_exit(exit));
    match table.exits.iter().find(|exit| may_be_from_outside(exit)) {
        Some(exit) if result.verdict == Verdict::Valid => unknown(table.ended_from_outside(exit)),
        _ => result,
    }
}

/// Whether it need not be the server's own doing: a signal that others send (SIGHUP, SIGINT, SIGQUIT, SIGKILL, SIGTERM;
/// the kernel sends SIGKILL when memory is short), also as the exit status that shells and JVMs make of it, or an orderly
/// end, which such a signal brings about.
pub(super) fn may_be_from_outside(exit: &Exit) -> bool {
    const SIGNALS: [u32; 5] = [1, 2, 3, 9, 15];
    let number = |after: &str| {
        let digits = exit.status.split_once(after)?.1.trim_start();
        digits.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    let sent = |signal: u32| SIGNALS.contains(&signal);
    match (number("exit status:"), number("signal:")) {
        (Some(status), _) => status == 0 || status.checked_sub(128).is_some_and(sent),
        (None, Some(signal)) => sent(signal),
        // Nobody knows how.
        (None, None) => true,
    }
}

impl LockTable<'_> {
    /// That something outside of the run may have ended a server.
    pub(super) fn ended_from_outside(&self, exit: &Exit) -> String {
        format!(
            "{} ended at {} ({}) though no fault of this run did that: somebody outside, or the kernel for want of \
             memory, may have ended it",
            exit.node,
            Ms(exit.at_ns),
            exit.status
        )
    }

    fn tell_exit(&self, exit: &Exit) -> Violation {
        let at_ns = exit.at_ns;
        let (faults, clause) = self.faults_within(at_ns, at_ns);
        let text = format!("{} ended by itself at {} ({}); {clause}.", exit.node, Ms(at_ns), exit.status);
        let operations = vec![exit.event];
        Violation { text, operations, start_ns: at_ns, end_ns: at_ns, faults, ..Violation::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use history::jsonl;

    #[test]
    fn only_servers_crash() {
        let found = |value: &str| {
            let event =
                format!(r#"{{"time":9,"process":"nemesis","type":"info","f":"exit","value":{value}}}"#);
            let history = jsonl::read(event.as_bytes(), &Default::default()).expect("a history");
            judge(&history, &Default::default()).exits.len()
        };
        assert_eq!(found(r#"{"node":"s1","status":"exit status: 1","role":"server"}"#), 1);
        assert_eq!(found(r#"{"node":"resource","status":"exit status: 1","role":"resource"}"#), 0);
        // Of runs in which no role was told.
        assert_eq!(found(r#"{"node":"s1","status":"exit status: 1"}"#), 1);
        for other in ["resource", "c3", "s", "server"] {
            assert_eq!(found(&format!(r#"{{"node":"{other}","status":"exit status: 1"}}"#)), 0, "{other}");
        }
    }

    #[test]
    fn what_others_can_do_accuses_nobody() {
        let outside = |status: &str| {
            may_be_from_outside(&Exit { node: "s1".into(), status: status.into(), at_ns: 0, event: 0 })
        };
        for status in
            ["exit status: 0", "exit status: 143", "signal: 9 (SIGKILL)", "signal: 15 (SIGTERM)", "lost", ""]
        {
            assert!(outside(status), "{status}");
        }
        for status in [
            "exit status: 1",
            "exit status: 139",
            "exit status: 10",
            "signal: 11 (SIGSEGV) (core dumped)",
            "signal: 6",
        ] {
            assert!(!outside(status), "{status}");
        }
    }
}
