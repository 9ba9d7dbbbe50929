//! A text that can be read, replaced and appended to, and a key-value store of such.

mod special;

use crate::{
    answer::Answer,
    model::{Lookahead, Model, OpOf, Outlook, Timeline},
};

use super::{Keyed, size, words};

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

    fn permits(&self, state: &String, input: &TextInput, output: Option<&TextOutput>) -> bool {
        match (input, output) {
            (TextInput::Get, Some(TextOutput::Text(text))) => state == text,
            (TextInput::Get, None) => true,
            _ => output.is_none_or(|output| *output == TextOutput::Done),
        }
    }

    fn lookahead(&self, timeline: &Timeline<'_, Self>) -> Option<Box<dyn Lookahead<String> + Send>> {
        Some(Box::new(Prefixes::new(timeline)))
    }

    fn shortcut(&self, ops: &[OpOf<Self>]) -> Option<Answer> {
        special::wrong(ops)
    }

    fn state_bytes(&self, state: &String) -> usize {
        size_of::<String>() + size::block(state.capacity())
    }

    fn describe(&self, input: &TextInput, output: Option<&TextOutput>) -> String {
        let asked = match input {
            TextInput::Get => "get".to_string(),
            TextInput::Put(text) => format!("put {}", words::value(text)),
            TextInput::Append(text) => format!("append {}", words::value(text)),
        };
        match output {
            Some(TextOutput::Text(text)) => format!("{asked} → {}", words::value(text)),
            Some(TextOutput::Done) => asked,
            None if *input == TextInput::Get => format!("{asked} → ?"),
            None => format!("{asked}: ?"),
        }
    }

    fn describe_state(&self, state: &String) -> String {
        words::value(state)
    }
}

/// While nothing is put, a text only grows: it must begin what a later get reads, or go on from it.
struct Prefixes {
    gets: Vec<Get>,
    /// By event: the first of `gets` that returns there or later.
    next: Vec<u32>,
    lost: Option<Lost>,
}

/// Where it is open whether puts happened (explanations ask that), texts that no get will see are kept by the thousand,
/// since a put may yet replace them. They are all one.
struct Lost {
    /// Stands for them: no get will see it, nor anything appended to it.
    text: String,
    /// What is read, and at which event that returns.
    gets: Vec<(String, u32)>,
}

impl Lost {
    /// `None` where a put that may not have happened may come at any time; the search then has other means.
    fn new(timeline: &Timeline<'_, Text>) -> Option<Lost> {
        timeline.optional.iter().any(|placed| placed.until < u32::MAX).then_some(())?;
        let texts = timeline.returned.iter().filter_map(|placed| match placed.op.output() {
            Some(TextOutput::Text(text)) => Some((text.clone(), placed.until)),
            _ => None,
        });
        let gets: Vec<(String, u32)> = texts.collect();
        let is_read = |first: &char| gets.iter().any(|(text, _)| text.starts_with(*first));
        let text = ('\u{1}'..).find(|first| !is_read(first))?.to_string();
        Some(Lost { text, gets })
    }

    /// Up to which event some get may see this text or what comes of it by appending.
    fn until(&self, state: &str, event: u32) -> Option<u32> {
        let sees = |(text, at): &&(String, u32)| *at >= event && text.starts_with(state);
        self.gets.iter().filter(sees).map(|(_, at)| at + 1).max()
    }
}

struct Get {
    text: String,
    event: u32,
    /// Every put that was invoked before the get's return has itself returned before this event.
    settled: u32,
}

impl Prefixes {
    fn new(timeline: &Timeline<'_, Text>) -> Prefixes {
        let mut puts: Vec<(u32, u32)> = (timeline.returned.iter().chain(&timeline.optional))
            .filter(|placed| matches!(placed.op.input, TextInput::Put(_)))
            .map(|placed| (placed.since, placed.until.saturating_add(1)))
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
        Prefixes { gets, next, lost: Lost::new(timeline) }
    }
}

impl Lookahead<String> for Prefixes {
    fn look(&self, state: &String, event: u32) -> Outlook<String> {
        let seen_until = match &self.lost {
            Some(lost) if *state == lost.text => return Outlook::Keep { until: u32::MAX },
            // Some get may have seen it before it was lost, so that it is not hopeless either.
            Some(lost) if state.starts_with(&lost.text) => return Outlook::Same(lost.text.clone()),
            Some(lost) => lost.until(state, event),
            None => Some(u32::MAX),
        };
        let Some(&next) = self.next.get(event as usize) else { return self.kept(seen_until, u32::MAX) };
        let get = &self.gets[next as usize];
        if event < get.settled {
            return self.kept(seen_until, get.settled);
        }
        match get.text.starts_with(state.as_str()) || state.starts_with(get.text.as_str()) {
            true => self.kept(seen_until, get.event + 1),
            false => Outlook::Hopeless,
        }
    }
}

impl Prefixes {
    /// As it is, up to an event; or as one with all that no get will see.
    fn kept(&self, seen_until: Option<u32>, until: u32) -> Outlook<String> {
        match (seen_until, &self.lost) {
            (None, Some(lost)) => Outlook::Same(lost.text.clone()),
            (seen, _) => Outlook::Keep { until: seen.map_or(until, |seen| seen.min(until)) },
        }
    }
}
