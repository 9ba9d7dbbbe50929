//! What the names in one history mean.

use rustc_hash::FxHashMap;

use super::Unfit;
use history::{EventKind, History, Process, Row, names::Vocabulary};

/// What the names in one history mean.
pub(super) struct Names(FxHashMap<u32, &'static str>);

impl Names {
    /// Of its clients' invocations.
    ///
    /// # Errors
    /// The first that the vocabulary does not have.
    pub(super) fn of(history: &History, vocabulary: &Vocabulary) -> Result<Names, Unfit> {
        let mut names = FxHashMap::default();
        for row in invocations(history) {
            if names.contains_key(&row.f_id()) {
                continue;
            }
            let Some(operation) = vocabulary.operation(row.f()) else {
                let Vocabulary { model, .. } = vocabulary;
                let message =
                    format!("{} is no operation of a {model}, which are: {}", row.f(), vocabulary.list());
                return Err(Unfit::new(row, message));
            };
            names.insert(row.f_id(), operation);
        }
        Ok(Names(names))
    }

    pub(super) fn get(&self, row: Row<'_>) -> &'static str {
        self.0.get(&row.f_id()).copied().unwrap_or_default()
    }
}

/// What clients ask for.
pub fn invocations(history: &History) -> impl Iterator<Item = Row<'_>> + Clone {
    history.rows().filter(|row| row.kind() == EventKind::Invoke && row.process() != Process::Nemesis)
}
