use rustc_hash::FxHashMap;

use super::{EventKind, History, Process};

impl History {
    /// Puts the events into time order and numbers them anew.
    ///
    /// At equal times an invocation precedes a completion, unless its process completed something else at that
    /// time before: a process' own order is never broken, even where its times go backwards. Otherwise stable.
    pub fn sort(&mut self) {
        if !self.is_sorted() {
            let keys = self.sort_keys();
            let mut order: Vec<u32> = (0..self.len() as u32).collect();
            order.sort_by_key(|&position| keys[position as usize]);
            self.permute(&order);
        }
        self.number();
    }

    /// Whether [`sort`](Self::sort) would change nothing.
    pub fn is_sorted(&self) -> bool {
        let mut times = self.rows().map(|row| row.time());
        if times.clone().zip(times.by_ref().skip(1)).all(|(a, b)| a < b) {
            return true;
        }
        self.sort_keys().is_sorted()
    }

    /// By row: its time, not before those of its process' earlier rows, and its layer within that time.
    fn sort_keys(&self) -> Vec<(u64, u32)> {
        let mut last: FxHashMap<Process, (u64, u32)> = FxHashMap::default();
        self.rows()
            .map(|row| {
                let completion = u32::from(row.kind() != EventKind::Invoke);
                let key = match last.get(&row.process()) {
                    Some(&(time, layer)) if time >= row.time() => {
                        // The next layer of the right kind: even ones hold invocations, odd ones completions.
                        (time, layer + 1 + u32::from((layer + 1) % 2 != completion))
                    }
                    _ => (row.time(), completion),
                };
                last.insert(row.process(), key);
                key
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::history::Event;

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
}
