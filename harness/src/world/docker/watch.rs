//! Stalls and pressure: everybody ticks, from the run's beginning to its teardown.

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::join_all;
use serde_json::Value;

use super::{DockerWorld, link::Done};
use crate::{
    agent::protocol::Command,
    pressure, ticker,
    world::{HARNESS, WorldEvent, WorldSink},
};

/// What is known of the watch.
#[derive(Default)]
pub struct Watch {
    limit: Duration,
    /// The first node's answers at its beginning and end: all have one kernel.
    pressure: [Option<Done>; 2],
}

/// How long a node may take to tell its last stalls. One that does not is in trouble that shows elsewhere.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl DockerWorld {
    /// The harness ticks from here on. What it tells before the run begins is not recorded.
    pub(super) fn tick(&self, ttl: Duration, sink: WorldSink) {
        let limit = ticker::limit(ttl);
        self.inner.borrow_mut().watch.limit = limit;
        let clock = self.clock.clone();
        self.ticks.start(limit, move |stall| {
            if let Some((from, to)) = clock.in_run(stall, false) {
                sink(WorldEvent::Stalled { node: HARNESS.into(), from, to });
            }
        });
    }

    /// The nodes tick from here on.
    pub(super) async fn watch(&self) -> Result<(), String> {
        let limit = self.inner.borrow().watch.limit;
        let nodes = self.all_nodes();
        let every = ticker::period(limit, nodes.len());
        let command =
            || Command::Watch { limit_ms: limit.as_millis() as u64, every_ms: every.as_millis() as u64 };
        let watched = join_all(nodes.iter().map(|node| node.call(command()))).await;
        let told = watched.into_iter().collect::<Result<Vec<_>, String>>()?;
        self.inner.borrow_mut().watch.pressure[0] = told.into_iter().next();
        Ok(())
    }

    /// Nobody ticks any longer, and every stall is told.
    pub(super) async fn unwatch(&self) {
        self.ticks.end();
        if self.inner.borrow().watch.pressure[0].is_none() {
            return;
        }
        let nodes = self.all_nodes();
        let told = join_all(nodes.iter().map(|node| node.link.call(Command::Unwatch, LAST_WORDS))).await;
        self.inner.borrow_mut().watch.pressure[1] = told.into_iter().find_map(Result::ok);
    }

    /// How hard the nodes' machine was pressed while they ticked; nothing where that was not told.
    pub(super) fn pressure(&self) -> BTreeMap<String, f64> {
        let inner = self.inner.borrow();
        let [Some(begin), Some(end)] = &inner.watch.pressure else { return BTreeMap::new() };
        let length = Duration::from_nanos(end.now_ns.saturating_sub(begin.now_ns));
        let [begin, end] = [begin, end].map(|told| told.result.get("pressure").and_then(Value::as_object));
        let both = begin.zip(end);
        both.map(|(begin, end)| pressure::between(begin, end, length)).unwrap_or_default()
    }
}
