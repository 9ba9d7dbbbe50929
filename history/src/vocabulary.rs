//! The types of the fields in a history of locks, leases or elections.
//!
//! A field of the wrong type must never count as one that is absent: a token that nobody can read would leave `token`
//! and `fencing` with nothing to judge, and the history would be valid. So such a history is refused as a whole.
//! Fields and operations that the vocabulary does not know are of no concern.

use rustc_hash::FxHashMap;

use super::{Action, EventKind, Flaw, History, IllFormed, Process, Row, Value, View, Words};

/// What a field must be, unless it is null.
#[derive(Clone, Copy, Debug)]
enum Type {
    Text,
    Texts,
    Truth,
    /// A whole number, as [`Value::as_whole`] reads it, from the first to the last.
    Whole(i64, u64),
}

const COUNT: Type = Type::Whole(0, u64::MAX);
const TOKEN: Type = Type::Whole(i64::MIN, u64::MAX);
const FAULT: Type = Type::Whole(0, u32::MAX as u64);

/// Of the clients' operations; the first is at [`LOCK`].
const FIELDS: [(&str, Type); 13] = [
    ("lock", Type::Text),
    ("token", TOKEN),
    ("lease", Type::Text),
    ("ttl_ms", COUNT),
    ("asked_ns", COUNT),
    ("deadline_ns", COUNT),
    ("cause", Type::Text),
    ("leader", Type::Text),
    ("id", Type::Text),
    ("seq", COUNT),
    ("unfenced", Type::Text),
    ("fenced", Type::Text),
    ("fenced_refused", Type::Truth),
];

const LOCK: usize = 0;

/// Of `start-…` and `stop-…`.
const OF_FAULT: &[(&str, Type)] =
    &[("fault", FAULT), ("targets", Type::Texts), ("result", Type::Text), ("healed", Type::Truth)];
const OF_PHASE: &[(&str, Type)] = &[("phase", Type::Text), ("ttl_ms", COUNT), ("bound_ms", COUNT)];
const OF_EXIT: &[(&str, Type)] = &[("node", Type::Text), ("status", Type::Text), ("role", Type::Text)];
const OF_STALL: &[(&str, Type)] = &[("node", Type::Text), ("from_ns", COUNT), ("to_ns", COUNT)];

impl History {
    /// Whether every field of a history in our vocabulary is of its type, every operation on a lock names one, and none
    /// is answered before it was asked.
    ///
    /// Whole numbers may be written as floats without fraction or as numerals in text. Null counts as absent. A
    /// `read` or `write` whose value is no object is of something else than the protected resource, and so is what
    /// it is answered with.
    ///
    /// # Errors
    /// The first event that breaks a rule.
    pub fn check_vocabulary(&self) -> Result<(), IllFormed> {
        let words = Vocabulary {
            actions: Words::new(self, Action::ALL.map(Action::name)),
            fields: Words::new(self, FIELDS.map(|(name, _)| name)),
        };
        let mut clients: FxHashMap<u32, Client> = FxHashMap::default();
        for row in self.rows() {
            let said = match row.process() {
                Process::Nemesis => nemesis(row),
                Process::Client(process) => words.client(row, clients.entry(process).or_default()),
            };
            said.map_err(|flaw| row.ill(flaw))?;
        }
        Ok(())
    }
}

/// What a process did before.
#[derive(Default)]
struct Client {
    /// When it asked last.
    asked_ns: u64,
    /// Its last read or write was of something else than the protected resource.
    foreign: bool,
}

/// The words that clients use.
struct Vocabulary {
    actions: Words<{ Action::ALL.len() }>,
    fields: Words<{ FIELDS.len() }>,
}

impl Vocabulary {
    fn client(&self, row: Row<'_>, client: &mut Client) -> Result<(), Flaw> {
        let action = self.actions.operation(row).map(|place| Action::ALL[place]);
        if !action.is_some_and(Action::is_notice) {
            answered(row, &mut client.asked_ns)?;
        }
        let Some(action) = action else { return Ok(()) };
        let is_access = action.is_access();
        let is_object = row.value().is_object();
        let is_invoke = row.kind() == EventKind::Invoke;
        if is_access && is_invoke {
            client.foreign = !is_object;
        }
        if is_access && client.foreign {
            return Ok(());
        }
        let (mut lock, mut fields) = (None, Ok(()));
        for (place, value) in self.fields.entries(row.value()) {
            if place == LOCK {
                lock.get_or_insert(value);
            }
            let (name, wanted) = &FIELDS[place];
            if fields.is_ok() && !wanted.permits(value) {
                fields = Err(wanted.refusal(row, name, value));
            }
        }
        if is_invoke && lock.is_none_or(Value::is_null) {
            return Err(Flaw::NoLock { f: row.f().to_owned() });
        }
        // Why an operation did not succeed may stand in its value; nothing is read from there.
        if row.kind() == EventKind::Ok && !is_object && !row.value().is_null() {
            return Err(Flaw::NoObject { f: row.f().to_owned(), found: shown(row.value()) });
        }
        fields
    }
}

/// `asked` is when the process asked last. Promises and beliefs are spans between the two. Of an `info` somebody else may
/// have told the time: who killed the process.
fn answered(row: Row<'_>, asked: &mut u64) -> Result<(), Flaw> {
    match row.kind() {
        EventKind::Info => {}
        EventKind::Invoke => *asked = row.time(),
        _ if row.time() < *asked => {
            return Err(Flaw::AnsweredBefore { f: row.f().to_owned(), at_ns: row.time(), asked_ns: *asked });
        }
        _ => {}
    }
    Ok(())
}

fn nemesis(row: Row<'_>) -> Result<(), Flaw> {
    match row.f() {
        "phase" => required(row, &["phase"]).and_then(|()| fields(row, OF_PHASE)),
        "exit" => fields(row, OF_EXIT),
        "stall" => stall(row),
        f if f.starts_with("start-") || f.starts_with("stop-") => fields(row, OF_FAULT),
        _ => Ok(()),
    }
}

fn stall(row: Row<'_>) -> Result<(), Flaw> {
    required(row, &["node", "from_ns", "to_ns"])?;
    fields(row, OF_STALL)?;
    let [from, to] = ["from_ns", "to_ns"].map(|key| row.value().get(key).as_whole());
    if from <= to { Ok(()) } else { Err(Flaw::StallBackwards) }
}

fn required(row: Row<'_>, keys: &[&str]) -> Result<(), Flaw> {
    match keys.iter().find(|key| row.value().get(key).is_null()) {
        Some(key) => Err(Flaw::Missing { f: row.f().to_owned(), field: (*key).to_owned() }),
        None => Ok(()),
    }
}

fn fields(row: Row<'_>, types: &[(&str, Type)]) -> Result<(), Flaw> {
    for (key, value) in row.value().entries() {
        if let Some((name, wanted)) = types.iter().find(|(name, _)| key.as_str() == Some(name)) {
            wanted.check(row, name, value)?;
        }
    }
    Ok(())
}

/// A value in no more than a line.
fn shown(value: Value<'_>) -> String {
    let text = value.to_string();
    let end = text.char_indices().nth(60).map(|(end, _)| end);
    end.map_or_else(|| text.clone(), |end| format!("{}…", &text[..end]))
}

impl Type {
    fn check(self, row: Row<'_>, name: &str, value: Value<'_>) -> Result<(), Flaw> {
        if self.permits(value) { Ok(()) } else { Err(self.refusal(row, name, value)) }
    }

    #[cold]
    fn refusal(self, row: Row<'_>, name: &str, value: Value<'_>) -> Flaw {
        let (f, field) = (row.f().to_owned(), name.to_owned());
        Flaw::WrongType { f, field, found: shown(value), wanted: self.words() }
    }

    #[inline]
    fn permits(self, value: Value<'_>) -> bool {
        value.is_null()
            || match self {
                Type::Text => value.is_text(),
                Type::Texts => {
                    let is_list = matches!(value.view(), View::Array(_) | View::List(_) | View::Set(_));
                    is_list && value.items().all(Value::is_text)
                }
                Type::Truth => value.as_bool().is_some(),
                Type::Whole(first, last) => match value.as_i64() {
                    Some(whole) => whole >= first && u64::try_from(whole).map_or(true, |whole| whole <= last),
                    None => {
                        value.as_whole().is_some_and(|whole| (first.into()..=last.into()).contains(&whole))
                    }
                },
            }
    }

    fn words(self) -> String {
        match self {
            Type::Text => "text".to_owned(),
            Type::Texts => "a list of texts".to_owned(),
            Type::Truth => "true or false".to_owned(),
            Type::Whole(first, last) => format!("a whole number from {first} to {last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, edn, jsonl};

    fn of_json(lines: &[&str]) -> Result<(), String> {
        let event = |line: &&str| format!("{{\"time\":0,{line}}}\n");
        let text: String = lines.iter().map(event).collect();
        let history = jsonl::read(text.as_bytes(), &ReadOptions::default()).unwrap();
        history.check_vocabulary().map_err(|error| error.to_string())
    }

    fn operation(kind: &str, f: &str, value: &str) -> Result<(), String> {
        of_json(&[&format!(r#""process":0,"type":"{kind}","f":"{f}","value":{value}"#)])
    }

    fn of_nemesis(f: &str, value: &str) -> Result<(), String> {
        of_json(&[&format!(r#""process":"nemesis","type":"info","f":"{f}","value":{value}"#)])
    }

    #[test]
    fn every_field_is_taken_in_each_spelling_that_it_may_have() {
        for fields in [
            r#""token":-9223372036854775808"#,
            r#""token":18446744073709551615"#,
            r#""token":5.0,"ttl_ms":2000.0"#,
            r#""token":"5","asked_ns":"7","deadline_ns":"9""#,
            r#""token":null,"ttl_ms":null,"lease":null,"deadline_ns":null"#,
            r#""id":"0-1","seq":3,"unfenced":null,"fenced":"0-0","fenced_refused":true"#,
            r#""leader":null"#,
            r#""leader":"c2","lease":"7f","cause":"deadline""#,
            r#""color":5,"x":[{}]"#,
        ] {
            for f in ["acquire", "renew", "renewed", "write", "observe", "lapse"] {
                operation("ok", f, &format!("{{\"lock\":\"a\",{fields}}}")).unwrap();
            }
        }
    }

    #[test]
    fn a_wrong_type_is_no_absent_field() {
        for (field, why) in [
            (r#""token":"five""#, "a whole number from -9223372036854775808 to 18446744073709551615"),
            (r#""token":5.5"#, "a whole number from -9223372036854775808 to 18446744073709551615"),
            (r#""token":[5]"#, "a whole number from -9223372036854775808 to 18446744073709551615"),
            (r#""token":true"#, "a whole number from -9223372036854775808 to 18446744073709551615"),
            (r#""token":18446744073709551616"#, "a whole number"),
            (r#""token":-9223372036854775809"#, "a whole number"),
            (r#""ttl_ms":"2s""#, "a whole number from 0 to 18446744073709551615"),
            (r#""ttl_ms":-1"#, "a whole number from 0 to 18446744073709551615"),
            (r#""asked_ns":0.5"#, "a whole number from 0 to 18446744073709551615"),
            (r#""deadline_ns":{}"#, "a whole number from 0 to 18446744073709551615"),
            (r#""seq":"""#, "a whole number from 0 to 18446744073709551615"),
            (r#""lock":7"#, "text"),
            (r#""lease":7"#, "text"),
            (r#""id":7"#, "text"),
            (r#""unfenced":7"#, "text"),
            (r#""fenced":false"#, "text"),
            (r#""leader":["c1"]"#, "text"),
            (r#""cause":1"#, "text"),
            (r#""fenced_refused":"true""#, "true or false"),
            (r#""fenced_refused":1"#, "true or false"),
        ] {
            let (key, value) = field.split_once(':').unwrap();
            let key = key.trim_matches('"');
            for (kind, f) in [("ok", "acquire"), ("info", "write"), ("fail", "renew"), ("ok", "renewed")] {
                let said = operation(kind, f, &format!("{{{field}}}")).unwrap_err();
                assert!(said.starts_with(&format!("line 1: the {key} of {f} is ")), "{said}");
                assert!(said.contains(&format!(": it must be {why}")), "{value}: {said}");
            }
        }
    }

    #[test]
    fn nothing_is_answered_before_it_was_asked() {
        let event = |time: u64, kind: &str| {
            format!(r#"{{"time":{time},"process":0,"type":"{kind}","f":"acquire","value":{{"lock":"a"}}}}"#)
        };
        let told = |answer: &str| {
            let text = format!("{}\n{answer}\n", event(9, "invoke"));
            let history = jsonl::read(text.as_bytes(), &ReadOptions::default()).unwrap();
            history.check_vocabulary().map_err(|error| error.to_string())
        };
        let said = "line 2: acquire is answered at 2 ns, and was asked at 9 ns, later";
        assert_eq!(told(&event(2, "ok")).unwrap_err(), said);
        assert_eq!(told(&event(2, "fail")).unwrap_err(), said);
        told(&event(9, "ok")).unwrap();
        told(&event(2, "info")).unwrap();
    }

    #[test]
    fn what_is_done_to_a_lock_names_it() {
        for f in ["acquire", "campaign", "renew", "renewed", "release", "resign", "lapse", "observe"] {
            for value in ["null", "{}", r#"{"lock":null}"#, r#""a""#, "7"] {
                let said = operation("invoke", f, value).unwrap_err();
                assert_eq!(
                    said,
                    format!(
                        "line 1: {f} names no lock; its value must be an object such as {{\"lock\":\"a\"}}"
                    )
                );
            }
            operation("ok", f, "null").unwrap();
            operation("fail", f, "\"timeout\"").unwrap();
            let said = operation("ok", f, "7").unwrap_err();
            assert_eq!(said, format!("line 1: the value of {f} is 7: it must be an object"));
        }
    }

    #[test]
    fn reads_and_writes_of_something_else_are_left_alone_and_those_of_the_resource_are_not() {
        let event =
            |kind: &str, value: &str| format!(r#""process":0,"type":"{kind}","f":"read","value":{value}"#);
        let both = |asked: &str, got: &str| of_json(&[&event("invoke", asked), &event("ok", got)]);
        both("null", "7").unwrap();
        both("null", r#"{"seq":"x"}"#).unwrap();
        both(r#"{"lock":"a"}"#, r#"{"lock":"a","seq":7}"#).unwrap();
        assert_eq!(
            both(r#"{"lock":"a"}"#, "7").unwrap_err(),
            "line 2: the value of read is 7: it must be an object"
        );
        assert!(both(r#"{"token":1}"#, "null").unwrap_err().starts_with("line 1: read names no lock"));
        of_json(&[r#""process":0,"type":"invoke","f":"cas","value":{"lock":7}"#]).unwrap();
    }

    #[test]
    fn the_nemesis_is_read_as_strictly_and_that_of_others_is_not_read() {
        of_nemesis("start-pause", r#"{"fault":1,"targets":["c3"],"result":"installed"}"#).unwrap();
        of_nemesis("start-pause", r#"{"fault":"1","targets":[],"result":null}"#).unwrap();
        of_nemesis("start-partition", r#"["isolated",{"n1":["n2"]}]"#).unwrap();
        of_nemesis("start", r#"{"fault":"x"}"#).unwrap();
        of_nemesis("phase", r#"{"phase":"liveness","ttl_ms":2000.0,"bound_ms":"10000"}"#).unwrap();
        of_nemesis("stall", r#"{"node":"c3","from_ns":123,"to_ns":456}"#).unwrap();
        for (f, value, said) in [
            (
                "start-kill",
                r#"{"fault":"one"}"#,
                "the fault of start-kill is \"one\": it must be a whole number",
            ),
            ("start-kill", r#"{"fault":4294967296}"#, "from 0 to 4294967295"),
            ("start-kill", r#"{"targets":"c3"}"#, "it must be a list of texts"),
            ("start-kill", r#"{"targets":[3]}"#, "it must be a list of texts"),
            ("start-kill", r#"{"result":true}"#, "it must be text"),
            ("stop-kill", r#"{"healed":"yes"}"#, "it must be true or false"),
            ("phase", r#""liveness""#, "phase has no phase"),
            ("phase", r#"{"phase":2}"#, "it must be text"),
            ("phase", r#"{"phase":"liveness","ttl_ms":"2s"}"#, "the ttl_ms of phase"),
            ("exit", r#"{"node":1}"#, "it must be text"),
            ("stall", r#"{"node":"c3","from_ns":123}"#, "stall has no to_ns"),
            ("stall", r#"{"node":"c3","from_ns":2,"to_ns":1}"#, "the stall ends before it begins"),
            ("stall", r#"{"node":"c3","from_ns":-2,"to_ns":1}"#, "from 0 to"),
        ] {
            let found = of_nemesis(f, value).unwrap_err();
            assert!(found.starts_with("line 1: ") && found.contains(said), "{found}");
        }
    }

    #[test]
    fn edn_is_read_by_the_same_rules() {
        let told = |value: &str| {
            let text = format!(
                "{{:process 0 :type :invoke :f :acquire :value {{:lock :a}}}}\n{{:process 0 :type :ok :f :acquire :value {value}}}"
            );
            let history = edn::read(text.as_bytes(), &ReadOptions::default()).unwrap();
            history.check_vocabulary().map_err(|error| error.to_string())
        };
        told("{:lock :a :token 5N :ttl_ms 2000M}").unwrap();
        told("{:lock \"a\" :token \"5\" :ttl_ms nil}").unwrap();
        assert_eq!(
            told("{:lock :a :token :5}").unwrap_err(),
            "line 2: the token of acquire is :5: it must be a whole number from -9223372036854775808 to 18446744073709551615"
        );
        assert!(
            told("{:lock :a :ttl_ms 5/2}").unwrap_err().starts_with("line 2: the ttl_ms of acquire is 5/2")
        );
        assert!(told("{:lock [:a 1]}").unwrap_err().starts_with("line 2: the lock of acquire is [:a 1]"));
    }
}
