//! What can be taken next, and the way back to what was not tried yet.

use crate::model::Model;

use super::{
    super::{plan::Place, states::ILLEGAL},
    Search,
};

/// In a choice: the rest of the number is a spare, not a call.
const OPTIONAL: u32 = 1 << 31;

/// Frames that there is room for from the first.
const ROOM: usize = 64;

/// Frames of a depth-first search, each with its untried choices.
pub(super) struct Choices {
    frames: Vec<Frame>,
    /// Mask and used counts of each frame.
    saved: Vec<u64>,
    untried: Vec<u32>,
    /// Deadline, call and class of the required ones under consideration.
    candidates: Vec<(u32, u32, u32)>,
}

struct Frame {
    event: u32,
    state: u32,
    choice: u32,
    taken: u32,
}

impl Choices {
    pub fn new() -> Choices {
        Choices {
            frames: Vec::with_capacity(ROOM),
            saved: Vec::with_capacity(ROOM * 2),
            untried: Vec::with_capacity(ROOM * 2),
            candidates: Vec::with_capacity(16),
        }
    }

    /// Bytes set aside.
    pub fn bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Frame>() + self.saved.capacity() * 8 + self.untried.capacity() * 4
    }
}

impl<M: Model> Search<'_, '_, M> {
    /// Pushes a frame with everything that can be taken next: required operations by deadline, then optional ones.
    pub(super) fn expand(&mut self) {
        let first = self.choices.untried.len() as u32;
        self.require();
        self.choose();
        if self.choices.untried.len() as u32 == first {
            return;
        }
        self.choices.untried[first as usize..].reverse();
        self.choices.frames.push(Frame {
            event: self.window.event,
            state: self.state,
            choice: first,
            taken: self.taken.len() as u32,
        });
        self.choices.saved.extend_from_slice(&self.config[1..]);
    }

    fn require(&mut self) {
        let mut candidates = std::mem::take(&mut self.choices.candidates);
        candidates.clear();
        for word in 0..self.plan.mask_words {
            let mut open = self.window.occupied[word] & !self.mask()[word];
            while open != 0 {
                let slot = word * 64 + open.trailing_zeros() as usize;
                open &= open - 1;
                let call = self.window.pending[slot];
                let class = self.plan.calls[call as usize].class;
                if self.next(class) == ILLEGAL {
                    continue;
                }
                let Place::Required { deadline, .. } = self.plan.calls[call as usize].place else { continue };
                match candidates.iter_mut().find(|(_, _, other)| *other == class) {
                    Some(twin) if twin.0 > deadline => *twin = (deadline, call, class),
                    Some(_) => {}
                    None => candidates.push((deadline, call, class)),
                }
            }
        }
        candidates.sort_unstable();
        self.choices.untried.extend(candidates.iter().map(|&(_, call, _)| call));
        self.choices.candidates = candidates;
    }

    /// Adds the optional operations; `candidates` still holds the required ones.
    fn choose(&mut self) {
        for spare in 0..self.plan.spares.len() {
            let field = self.plan.spares[spare].field;
            if field.get(self.used()) >= self.window.invoked[spare] as usize {
                continue;
            }
            let class = self.plan.spares[spare].class;
            let next = self.next(class);
            if next == ILLEGAL || next == self.state {
                continue;
            }
            let input = self.plan.classes[class as usize].input;
            let has_twin = (0..self.choices.candidates.len()).any(|twin| {
                let class = self.choices.candidates[twin].2;
                self.plan.classes[class as usize].input == input && self.next(class) == next
            });
            if !has_twin {
                self.choices.untried.push(OPTIONAL | spare as u32);
            }
        }
    }

    /// Goes to the next untried choice, back from where there is none; `false` if none is left at all.
    pub(super) fn take_next(&mut self) -> bool {
        while let Some(frame) = self.choices.frames.last() {
            let (event, state, first, taken) = (frame.event, frame.state, frame.choice, frame.taken);
            let words = self.config.len() - 1;
            if self.choices.untried.len() as u32 == first {
                self.choices.frames.pop();
                self.choices.saved.truncate(self.choices.saved.len() - words);
                continue;
            }
            let choice = self.choices.untried.pop().expect("a choice is left");
            debug_assert!(taken as usize <= self.taken.len(), "the way back is a part of the way");
            debug_assert!(event <= self.window.event, "the way back leads back");
            self.window.retreat(&self.plan, event);
            self.state = state;
            self.taken.truncate(taken as usize);
            let start = self.choices.saved.len() - words;
            self.config[1..].copy_from_slice(&self.choices.saved[start..]);
            self.take(choice);
            return true;
        }
        false
    }

    fn take(&mut self, choice: u32) {
        let class = if choice & OPTIONAL != 0 {
            let spare = &self.plan.spares[(choice & !OPTIONAL) as usize];
            let count = spare.field.get(self.used());
            debug_assert!(
                count < self.window.invoked[(choice & !OPTIONAL) as usize] as usize,
                "only what was invoked is taken"
            );
            self.taken.push(spare.ops[count]);
            spare.field.increment(&mut self.config[1 + self.plan.mask_words..]);
            spare.class
        } else {
            let call = &self.plan.calls[choice as usize];
            if let Place::Required { slot, .. } = call.place {
                debug_assert!(
                    self.mask()[slot as usize / 64] >> (slot % 64) & 1 == 0,
                    "what was taken is not taken again"
                );
                debug_assert!(
                    self.window.pending[slot as usize] == choice,
                    "only what is under way is taken"
                );
                self.config[1 + slot as usize / 64] |= 1 << (slot % 64);
            }
            self.taken.push(call.op);
            call.class
        };
        self.state = self.next(class);
        debug_assert!(self.state != ILLEGAL, "only what is possible is taken");
        self.fresh = true;
    }
}
