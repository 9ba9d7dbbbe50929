//! Where a search stood, for people.

use crate::model::Model;

use super::search::Search;

/// A remembered configuration.
pub(super) struct Snapshot {
    /// State number's text is up to the model.
    pub state: u32,
    /// Pending operations already taken.
    pub taken: Vec<u32>,
    /// Indeterminate operations taken.
    pub used: Vec<u32>,
}

impl<M: Model> Search<'_, '_, M> {
    /// Up to `count_max` configurations at the furthest event.
    pub fn snapshots(&mut self, count_max: usize) -> Vec<Snapshot> {
        self.window.retreat(&self.plan, 0);
        while self.window.event < self.deepest {
            self.window.advance(&self.plan);
        }
        let entries: Vec<&[u64]> = self.memo.entries_at(self.deepest).take(count_max).collect();
        entries.into_iter().map(|config| self.snapshot(config)).collect()
    }

    fn snapshot(&self, config: &[u64]) -> Snapshot {
        let taken = (0..self.plan.mask_words).flat_map(|word| {
            let mut left = config[1 + word] & self.window.occupied[word];
            std::iter::from_fn(move || {
                let slot = (left != 0).then(|| word * 64 + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                slot
            })
        });
        let used = &config[1 + self.plan.mask_words..];
        Snapshot {
            state: config[0] as u32,
            taken: taken.map(|slot| self.plan.calls[self.window.pending[slot] as usize].op).collect(),
            used: self
                .plan
                .spares
                .iter()
                .flat_map(|spare| spare.ops[..spare.field.get(used)].iter().copied())
                .collect(),
        }
    }
}
