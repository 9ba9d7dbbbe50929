//! Clients as tasks of their nodes.

use std::rc::Rc;

use history::Event;
use workloads::workload::{Control, EventSink, run_client};

use super::{SimStores, SimWorld};
use crate::world::{WorldEvent, WorldSink};

/// Hands a client's events to the run loop.
struct ToWorld(WorldSink);

impl EventSink for ToWorld {
    fn record(&self, event: Event) {
        (self.0)(WorldEvent::History(event));
    }
}

impl SimWorld {
    /// Starts a client on its living node, under its first process number or the one given.
    pub(super) fn start_client(&self, name: &str, process: Option<u32>) {
        let (node, mut config, stores, sink, control) = {
            let mut inner = self.inner.borrow_mut();
            let control = Control::default();
            control.advance(inner.phase);
            inner.controls.insert(name.to_owned(), control.clone());
            let found = (inner.nodes.get(name), inner.clients.get(name), &inner.stores, &inner.sink);
            let (Some(node), Some(config), Some(directory), Some(sink)) = found else { return };
            let stores = SimStores { node: node.clone(), directory: directory.clone() };
            (node.clone(), config.clone(), stores, sink.clone(), control)
        };
        config.first_process = process.unwrap_or(config.first_process);
        let (env, name) = (node.env(), name.to_owned());
        node.run(async move {
            let events = Rc::new(ToWorld(sink.clone()));
            let ended = run_client(env, config, Rc::new(stores), events, control).await;
            sink(match ended {
                Ok(()) => WorldEvent::ClientEnded(name),
                Err(error) => WorldEvent::Failed(format!("{name}: {error}")),
            });
        });
    }
}
