//! A script's keys and arguments, as they travel.

use std::fmt;

use smallvec::SmallVec;

/// What most scripts have at most, keys and arguments together.
pub(super) const WORDS: usize = 6;

/// Keys, then arguments, in one piece of memory: each try for a lock sends one to every server.
#[derive(Clone)]
pub(super) struct Words {
    text: String,
    ends: SmallVec<[u32; WORDS]>,
    keys: usize,
}

impl Words {
    pub(super) fn new(keys: &[&str], args: &[&str]) -> Words {
        let all = || keys.iter().chain(args);
        let mut words = Words {
            text: String::with_capacity(all().map(|word| word.len()).sum()),
            ends: SmallVec::new(),
            keys: keys.len(),
        };
        for word in all() {
            words.text.push_str(word);
            words.ends.push(words.text.len() as u32);
        }
        words
    }

    /// How many of them are keys.
    pub(super) fn keys(&self) -> usize {
        self.keys
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start as usize..*end as usize])
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let words = Words::new(&["lock:a", ""], &["c1:é", "7", "8", "9", "10"]);
        assert_eq!(words.keys(), 2);
        assert_eq!(words.iter().collect::<Vec<_>>(), ["lock:a", "", "c1:é", "7", "8", "9", "10"]);
    }
}
