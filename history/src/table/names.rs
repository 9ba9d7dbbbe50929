use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

/// Object keys beyond this many names, or longer than [`KEY_LENGTH_MAX`], stay in the values: a history whose keys
/// never recur must not fill the memory with them.
const KEYS_MAX: usize = 4096;
const KEY_LENGTH_MAX: usize = 64;

/// Strings that recur (operations, nodes, object keys), each kept once and known by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    list: Vec<Arc<str>>,
    ids: FxHashMap<Arc<str>, u32>,
}

impl Names {
    pub(super) fn get(&self, id: u32) -> &str {
        &self.list[id as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The number of a name, if it was met.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    /// Bytes, about.
    pub(super) fn memory(&self) -> usize {
        self.list.iter().map(|name| name.len() + 80).sum()
    }

    fn intern(&mut self, name: &str) -> (Arc<str>, u32) {
        if let Some((name, &id)) = self.ids.get_key_value(name) {
            return (name.clone(), id);
        }
        let id = u32::try_from(self.list.len()).expect("fewer names than events, whose number is limited");
        let name: Arc<str> = name.into();
        self.list.push(name.clone());
        self.ids.insert(name.clone(), id);
        (name, id)
    }
}

/// The names of a history while several threads read parts of it, so that all parts use the same numbers.
#[derive(Clone, Default)]
pub(crate) struct SharedNames(Arc<Mutex<Names>>);

impl SharedNames {
    pub(super) fn snapshot(&self) -> Names {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One thread's view of the shared names: asks the others only about a name it has not met yet.
pub(crate) struct NameCache {
    shared: SharedNames,
    ids: FxHashMap<Arc<str>, u32>,
    /// Short names that came lately, each at the place that its text gives it.
    recent: Box<[(Short, u32); RECENT]>,
}

/// How many short names are found without a look into the map.
const RECENT: usize = 256;

/// A name of 1 to 16 bytes: its first eight and its last eight, which may be the same in part; and how many it has. The
/// empty one is that of no name.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Short {
    first: u64,
    last: u64,
    length: u32,
}

impl NameCache {
    pub(crate) fn new(shared: &SharedNames) -> Self {
        let recent = Box::new([Default::default(); RECENT]);
        Self { shared: shared.clone(), ids: FxHashMap::default(), recent }
    }

    /// Looks at all names met so far.
    pub(super) fn with<T>(&self, look: impl FnOnce(&Names) -> T) -> T {
        look(&self.shared.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn intern(&mut self, name: &str) -> u32 {
        self.recall(name, |cache| Some(cache.look_up(name))).unwrap_or_default()
    }

    /// The number of an object key; `None` when the key is to be kept within its value.
    pub(super) fn key(&mut self, key: &str) -> Option<u32> {
        self.recall(key, |cache| {
            let is_kept = key.len() <= KEY_LENGTH_MAX && cache.ids.len() < KEYS_MAX;
            if is_kept { Some(cache.look_up(key)) } else { cache.ids.get(key).copied() }
        })
    }

    /// What came lately, or else what is found.
    #[inline]
    fn recall(&mut self, name: &str, find: impl FnOnce(&mut Self) -> Option<u32>) -> Option<u32> {
        let Some(short) = Short::new(name) else { return find(self) };
        let place = short.place();
        if self.recent[place].0 != short {
            self.recent[place] = (short, find(self)?);
        }
        Some(self.recent[place].1)
    }

    fn look_up(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let (name, id) = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).intern(name);
        self.ids.insert(name, id);
        id
    }
}

impl Short {
    #[inline]
    fn new(name: &str) -> Option<Short> {
        let (bytes, length) = (name.as_bytes(), name.len() as u32);
        Some(match bytes.len() {
            8..=16 => {
                let (first, last) = (bytes.first_chunk()?, bytes.last_chunk()?);
                Short { first: u64::from_le_bytes(*first), last: u64::from_le_bytes(*last), length }
            }
            4..8 => {
                let (first, last) = (bytes.first_chunk()?, bytes.last_chunk()?);
                Short {
                    first: u32::from_le_bytes(*first).into(),
                    last: u32::from_le_bytes(*last).into(),
                    length,
                }
            }
            1..4 => {
                let [first, middle, last] = [bytes[0], bytes[bytes.len() / 2], bytes[bytes.len() - 1]];
                Short { first: u64::from(first) << 8 | u64::from(middle), last: last.into(), length }
            }
            _ => return None,
        })
    }

    fn place(self) -> usize {
        let mixed = (self.first ^ self.last.rotate_left(23)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (u64::BITS - RECENT.ilog2())) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_told_apart_and_found_again() {
        let letters = ["", "a", "b", "ab", "ba", "aab"];
        let mut names: Vec<String> = letters
            .iter()
            .flat_map(|a| letters.map(|b| letters.map(|c| format!("{a}{b}{c}"))))
            .flatten()
            .collect();
        names.extend((0..2000).map(|number| format!("{number}-and-{number}")));
        let shared = SharedNames::default();
        let mut cache = NameCache::new(&shared);
        for _ in 0..2 {
            for name in &names {
                let id = cache.intern(name);
                assert_eq!(shared.snapshot().get(id), name);
            }
        }
    }

    #[test]
    fn keys_beyond_the_greatest_number_stay_in_their_values() {
        let mut cache = NameCache::new(&SharedNames::default());
        let ids: Vec<_> = (0..KEYS_MAX + 10).map(|number| cache.key(&number.to_string())).collect();
        assert!(ids[..KEYS_MAX].iter().all(Option::is_some) && ids[KEYS_MAX..].iter().all(Option::is_none));
        assert_eq!(cache.key("7"), ids[7]);
        assert_eq!(cache.key(&"long".repeat(KEY_LENGTH_MAX)), None);
    }
}
