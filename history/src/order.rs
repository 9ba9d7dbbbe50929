use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{EventKind, History, Process};

/// So many rows of one time are looked through one by one.
const SMALL: usize = 16;

impl History {
    /// Puts the events into time order and numbers them anew.
    ///
    /// At equal times an invocation precedes a completion, unless its process completed something else at that
    /// time before: a process' own order is never broken, even where its times go backwards. Otherwise stable.
    pub fn sort(&mut self) {
        if self.times_rise() {
            for tie in self.unsorted_ties() {
                let (mut layers, first) = (Vec::new(), tie.start as u32);
                self.layers(tie.clone(), &mut layers);
                let mut order: Vec<u32> = tie.map(|position| position as u32).collect();
                order.sort_by_key(|&position| layers[(position - first) as usize]);
                self.permute(first as usize, &mut order);
            }
        } else {
            let keys = self.sort_keys();
            let mut order: Vec<u32> = (0..self.len() as u32).collect();
            order.sort_by_key(|&position| keys[position as usize]);
            drop(keys);
            self.permute(0, &mut order);
        }
        self.number();
    }

    /// Whether [`sort`](Self::sort) would change nothing.
    pub fn is_sorted(&self) -> bool {
        if self.times_rise() { self.unsorted_ties().is_empty() } else { self.sort_keys().is_sorted() }
    }

    /// Whether no event's time is before that of the event above.
    fn times_rise(&self) -> bool {
        self.rows().zip(self.rows().skip(1)).all(|(a, b)| a.time() <= b.time())
    }

    /// The rows of one time that are not in order, where times rise: only these have to be moved.
    fn unsorted_ties(&self) -> Vec<Range<usize>> {
        let (mut found, mut layers) = (Vec::new(), Vec::new());
        let mut start = 0;
        for end in 1..=self.len() {
            if end < self.len() && self.row(end).time() == self.row(start).time() {
                continue;
            }
            if end - start > 1 {
                self.layers(start..end, &mut layers);
                if !layers.is_sorted() {
                    found.push(start..end);
                }
            }
            start = end;
        }
        found
    }

    /// Of rows of one time: the layer of each within it.
    fn layers(&self, tie: Range<usize>, layers: &mut Vec<u32>) {
        layers.clear();
        let mut last: FxHashMap<Process, u32> = FxHashMap::default();
        let is_small = tie.len() <= SMALL;
        for position in tie.clone() {
            let row = self.row(position);
            let before = if is_small {
                let same =
                    (tie.start..position).rev().find(|&other| self.row(other).process() == row.process());
                same.map(|other| layers[other - tie.start])
            } else {
                last.get(&row.process()).copied()
            };
            layers.push(layer(before, row.kind()));
            if !is_small {
                last.insert(row.process(), layers[position - tie.start]);
            }
        }
    }

    /// By row: its time, not before those of its process' earlier rows, and its layer within that time.
    fn sort_keys(&self) -> Vec<(u64, u32)> {
        let mut last: FxHashMap<Process, (u64, u32)> = FxHashMap::default();
        self.rows()
            .map(|row| {
                let key = match last.get(&row.process()) {
                    Some(&(time, before)) if time >= row.time() => (time, layer(Some(before), row.kind())),
                    _ => (row.time(), layer(None, row.kind())),
                };
                last.insert(row.process(), key);
                key
            })
            .collect()
    }
}

/// The first layer of the right kind, behind that of the process' row before at the same time: even layers hold
/// invocations, odd ones completions.
fn layer(before: Option<u32>, kind: EventKind) -> u32 {
    let completion = u32::from(kind != EventKind::Invoke);
    let next = before.map_or(0, |before| before + 1);
    next + u32::from(next % 2 != completion)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::Event;

    /// One event for each word: process, `i` or `c`, time.
    fn history(words: &str) -> Vec<Event> {
        let event = |word: &str| {
            let (process, rest) = word.split_at(1);
            let kind = if rest.starts_with('i') { EventKind::Invoke } else { EventKind::Ok };
            Event {
                index: 0,
                time: rest[1..].parse().unwrap(),
                process: Process::Client(process.parse().unwrap()),
                node: None,
                kind,
                f: word.to_owned(),
                value: Value::Null,
                error: None,
            }
        };
        words.split_whitespace().map(event).collect()
    }

    fn sorted(words: &str) -> String {
        let mut history = History::from_events(&history(words));
        history.sort();
        assert!(history.is_sorted());
        history.rows().map(|row| row.f()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn time_orders_and_ties_put_invocations_first() {
        assert_eq!(sorted("0i5 1i3 0c9 1c7"), "1i3 0i5 1c7 0c9");
        assert_eq!(sorted("0i1 0c5 1i5 1c6"), "0i1 1i5 0c5 1c6");
        assert_eq!(sorted("2i5 1i5 0i5"), "2i5 1i5 0i5");
    }

    #[test]
    fn a_process_keeps_its_own_order() {
        assert_eq!(sorted("0i1 0c5 0i5 0c5 1i5"), "0i1 1i5 0c5 0i5 0c5");
        assert_eq!(sorted("0i5 0c3 1i4"), "1i4 0i5 0c3");
    }

    #[test]
    fn many_at_one_time_are_sorted_as_few_are() {
        let of_process = |process: usize| format!("{}c5 {}i5", process % 10, process % 10);
        let words: Vec<String> = (0..SMALL * 2).map(of_process).collect();
        let sorted = sorted(&words.join(" "));
        let kinds: String = sorted.split(' ').map(|word| &word[1..2]).collect();
        // Each process completes, invokes, completes, …: in layers, since all happened at one time.
        assert_eq!(kinds, format!("{0}{1}{0}{1}{0}{1}{2}{3}", "c".repeat(10), "i".repeat(10), "cc", "ii"));
        let late = super::tests::sorted("1c5 1i5 0i5 2i9 3i5");
        assert_eq!(late, "0i5 3i5 1c5 1i5 2i9");
    }
}
