//! Where a search stood, for people.

use crate::model::Model;

use super::{search::Search, window::EMPTY};

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
        let is_taken = |slot: usize| config[1 + slot / 64] >> (slot % 64) & 1 == 1;
        let used = &config[1 + self.plan.mask_words..];
        Snapshot {
            state: config[0] as u32,
            taken: (0..self.window.pending.len())
                .filter(|&slot| self.window.pending[slot] != EMPTY && is_taken(slot))
                .map(|slot| self.plan.calls[self.window.pending[slot] as usize].op)
                .collect(),
            used: self
                .plan
                .spares
                .iter()
                .flat_map(|spare| spare.ops[..spare.field.get(used)].iter().copied())
                .collect(),
        }
    }
}
