use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::{
    check::{Check, Stake},
    findings::Findings,
    table::{Access, Grant, Hold, LockTable},
    words::Ms,
};
use history::{
    Outcome, ResourceEntry, ResourceOp,
    verdict::{CheckResult, Violation},
};
use linear::special::fencing::{self as guard, Answer, Request};

pub(super) const CHECK: Check = Check {
    name: "fencing",
    about: "the fenced resource took a stale holder's write, or refused the current holder's",
    promise: "The fenced resource refuses a stale holder and takes the current one.",
    prevented_by: "The resource must compare the token and take the write in one step, and remember the highest token \
        that it has seen, reads included.",
    rank: 4,
    informs: false,
    on_occasion: false,
    kept_only_at_end: false,
    stalls_excuse: false,
    stake: Stake::Contention,
    needs_every_grant: true,
    not_applicable: |case| match (case.has_writes(), case.recipe.token) {
        (false, _) => Some("nothing was written"),
        (true, false) => Some("the recipe has no fencing token"),
        (true, true) => None,
    },
    run: |case| fencing(&case.table, case.log),
};

/// The fenced register took a stale holder's write after a newer holder's request, or refused the current holder's.
///
/// What it took comes from its own serial log where there is one. From the history alone two requests are in order
/// only if one returned before the other was invoked.
fn fencing(table: &LockTable<'_>, log: Option<&[ResourceEntry]>) -> CheckResult {
    let mut findings = Findings::new();
    refused_holders(table, &mut findings);
    match log {
        Some(log) => judge_log(table, log, &mut findings),
        None => judge_intervals(table, &mut findings),
    }
    let reason = "the fenced register took a stale write or refused the current holder";
    findings.judge(Some("recipe"), reason, Breach::start_ns, |breach| tell(table, breach))
}

/// One thing that a fence must not do.
enum Breach<'t> {
    /// It refused the newest holder during its hold.
    RefusedHolder(&'t Access, &'t Hold, &'t Grant),
    /// By its log: it took the second after the first, which has the higher token.
    Took(&'t ResourceEntry, &'t ResourceEntry),
    /// By its log: it refused a token though it had taken none above it.
    RefusedHighest(&'t ResourceEntry),
    /// By intervals: the first returned before the second was invoked, and both were taken.
    TookAfter(&'t Access, &'t Access),
    /// By intervals: refused before any request with a higher token can have been taken.
    RefusedFirst(&'t Access),
}

impl Breach<'_> {
    fn start_ns(&self) -> u64 {
        match self {
            Breach::RefusedHolder(access, ..) | Breach::RefusedFirst(access) => access.invoke.time,
            Breach::TookAfter(higher, _) => higher.end.time,
            Breach::Took(higher, _) => higher.time,
            Breach::RefusedHighest(entry) => entry.time,
        }
    }
}

/// Refusals within a hold, if no grant with a higher token became known since the holder had asked for the lock.
///
/// A request with a higher token can only come from a client that knew its grant, so such a refusal means that the
/// register had a higher token from an *earlier* grant.
fn refused_holders<'t>(table: &'t LockTable<'_>, findings: &mut Findings<Breach<'t>>) {
    for access in table.accesses.iter().filter(|access| access.refused && access.outcome == Outcome::Ok) {
        let Some((hold, promise)) = access.hold().zip(access.promise()) else { continue };
        let hold = &table.holds[hold as usize];
        let (grant, token) = (table.grant_of(hold), table.promises[promise as usize].token());
        let certain = access.end.time <= hold.end.time && token.is_some() && table.token_of(access) == token;
        let since =
            table.grants.partition_point(|other| table.given(other).ok.time < table.given(grant).invoke.time);
        let newer = table.grants[since..]
            .iter()
            .take_while(|other| table.given(other).ok.time <= access.end.time)
            .any(|other| other.lock == grant.lock && table.given(other).token() > token);
        if certain && !newer {
            findings.push(Breach::RefusedHolder(access, hold, grant));
        }
    }
}

fn judge_log<'t>(table: &LockTable<'_>, log: &'t [ResourceEntry], findings: &mut Findings<Breach<'t>>) {
    let told: FxHashSet<u64> =
        findings.found.iter().filter_map(|breach| refused_seq(table, breach)).collect();
    let mut order: Vec<&ResourceEntry> = log.iter().filter(|entry| entry.token.is_some()).collect();
    order.sort_by_key(|entry| entry.seq);
    let mut highest: BTreeMap<&str, &ResourceEntry> = BTreeMap::new();
    for entry in order {
        let before = highest.get(entry.lock.as_str()).copied().filter(|before| before.token > entry.token);
        match (entry.fenced, before) {
            (Some(true), None) => _ = highest.insert(&entry.lock, entry),
            (Some(true), Some(before)) if entry.op == ResourceOp::Write => {
                findings.push(Breach::Took(before, entry));
            }
            (Some(false), None) if !told.contains(&entry.seq) => findings.push(Breach::RefusedHighest(entry)),
            _ => {}
        }
    }
}

fn refused_seq(table: &LockTable<'_>, breach: &Breach<'_>) -> Option<u64> {
    if let Breach::RefusedHolder(access, ..) = breach { table.seq_of(access) } else { None }
}

fn judge_intervals<'t>(table: &'t LockTable<'_>, findings: &mut Findings<Breach<'t>>) {
    let told: FxHashSet<u64> = findings.found.iter().filter_map(refused_index).collect();
    let mut by_lock: BTreeMap<u32, (Vec<&Access>, Vec<Request>)> = BTreeMap::new();
    let rising = rising(table);
    let open = |access: &&Access| access.outcome != Outcome::Fail && !rising[access.lock as usize];
    for access in table.accesses.iter().filter(open) {
        let Some(token) = table.token_of(access) else { continue };
        let (answer, at) = match access.outcome {
            Outcome::Ok if access.refused => (Answer::Rejected, access.end.time),
            Outcome::Ok => (Answer::Accepted, access.end.time),
            _ => (Answer::Maybe, u64::MAX),
        };
        let (accesses, requests) = by_lock.entry(access.lock).or_default();
        accesses.push(access);
        requests.push(Request { token, call: access.invoke.time, at, answer });
    }
    for (accesses, requests) in by_lock.values() {
        for breach in guard::breaches(requests) {
            match breach {
                guard::Breach::TookStale { stale, newer } if accesses[stale as usize].write => {
                    findings.push(Breach::TookAfter(accesses[newer as usize], accesses[stale as usize]));
                }
                guard::Breach::RefusedCurrent { refused } => {
                    let refused = accesses[refused as usize];
                    if !told.contains(&refused.invoke.index()) {
                        findings.push(Breach::RefusedFirst(refused));
                    }
                }
                guard::Breach::TookStale { .. } => {}
            }
        }
    }
}

/// By lock: whether the tokens rise from request to request and none was refused. Then the fence did nothing wrong. O(n).
fn rising(table: &LockTable<'_>) -> Vec<bool> {
    let mut rising = vec![true; table.locks.len()];
    let mut last = vec![(0, None); table.locks.len()];
    for access in table.accesses.iter().filter(|access| access.outcome != Outcome::Fail) {
        let lock = access.lock as usize;
        let Some(token) = table.token_of(access).filter(|_| rising[lock]) else { continue };
        let (time, highest) = last[lock];
        let in_time = time <= access.invoke.time && access.invoke.time <= access.end.time;
        rising[lock] = in_time && highest <= Some(token) && !access.refused;
        last[lock] = (access.invoke.time, Some(token));
    }
    rising
}

fn refused_index(breach: &Breach<'_>) -> Option<u64> {
    if let Breach::RefusedHolder(access, ..) = breach { Some(access.invoke.index()) } else { None }
}

fn tell(table: &LockTable<'_>, breach: &Breach<'_>) -> Violation {
    let (text, operations, end_ns) = match breach {
        Breach::RefusedHolder(access, hold, grant) => {
            let text = format!(
                "The fenced register refused {}, though that client held the lock {} and no higher {} was granted \
                 since it had asked",
                said(table, access),
                table.span(hold),
                table.token_word(access.lock),
            );
            (
                text,
                vec![table.given(grant).ok.index(), access.invoke.index(), access.end.index()],
                access.end.time,
            )
        }
        Breach::TookAfter(higher, access) => {
            let text = format!(
                "The fenced register took {} after it had taken {}",
                said(table, access),
                said(table, higher)
            );
            (text, vec![higher.end.index(), access.invoke.index()], access.end.time)
        }
        Breach::RefusedFirst(access) => {
            let text = format!(
                "The fenced register refused {} before it can have taken any higher one",
                said(table, access)
            );
            (text, vec![access.invoke.index(), access.end.index()], access.end.time)
        }
        Breach::Took(higher, entry) => {
            let (higher_said, operations) = (logged(table, higher), indexes(table, &[higher, entry]));
            let text =
                format!("The fenced register took {} after it had taken {higher_said}", logged(table, entry));
            (text, operations, entry.time)
        }
        Breach::RefusedHighest(entry) => {
            let text = format!(
                "The fenced register refused {}, though it had taken no higher one",
                logged(table, entry)
            );
            (text, indexes(table, &[entry]), entry.time)
        }
    };
    let start_ns = breach.start_ns();
    let (faults, clause) = table.faults_within(start_ns, end_ns);
    Violation {
        text: format!("{text}; {clause}."),
        operations,
        start_ns,
        end_ns,
        faults,
        ..Violation::default()
    }
}

/// `write "0-4" of c1 (process 0) to lock "a" with token 7 at 4 210.3 ms`.
fn said(table: &LockTable<'_>, access: &Access) -> String {
    let op = if access.write { format!("write {:?}", table.name_of(access)) } else { "a read".to_owned() };
    let (who, what, word) =
        (table.who(access.process), table.what(access.lock), table.token_word(access.lock));
    format!(
        "{op} of {who} to {what} with {word} {} at {}",
        table.token_of(access).unwrap_or(0),
        Ms(access.invoke.time)
    )
}

fn logged(table: &LockTable<'_>, entry: &ResourceEntry) -> String {
    let op = match (&entry.id, entry.op) {
        (Some(id), ResourceOp::Write) => format!("write {id:?}"),
        (None, ResourceOp::Write) => "a write".to_owned(),
        (_, ResourceOp::Read) => "a read".to_owned(),
    };
    let (who, token, at) = (table.who(entry.process), entry.token.unwrap_or(0), Ms(entry.time));
    format!("{op} of {who} to {:?} with token {token} at {at} (its request {})", entry.lock, entry.seq)
}

/// The operations in which the clients made these requests, where the history has them.
fn indexes(table: &LockTable<'_>, entries: &[&ResourceEntry]) -> Vec<u64> {
    let of = |entry: &&ResourceEntry| {
        let same = |access: &&Access| {
            access.process == entry.process
                && access.write == (entry.op == ResourceOp::Write)
                && if access.write {
                    table.id_of(access) == entry.id.as_deref()
                } else {
                    table.seq_of(access) == Some(entry.seq)
                }
        };
        table.accesses.iter().find(same).map(|access| access.invoke.index())
    };
    entries.iter().filter_map(of).collect()
}
