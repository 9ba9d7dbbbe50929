//! Texts that were read although they cannot be made of what was written by then.

use rustc_hash::FxHashSet;

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Text,
        text::{TextInput, TextOutput},
    },
    special::sweep::proved,
};

/// Bytes of pieces that are looked up.
const WORK_MAX: usize = 1 << 24;

/// Refutes a history in which a get read what is not a text put, or none, with texts appended, all invoked before the get
/// returned; before any search, and without a look at the order in which they acted.
pub fn wrong(ops: &[OpOf<Text>]) -> Option<Answer> {
    let mut by_call: Vec<&OpOf<Text>> = ops.iter().collect();
    by_call.sort_by_key(|op| op.call);
    let mut gets: Vec<(u64, u32, &str)> =
        (0..).zip(ops).filter_map(|(position, op)| read(position, op)).collect();
    gets.sort_unstable();
    let (mut pieces, mut written) = (Pieces::default(), by_call.into_iter().peekable());
    for (deadline, position, text) in gets {
        while let Some(op) = written.next_if(|op| op.call <= deadline) {
            match &op.input {
                TextInput::Put(text) => pieces.puts.add(text),
                TextInput::Append(text) => pieces.appended.add(text),
                TextInput::Get => {}
            }
        }
        if !pieces.make(text)? {
            return Some(proved(position, [], "nothing that was written by then makes up what it read"));
        }
    }
    None
}

fn read(position: u32, op: &OpOf<Text>) -> Option<(u64, u32, &str)> {
    match op.output() {
        Some(TextOutput::Text(text)) => Some((op.deadline(), position, text)),
        _ => None,
    }
}

/// Texts by content and by length.
#[derive(Default)]
struct Texts<'a> {
    texts: FxHashSet<&'a str>,
    lengths: Vec<usize>,
}

impl<'a> Texts<'a> {
    fn add(&mut self, text: &'a str) {
        if self.texts.insert(text) && !self.lengths.contains(&text.len()) {
            self.lengths.push(text.len());
        }
    }

    /// The ends of those that `text` goes on with at `start`.
    fn ends(&self, text: &str, start: usize) -> impl Iterator<Item = usize> {
        let is_one = move |end: &usize| text.get(start..*end).is_some_and(|piece| self.texts.contains(piece));
        self.lengths.iter().map(move |length| start + length).filter(is_one)
    }

    fn bytes(&self) -> usize {
        self.lengths.iter().sum()
    }
}

#[derive(Default)]
struct Pieces<'a> {
    puts: Texts<'a>,
    appended: Texts<'a>,
    /// The last text that can be made of them.
    made: &'a str,
    work: usize,
}

impl<'a> Pieces<'a> {
    /// Whether they make up a text; `None` if that takes too long.
    fn make(&mut self, text: &'a str) -> Option<bool> {
        let makes = text.starts_with(self.made) && self.go_on(text, vec![self.made.len()])?
            || self.go_on(text, self.puts.ends(text, 0).chain([0]).collect())?;
        if makes {
            self.made = text;
        }
        Some(makes)
    }

    fn go_on(&mut self, text: &str, mut open: Vec<usize>) -> Option<bool> {
        let mut seen = FxHashSet::default();
        while let Some(start) = open.pop() {
            if start == text.len() {
                return Some(true);
            }
            self.work += self.appended.bytes();
            if self.work > WORK_MAX {
                return None;
            }
            let ends = self.appended.ends(text, start);
            open.extend(ends.filter(|&end| end > start && seen.insert(end)));
        }
        Some(false)
    }
}
