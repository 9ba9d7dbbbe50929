//! What a store wants of the log: submit a change, get what applying it answered.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt::Debug,
    ops::Deref,
    rc::Rc,
};

use workloads::env::EnvApi;

use super::{Place, Replica, Stable, Timing};
use crate::{
    net::Port,
    node::{Node, NodeId},
};

/// A change with the number under which its proposer waits for it. Numbers are unique among members and restarts.
#[derive(Debug)]
pub struct Logged<C>(Rc<(u64, C)>);

impl<C> Clone for Logged<C> {
    fn clone(&self) -> Self {
        Logged(self.0.clone())
    }
}

/// One member's log, with the answers that its own proposers wait for.
pub struct Log<C, O> {
    replica: Rc<Replica<Logged<C>>>,
    outcomes: Outcomes<O>,
    next: Cell<u64>,
}

type Outcomes<O> = Rc<RefCell<BTreeMap<u64, Option<O>>>>;

impl<C: Debug + 'static, O: 'static> Log<C, O> {
    /// See [`Replica::start`]; what `apply` returns is handed to whoever submitted the change on this member.
    pub fn start(
        node: &Node,
        members: &[NodeId],
        port: Port,
        timing: Timing,
        kept: &Stable<Logged<C>>,
        mut apply: impl FnMut(Place, &C) -> O + 'static,
    ) -> Log<C, O> {
        let outcomes: Outcomes<O> = Rc::default();
        let waiting = outcomes.clone();
        let apply = move |place, logged: &Logged<C>| {
            let outcome = apply(place, &logged.0.1);
            if let Some(slot) = waiting.borrow_mut().get_mut(&logged.0.0) {
                *slot = Some(outcome);
            }
        };
        let replica = Replica::start(node, members, port, timing, kept, apply);
        Log { replica, outcomes, next: Cell::new(node.random() << 16) }
    }

    /// Puts a change in the log if this member leads, and waits for nothing.
    pub fn submit_as_leader(&self, change: C) {
        if self.leads().is_some() {
            let id = self.next.replace(self.next.get() + 1);
            self.propose(Logged(Rc::new((id, change))));
        }
    }

    /// Puts a change through the log and waits until it is applied here; for a leader first, where there is none.
    /// A change that is lost on the way is waited for without end: give it a time limit.
    pub async fn submit(&self, change: C) -> O {
        let id = self.next.replace(self.next.get() + 1);
        self.outcomes.borrow_mut().insert(id, None);
        let _forget = Forget(&self.outcomes, id);
        let logged = Logged(Rc::new((id, change)));
        while !self.propose(logged.clone()) {
            self.until(|| self.leader().is_some()).await;
        }
        loop {
            let applied = || self.outcomes.borrow().get(&id).is_some_and(Option::is_some);
            self.until(applied).await;
            if let Some(outcome) = self.outcomes.borrow_mut().get_mut(&id).and_then(Option::take) {
                return outcome;
            }
        }
    }
}

impl<C, O> Deref for Log<C, O> {
    type Target = Replica<Logged<C>>;

    fn deref(&self) -> &Self::Target {
        &self.replica
    }
}

struct Forget<'a, O>(&'a RefCell<BTreeMap<u64, Option<O>>>, u64);

impl<O> Drop for Forget<'_, O> {
    fn drop(&mut self) {
        self.0.borrow_mut().remove(&self.1);
    }
}
