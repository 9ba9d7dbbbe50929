//! One history: written in one format after another, judged, and held against what is right.

use std::path::Path;

use super::{
    brute::Twist,
    expected::{Expected, Meaning, Verdict, expected, expected_of_any},
    history::{End, Event, Operation, Value, operations},
    judge::{Said, judge},
    objects::Object,
    random::Random,
    spelling::{Format, Keying, Spelling},
    write::{Written, write},
};

/// One history, in all its formats.
pub struct Case {
    object: Object,
    pub events: Vec<Event>,
    operations: Vec<Operation>,
    meaning: Meaning,
    /// The first verdict by models and by whether names are certain, and where it was given.
    first: Vec<(Vec<Object>, bool, Verdict, Format)>,
}

pub struct Told {
    pub verdict: Option<Verdict>,
    pub wrong: Option<Wrong>,
}

pub struct Wrong {
    /// The kind.
    pub why: String,
    /// All of it.
    pub told: String,
}

impl Case {
    /// Of an object of this kind, or several with keys; some come with a word on what they mean.
    pub fn new(object: Object, events: Vec<Event>, twist: Option<Twist>, random: &mut Random) -> Case {
        let operations = operations(&events);
        let stated = object.has_initial() && random.chance(15);
        let initial = stated.then(|| initial(&operations, random));
        let nil_is_value = object.has_initial() && random.chance(15);
        let meaning = Meaning { refused: random.chance(15), initial, nil_is_value, twist };
        Case { object, events, operations, meaning, first: Vec::new() }
    }

    /// `None` if the model cannot be told from the operations, and has to be named.
    pub fn judge(&mut self, format: Format, named: bool, file: &Path, random: &mut Random) -> Option<Told> {
        let objects = if named { vec![self.object] } else { self.suggested() };
        let right = expected_of_any(&objects, &self.operations, &self.meaning)?;
        let spelling = Spelling::draw(format, self.object, named, &self.events, random);
        let Written { text, positions } = write(&self.events, &spelling, random);
        let mut said = judge(&text, file, named.then_some(self.object), &self.meaning);
        let own = |position: &usize| positions.iter().position(|own| own == position);
        said.part = said.part.iter().filter_map(own).collect();
        let wrong = self.wrong(&objects, &spelling, &right, &said).map(|why| {
            let how = if named { format!("--model {}", self.object.name()) } else { "no model named".into() };
            let Meaning { refused, initial, nil_is_value, .. } = &self.meaning;
            let told = format!(
                "{}, {how}, failed ones were refused: {refused}, nil was read: {nil_is_value}, initial: {initial:?}: {why}\n  right: {:?}\n  said: {:?}: {}\n  notes: {}\n{text}",
                format.name(),
                right.right,
                said.verdict,
                said.reason.replace(&file.display().to_string(), "FILE"),
                said.notes.join("\n         ")
            );
            Wrong { why, told }
        });
        Some(Told { verdict: said.verdict, wrong })
    }

    /// The models that these operations suggest.
    fn suggested(&self) -> Vec<Object> {
        let is_token = |operation: &Operation| matches!(&operation.end, End::Ok(_, Value::Int(_)));
        let only_released = self.operations.iter().all(|operation| operation.f == "release");
        let reads_only = self.operations.iter().all(|operation| operation.f == "read");
        match self.object {
            Object::Semaphore => vec![],
            object if object.is_lock() && only_released => vec![],
            object if object.is_lock() => vec![match self.operations.iter().any(is_token) {
                true => Object::FencedMutex,
                false => Object::Mutex,
            }],
            object if reads_only => vec![Object::CasRegister, object],
            object => vec![object],
        }
    }

    fn wrong(
        &mut self,
        objects: &[Object],
        spelling: &Spelling,
        right: &Expected,
        said: &Said,
    ) -> Option<String> {
        let Some(verdict) = said.verdict else { return Some("refused".into()) };
        let asks = verdict == Verdict::Unknown && asks_for_more(&said.reason);
        if !asks && !right.right.contains(&verdict) {
            return Some("another verdict is right".into());
        }
        if said.explained != Some(verdict) {
            return Some(format!("the explanation says {:?}", said.explained));
        }
        if right.hangs_on_nil && !said.notes.iter().any(|note| note.contains("nil")) {
            return Some("the verdict hangs on what a read of nil means, and no word of it".into());
        }
        let has_initial = objects.iter().any(|object| object.has_initial());
        // What registers start with is chosen for the whole history.
        if !has_initial && objects.iter().any(|object| self.part_is_right(*object, said)) {
            return Some("the smallest part is not wrong".into());
        }
        // Another format may tell what is asked for here, such as whether elements are a set's.
        if asks {
            return None;
        }
        let is_certain = spelling.keying != Keying::Alone;
        match self.first.iter().find(|(others, certain, ..)| *others == objects && *certain == is_certain) {
            Some((_, _, first, there)) if *first != verdict => {
                return Some(format!("{first:?} in {}", there.name()));
            }
            Some(_) => {}
            None => self.first.push((objects.to_vec(), is_certain, verdict, spelling.format)),
        }
        None
    }

    /// Whether the smallest part is right, though it is shown as what is wrong.
    fn part_is_right(&self, object: Object, said: &Said) -> bool {
        if said.part.is_empty() || self.meaning.twist.is_some() {
            return false;
        }
        let shown = |operation: &&Operation| said.part.contains(&operation.call);
        let part: Vec<Operation> = self.operations.iter().filter(shown).cloned().collect();
        !expected(object, &part, &self.meaning).right.contains(&Verdict::Invalid)
    }
}

/// Something that the registers are said to start with, as all formats can write it.
fn initial(operations: &[Operation], random: &mut Random) -> Value {
    let written: Vec<Value> = operations
        .iter()
        .filter(|operation| matches!(operation.input, Value::Int(_) | Value::Text(_)))
        .map(|operation| operation.input.clone())
        .chain([Value::Nil])
        .collect();
    random.pick(&written).clone()
}

/// Whether it is unknown because it can mean several things, and says what to add.
fn asks_for_more(reason: &str) -> bool {
    ["--model", "--initial", "--nil-read", "--failed-cas", "--lock-value"]
        .iter()
        .any(|option| reason.contains(option))
}
