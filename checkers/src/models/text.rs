//! A text that can be read, replaced and appended to, and a key-value store of such.

use crate::model::{Lookahead, Model, Outlook, Timeline};

use super::{Keyed, size};

/// A key-value store with get, put and append, as in Porcupine's tests; a missing key reads as the empty text.
pub type KeyValue = Keyed<String, Text>;

impl KeyValue {
    /// An empty store.
    pub fn empty() -> KeyValue {
        Keyed::new(Text)
    }
}

/// A text, empty at first.
///
/// `info`: a put or append may have taken effect, a get says nothing. `fail`: it did not happen.
#[derive(Clone, Copy, Debug)]
pub struct Text;

/// What is asked of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextInput {
    /// All of it.
    Get,
    /// To be replaced.
    Put(String),
    /// To go on with.
    Append(String),
}

/// What a text answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextOutput {
    /// What it is.
    Text(String),
    /// Replaced or appended.
    Done,
}

impl Model for Text {
    type State = String;
    type Input = TextInput;
    type Output = TextOutput;

    fn initial(&self) -> String {
        String::new()
    }

    fn step(&self, state: &String, input: &TextInput, output: Option<&TextOutput>) -> Option<String> {
        match (input, output) {
            (TextInput::Get, Some(TextOutput::Text(text))) => (state == text).then(|| state.clone()),
            (TextInput::Get, None) => Some(state.clone()),
            (TextInput::Put(text), None | Some(TextOutput::Done)) => Some(text.clone()),
            (TextInput::Append(text), None | Some(TextOutput::Done)) => {
                let mut longer = String::with_capacity(state.len() + text.len());
                longer.push_str(state);
                longer.push_str(text);
                Some(longer)
            }
            _ => None,
        }
    }

    fn observes(&self, input: &TextInput, _output: Option<&TextOutput>) -> bool {
        matches!(input, TextInput::Get)
    }

    fn lookahead(&self, timeline: &Timeline<'_, Self>) -> Option<Box<dyn Lookahead<String> + Send>> {
        Some(Box::new(Prefixes::new(timeline)))
    }

    fn state_bytes(&self, state: &String) -> usize {
        size_of::<String>() + size::block(state.capacity())
    }
}

/// While nothing is put, a text only grows: it must begin what a later get reads, or go on from it.
struct Prefixes {
    gets: Vec<Get>,
    /// By event: the first of `gets` that returns there or later.
    next: Vec<u32>,
}

struct Get {
    text: String,
    event: u32,
    /// Every put that was invoked before the get's return has itself returned before this event.
    settled: u32,
}

impl Prefixes {
    fn new(timeline: &Timeline<'_, Text>) -> Prefixes {
        let mut puts: Vec<(u32, u32)> = (timeline.returned.iter().zip(1..))
            .chain(timeline.optional.iter().map(|placed| (placed, u32::MAX)))
            .filter(|(placed, _)| matches!(placed.op.input, TextInput::Put(_)))
            .map(|(placed, over)| (placed.since, over))
            .collect();
        puts.sort_unstable();
        let (mut gets, mut next) = (Vec::new(), Vec::new());
        let (mut seen, mut settled) = (0, 0);
        for (event, placed) in (0u32..).zip(&timeline.returned) {
            while puts.get(seen).is_some_and(|(since, _)| *since <= event) {
                settled = settled.max(puts[seen].1);
                seen += 1;
            }
            if let Some(TextOutput::Text(text)) = placed.op.output()
                && settled <= placed.since
            {
                next.resize(event as usize + 1, gets.len() as u32);
                gets.push(Get { text: text.clone(), event, settled });
            }
        }
        Prefixes { gets, next }
    }
}

impl Lookahead<String> for Prefixes {
    fn look(&self, state: &String, event: u32) -> Outlook<String> {
        let Some(&next) = self.next.get(event as usize) else { return Outlook::Keep { until: u32::MAX } };
        let get = &self.gets[next as usize];
        if event < get.settled {
            return Outlook::Keep { until: get.settled };
        }
        match get.text.starts_with(state.as_str()) || state.starts_with(get.text.as_str()) {
            true => Outlook::Keep { until: get.event + 1 },
            false => Outlook::Hopeless,
        }
    }
}
