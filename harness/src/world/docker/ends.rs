//! The first node that ended by itself: while nodes start, nothing comes of waiting for it.

use std::{cell::RefCell, rc::Rc};

use tokio::sync::Notify;

/// Which, and how; shared by all who may see it.
#[derive(Clone, Default)]
pub struct FirstEnd(Rc<Inner>);

#[derive(Default)]
struct Inner {
    first: RefCell<Option<(String, String)>>,
    news: Notify,
}

impl FirstEnd {
    /// A node's process or container ended; in words, how.
    pub fn note(&self, node: &str, how: &str) {
        self.0.first.borrow_mut().get_or_insert_with(|| (node.to_string(), how.to_string()));
        self.0.news.notify_one();
    }

    /// Waits for it.
    pub async fn come(&self) -> (String, String) {
        loop {
            let first = self.0.first.borrow().clone();
            match first {
                Some(first) => return first,
                None => self.0.news.notified().await,
            }
        }
    }
}
