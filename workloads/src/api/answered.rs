use std::{cell::RefCell, collections::VecDeque, time::Duration};

/// When those requests of a connection were sent that have been answered.
#[derive(Debug)]
pub struct Answered {
    opened: u64,
    keep_ns: u64,
    sent: RefCell<VecDeque<u64>>,
}

impl Answered {
    /// Of a connection that was asked for at `opened` (`Env::now`); what is older than `keep` is forgotten, but for the
    /// last of it.
    pub fn new(opened: u64, keep: Duration) -> Answered {
        Answered { opened, keep_ns: keep.as_nanos() as u64, sent: RefCell::default() }
    }

    /// A request sent then has been answered.
    pub fn note(&self, sent: u64) {
        let mut all = self.sent.borrow_mut();
        if sent > all.back().copied().unwrap_or(self.opened) {
            all.push_back(sent);
        }
        while all.get(1).is_some_and(|second| second + self.keep_ns < sent) {
            all.pop_front();
        }
    }

    /// When the last of them was sent, the opening included.
    pub fn last(&self) -> u64 {
        self.sent.borrow().back().copied().unwrap_or(self.opened)
    }

    /// When the last of them was sent that was sent before `time`; the opening, if that was later.
    pub fn before(&self, time: u64) -> u64 {
        let all = self.sent.borrow();
        let earlier = all.partition_point(|sent| *sent < time);
        earlier.checked_sub(1).map_or(self.opened, |last| all[last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_last_before_a_time() {
        let answered = Answered::new(100, Duration::from_nanos(50));
        assert_eq!((answered.last(), answered.before(500)), (100, 100));
        [120, 110, 130, 160].into_iter().for_each(|sent| answered.note(sent));
        assert_eq!([90, 120, 121, 160, 999].map(|time| answered.before(time)), [100, 100, 120, 130, 160]);
        answered.note(200);
        assert_eq!((answered.last(), answered.before(161)), (200, 160));
        assert!(answered.sent.borrow().len() <= 3, "what is old is forgotten");
        assert_eq!(answered.before(131), 130, "but for the last of it");
    }
}
