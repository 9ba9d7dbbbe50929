//! What clients were entitled to believe, and what they did with it.

use super::told::{Answer, Grant, Told};

const RESOLUTION_NS: u64 = 1_000_000;

/// From a moment to another, exclusive.
type Piece = (u64, u64);

/// The times of belief in a grant, as far as the events before `by` tell.
fn pieces(told: &Told, grant: usize, by: usize) -> Vec<Piece> {
    let record = &told.grants[grant];
    let ends = told.ends_of(grant, by);
    let counted: Vec<&Answer> =
        record.answers.iter().filter(|answer| answer.place < by && begins(record, answer)).collect();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut goes_on = false;
    for (i, answer) in counted.iter().enumerate() {
        if answer.deadline_ns.is_some_and(|deadline| deadline <= answer.ok_ns) {
            goes_on = false;
            continue;
        }
        let end = ends.iter().find(|end| end.0 > answer.place);
        let next = counted.get(i + 1);
        let until = [end.map(|end| end.1.max(answer.ok_ns)), next.map(|next| next.ok_ns), answer.deadline_ns];
        let until = until.into_iter().flatten().min().unwrap_or(u64::MAX);
        let went_on = goes_on;
        let kills = told.kills(&record.client);
        let killed =
            |next: &Answer| kills.iter().any(|&(kill, _)| (answer.place..next.place).contains(&kill));
        goes_on = next.is_some_and(|next| {
            until == next.ok_ns && end.is_none_or(|end| end.0 > next.place) && !killed(next)
        });
        let mut piece = (answer.ok_ns, until);
        for (kill, life) in told.kills(&record.client) {
            let life_ns = told.events[life].time;
            if answer.place < kill && kill < by {
                piece.1 = piece.1.min(life_ns.max(piece.0));
            }
        }
        match pieces.last_mut().filter(|last| went_on && last.1 == piece.0) {
            Some(last) => last.1 = piece.1,
            None => pieces.push(piece),
        }
    }
    pieces
}

/// Who asked for a renewal and then for a release believes no more when the first is answered.
fn begins(record: &Grant, answer: &Answer) -> bool {
    let before = record.releases.iter().rfind(|release| release.place < answer.place);
    before.is_none_or(|release| release.invoke_ns <= answer.invoke_ns)
}

/// Whether the client still believes in the grant, as far as it is known when the event at `by` comes.
pub fn believes(told: &Told, grant: usize, by: usize, at_ns: u64) -> bool {
    pieces(told, grant, by).last().is_some_and(|piece| piece.1 >= at_ns && piece.0 <= at_ns)
        && !ended(told, grant, by)
}

/// Whether something other than a deadline ended the belief after its last answer.
fn ended(told: &Told, grant: usize, by: usize) -> bool {
    let record = &told.grants[grant];
    let answers = record.answers.iter().filter(|answer| answer.place < by && begins(record, answer));
    let last = answers.max_by_key(|answer| answer.place).map_or(0, |answer| answer.place);
    told.ends_of(grant, by).iter().any(|end| end.0 > last)
        || told.kills(&record.client).iter().any(|&(kill, _)| kill > last && kill < by)
}

/// Whether two clients believed at once.
pub fn overlap(told: &Told) -> bool {
    let all: Vec<(&Grant, Piece)> = (0..told.grants.len())
        .flat_map(|grant| {
            pieces(told, grant, told.events.len()).into_iter().map(move |piece| (&told.grants[grant], piece))
        })
        .collect();
    all.iter().any(|(a, one)| {
        all.iter()
            .any(|(b, other)| a.lock == b.lock && a.client != b.client && one.0 < other.1 && other.0 < one.1)
    })
}

/// Whether a client wrote after its deadline or while it held nothing, or stated a deadline beyond the promise.
pub fn acted_wrongly(told: &Told) -> bool {
    let overlong = |answer: &Answer| {
        let asked = answer.asked_ns.map_or(answer.ok_ns, |asked| asked.max(answer.invoke_ns));
        let limit = answer.ttl_ns.map(|ttl| asked + ttl + RESOLUTION_NS);
        answer.deadline_ns.zip(limit).is_some_and(|(stated, limit)| stated > limit)
    };
    let stated = told.grants.iter().flat_map(|grant| &grant.answers).any(overlong);
    stated || (0..told.writes.len()).any(|write| is_wrong(told, write))
}

fn is_wrong(told: &Told, write: usize) -> bool {
    let write = &told.writes[write];
    let asked_for = |event: &history::Event| {
        matches!(event.f.as_str(), "acquire" | "campaign") && event.value["lock"] == *write.lock
    };
    if !told.events.iter().any(asked_for) {
        return false;
    }
    let Some(grant) = write.grant else { return write.known };
    let record = &told.grants[grant];
    let answer = record.answers.iter().rfind(|answer| answer.place < write.place).unwrap();
    let lease = || Some(answer.asked_ns.unwrap_or(answer.ok_ns) + answer.ttl_ns?);
    if answer.deadline_ns.or_else(lease).is_some_and(|deadline| write.at_ns > deadline) {
        return true;
    }
    let own = |it: &usize| told.grants[*it].client == write.client && told.grants[*it].lock == write.lock;
    let known = |it: &usize| told.grants[*it].answers[0].place < write.place;
    let holds = (0..told.grants.len())
        .filter(|it| own(it) && known(it))
        .any(|it| believes(told, it, write.place, write.at_ns));
    if holds {
        return false;
    }
    // The write itself shows that its client had not given up at an unclear answer.
    let answers = record.answers.iter().filter(|answer| answer.place < write.place && begins(record, answer));
    let counted = answers.max_by_key(|answer| answer.place);
    let last = counted.map_or(0, |answer| answer.place);
    // Who believes no more since its deadline gives nothing up at an unclear answer.
    let passed = |at_ns: u64| counted.and_then(|answer| answer.deadline_ns).is_some_and(|end| end < at_ns);
    let in_doubt = |place| told.doubts(&record.client).iter().any(|doubt| doubt.0 == place);
    let counts = |end: &&(usize, u64, bool)| end.0 > last && !(in_doubt(end.0) && passed(end.1));
    let by_word = told.ends_of(grant, write.place).iter().find(counts).copied();
    let by_kill = told.kills(&record.client).into_iter().find(|&(kill, _)| kill > last && kill < write.place);
    let by_kill = by_kill.map(|(kill, life)| (kill, told.events[life].time, true));
    let first = [by_word, by_kill].into_iter().flatten().min_by_key(|end| end.0);
    first.is_some_and(|(_, at_ns, told)| told && at_ns < write.at_ns)
}
