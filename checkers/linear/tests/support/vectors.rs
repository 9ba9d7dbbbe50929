//! Histories with known verdicts, from `../shared/vectors` beside the workspace.

use std::{collections::BTreeMap, fs, path::PathBuf};

use history::verdict::Verdict;
use linear::{
    model::OpOf,
    models::{
        KeyValue, MultiRegister, Register,
        keyed::At,
        lock::{Lock, LockAction, LockInput, LockOutput},
        multi_register::Micro,
        register::{RegisterInput, RegisterOutput},
        text::{TextInput, TextOutput},
    },
    op::FailMeans,
    pairing::Pairing,
};

use super::edn::{Form, forms};

pub type Registers = Register<Option<i64>>;
pub type MultiRegisters = MultiRegister<String, i64>;

/// A line of `INDEX.tsv`.
pub struct Vector {
    pub path: String,
    pub format: String,
    pub model: String,
    pub initial: String,
    pub expected: Verdict,
}

/// The vectors, or none, and loudly, where the folder is missing.
pub fn index() -> Vec<Vector> {
    let Ok(index) = fs::read_to_string(folder().join("INDEX.tsv")) else {
        eprintln!("NOTHING WAS TESTED: there is no {}", folder().join("INDEX.tsv").display());
        return Vec::new();
    };
    let lines = index.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    lines
        .map(|fields| Vector {
            path: fields[0].into(),
            format: fields[1].into(),
            model: fields[2].into(),
            initial: fields[3].into(),
            expected: if fields[6] == "linearizable" { Verdict::Valid } else { Verdict::Invalid },
        })
        .collect()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors")
}

/// Process, type, function and value of each event.
type Raw = (u32, String, String, Form, Form);

fn events(path: &str) -> Vec<Raw> {
    let text = fs::read_to_string(folder().join(path)).expect("a vector that is listed can be read");
    let raw = |process: &Form, kind: &Form, f: &Form, value: &Form, key: &Form| {
        let process = process.int().and_then(|process| u32::try_from(process).ok());
        Some((process?, kind.word().into(), f.word().into(), value.clone(), key.clone()))
    };
    if path.ends_with(".log") {
        let fields = |line: &str| forms(line.split_once(" - ").map_or("", |(_, fields)| fields));
        return text
            .lines()
            .map(fields)
            .filter_map(|fields| {
                raw(fields.first()?, fields.get(1)?, fields.get(2)?, fields.get(3)?, &Form::Nil)
            })
            .collect();
    }
    let mut forms = forms(&text);
    if path.ends_with(".edn") {
        forms = forms[0].items().to_vec();
    }
    let field = |form: &Form| {
        raw(form.get("process"), form.get("type"), form.get("f"), form.get("value"), form.get("key"))
    };
    forms.iter().filter_map(field).collect()
}

/// In Knossos a read of nil is a read of anything; in Jepsen's logs it is one of no value.
pub fn registers(vector: &Vector) -> (Registers, Vec<OpOf<Registers>>) {
    let is_knossos = vector.format == "knossos-edn";
    let fail = if is_knossos { FailMeans::Nothing } else { FailMeans::Refused };
    let mut pairing = Pairing::new();
    for (at, (process, kind, f, value, _)) in (0..).zip(events(&vector.path)) {
        let result = match (kind.as_str(), f.as_str()) {
            ("invoke", "read") => pairing.invoke(process, at, RegisterInput::Read),
            ("invoke", "write") => pairing.invoke(process, at, RegisterInput::Write(value.int())),
            ("invoke", _) => {
                let (from, to) = (value.items()[0].int(), value.items()[1].int());
                pairing.invoke(process, at, RegisterInput::Cas { from, to })
            }
            ("ok", "read") if is_knossos && value == Form::Nil => pairing.drop(process),
            ("ok", "read") => pairing.ok(process, at, RegisterOutput::Value(value.int())),
            ("ok", _) => pairing.ok(process, at, RegisterOutput::Done),
            ("fail", "cas") => pairing.fail(process, at, fail, RegisterOutput::Refused),
            ("fail", _) => pairing.drop(process),
            _ => pairing.info(process),
        };
        result.expect("a vector is a history");
    }
    (Register { initial: vector.initial.parse().ok() }, pairing.finish())
}

pub fn key_values(vector: &Vector) -> Vec<OpOf<KeyValue>> {
    let mut pairing = Pairing::new();
    for (at, (process, kind, f, value, key)) in (0..).zip(events(&vector.path)) {
        let text = |form| match form {
            Form::Text(text) => text,
            _ => String::new(),
        };
        let result = match (kind.as_str(), f.as_str()) {
            ("invoke", f) => {
                let input = match f {
                    "get" => TextInput::Get,
                    "put" => TextInput::Put(text(value)),
                    _ => TextInput::Append(text(value)),
                };
                pairing.invoke(process, at, At { key: text(key), input })
            }
            ("ok", "get") => pairing.ok(process, at, TextOutput::Text(text(value))),
            _ => pairing.ok(process, at, TextOutput::Done),
        };
        result.expect("a vector is a history");
    }
    pairing.finish()
}

pub fn multi_registers(vector: &Vector) -> (MultiRegisters, Vec<OpOf<MultiRegisters>>) {
    let micro = |form: &Form| match form.items() {
        [f, key, _] if f.word() == "read" => Micro::Read(key.word().to_string()),
        [_, key, value] => {
            Micro::Write(key.word().to_string(), value.int().expect("what is written is a number"))
        }
        _ => panic!("a step has three parts"),
    };
    let read = |form: &Form| match form.items() {
        [f, _, value] if f.word() == "read" => value.int(),
        _ => None,
    };
    let mut pairing = Pairing::new();
    for (at, (process, kind, _, value, _)) in (0..).zip(events(&vector.path)) {
        let result = match kind.as_str() {
            "invoke" => pairing.invoke(process, at, value.items().iter().map(micro).collect()),
            "ok" => pairing.ok(process, at, value.items().iter().map(read).collect()),
            "fail" => pairing.drop(process),
            _ => pairing.info(process),
        };
        result.expect("a vector is a history");
    }
    let initial = BTreeMap::from_iter(["x", "y"].map(|key| (key.to_string(), 0)));
    (MultiRegister::new(initial), pairing.finish())
}

pub fn mutexes(vector: &Vector) -> Vec<OpOf<Lock>> {
    let mut pairing = Pairing::new();
    for (at, (process, kind, f, ..)) in (0..).zip(events(&vector.path)) {
        let action = if f == "acquire" { LockAction::Acquire } else { LockAction::Release };
        let result = match kind.as_str() {
            "invoke" => pairing.invoke(process, at, LockInput { owner: process, action }),
            "ok" => pairing.ok(process, at, LockOutput::Done { token: None }),
            "fail" => pairing.drop(process),
            _ => pairing.info(process),
        };
        result.expect("a vector is a history");
    }
    pairing.finish()
}

/// `synthetic/lock`: lines of process, type, function and token; the file's name tells what it was made to be.
pub fn locks() -> Vec<(String, Vec<OpOf<Lock>>)> {
    let files = fs::read_dir(folder().join("synthetic/lock")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.file_stem().unwrap().to_string_lossy().into(), lock(&path))).collect()
}

fn lock(path: &PathBuf) -> Vec<OpOf<Lock>> {
    let text = fs::read_to_string(path).expect("a vector that is listed can be read");
    let mut pairing = Pairing::new();
    for (at, line) in (0..).zip(text.lines()) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let process = fields[0].parse().expect("a process is a number");
        let action = if fields[2] == "acquire" { LockAction::Acquire } else { LockAction::Release };
        let token = fields.get(3).and_then(|token| token.parse().ok());
        let result = match fields[1] {
            "invoke" => pairing.invoke(process, at, LockInput { owner: process, action }),
            "ok" => pairing.ok(process, at, LockOutput::Done { token }),
            "fail" => pairing.drop(process),
            _ => pairing.info(process),
        };
        result.expect("a vector is a history");
    }
    pairing.finish()
}
