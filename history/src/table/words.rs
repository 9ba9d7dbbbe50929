//! Known words by number instead of by text: what a check asks of every event costs one look into a list.

use super::rows::{History, Row};
use super::value::{Key, Value};

/// No word.
const NONE: u8 = u8::MAX;

/// A few words, such as the names of operations or of fields; known by their positions in the list that was given.
#[derive(Debug)]
pub struct Words<const N: usize> {
    words: [&'static str; N],
    /// By name of the history: the position of its word, or [`NONE`].
    places: Vec<u8>,
}

impl<const N: usize> Words<N> {
    /// Of a history as it is now, whose names do not change any more.
    pub fn new(history: &History, words: [&'static str; N]) -> Self {
        const { assert!(N < NONE as usize, "a position fits a byte") };
        let mut places = vec![NONE; history.names().len()];
        for (place, word) in (0..).zip(words) {
            if let Some(id) = history.names().find(word) {
                places[id as usize] = place;
            }
        }
        Self { words, places }
    }

    /// Which word the event's operation is.
    pub fn operation(&self, row: Row<'_>) -> Option<usize> {
        self.of(row.f_id())
    }

    /// The entries of an object whose keys are known, in their order, with the positions of the words.
    pub fn entries<'h>(&self, value: Value<'h>) -> impl Iterator<Item = (usize, Value<'h>)> {
        value.coded_entries().filter_map(|(code, value)| Some((self.place(code)?, value)))
    }

    #[inline]
    fn of(&self, id: u32) -> Option<usize> {
        self.places.get(id as usize).copied().filter(|&place| place != NONE).map(usize::from)
    }

    #[inline]
    fn place(&self, code: Result<u32, Key<'_>>) -> Option<usize> {
        match code {
            Ok(id) => self.of(id),
            Err(key) => self.place_of(key),
        }
    }

    #[cold]
    fn place_of(&self, key: Key<'_>) -> Option<usize> {
        let text = key.as_str()?;
        self.words.iter().position(|&word| word == text)
    }
}
