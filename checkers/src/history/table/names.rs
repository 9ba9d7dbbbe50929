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
pub(in crate::history) struct SharedNames(Arc<Mutex<Names>>);

impl SharedNames {
    pub(super) fn snapshot(&self) -> Names {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One thread's view of the shared names: asks the others only about a name it has not met yet.
pub(in crate::history) struct NameCache {
    shared: SharedNames,
    ids: FxHashMap<Arc<str>, u32>,
}

impl NameCache {
    pub(in crate::history) fn new(shared: &SharedNames) -> Self {
        Self { shared: shared.clone(), ids: FxHashMap::default() }
    }

    /// Looks at all names met so far.
    pub(super) fn with<T>(&self, look: impl FnOnce(&Names) -> T) -> T {
        look(&self.shared.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn intern(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let (name, id) = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner).intern(name);
        self.ids.insert(name, id);
        id
    }

    /// The number of an object key; `None` when the key is to be kept within its value.
    pub(super) fn key(&mut self, key: &str) -> Option<u32> {
        if let Some(&id) = self.ids.get(key) {
            return Some(id);
        }
        (key.len() <= KEY_LENGTH_MAX && self.ids.len() < KEYS_MAX).then(|| self.intern(key))
    }
}
