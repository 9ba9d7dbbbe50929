//! Nodes that do at once what they are told, or do not.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    future::Future,
    pin::pin,
    rc::Rc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use async_trait::async_trait;

use crate::life::Pace;
use crate::verbs::{
    Answer, ClockSet, Cut, Cutting, Dead, Delay, Done, Going, Killed, Mended, NotDone, Paused, RanAlready,
    Reach, Resumed, Shaping, Sigkill, Started, Stopped, Unshaped, Verbs,
};

/// All nodes: each runs its first process at the beginning. Time is the number of verbs done.
#[derive(Default)]
pub struct Told {
    pub done: RefCell<Vec<String>>,
    /// Verbs that are not done.
    pub failing: RefCell<Vec<&'static str>>,
    /// Verbs that are done, and whose answers are lost.
    pub lost: RefCell<Vec<&'static str>>,
    /// What cuts and delays have met.
    pub packets: Cell<u64>,
    /// What is added to its time, where that passes.
    pub now_ms: Rc<Cell<u64>>,
    verbs: Cell<u64>,
    starts: RefCell<BTreeMap<String, Starts>>,
}

#[derive(Clone, Copy)]
struct Starts {
    pid: u32,
    is_alive: bool,
}

impl Told {
    /// Does a verb of these words to a node.
    fn act<T>(&self, node: &str, words: String, act: impl FnOnce(&mut Starts) -> T) -> Answer<T> {
        let is_among = |words_of: &RefCell<Vec<&str>>| words_of.borrow().contains(&words.as_str());
        if is_among(&self.failing) {
            return Err("it fails".to_owned().into());
        }
        let mut starts = self.starts.borrow_mut();
        let shown = act(starts.entry(node.into()).or_insert(Starts { pid: 1, is_alive: true }));
        if is_among(&self.lost) {
            return Err("its answer is lost".to_owned().into());
        }
        self.verbs.set(self.verbs.get() + 1);
        self.done.borrow_mut().push(words);
        Ok(Done { at: self.now_ms.get() * 1_000_000 + self.verbs.get(), shown })
    }
}

fn of<T>(starts: &Starts, shown: impl FnOnce(u32) -> T) -> Reach<T> {
    if starts.is_alive { Reach::Processes(shown(starts.pid)) } else { Reach::nobody() }
}

#[async_trait(?Send)]
impl Verbs for Told {
    async fn pause(&self, node: &str) -> Answer<Paused> {
        let stopped = |pid| Stopped { state: 'T', pids: vec![pid], threads: 1 };
        self.act(node, format!("pause {node}"), |starts| of(starts, stopped))
    }

    async fn resume(&self, node: &str) -> Answer<Resumed> {
        let going = |pid| Going { state: 'S', pids: vec![pid] };
        self.act(node, format!("resume {node}"), |starts| of(starts, going))
    }

    async fn kill(&self, node: &str) -> Answer<Killed> {
        self.act(node, format!("kill {node}"), |starts| {
            let process = of(starts, |pid| Dead { pid, signal: Sigkill::Sigkill });
            starts.is_alive = false;
            Killed { process, unsynced_lost: None }
        })
    }

    async fn start(&self, node: &str, process: Option<u32>) -> Answer<Started> {
        let under = process.map(|process| format!(" as {process}")).unwrap_or_default();
        self.act(node, format!("start {node}{under}"), |starts| {
            if starts.is_alive {
                return Started::Before { pid: starts.pid, note: RanAlready::RanAlready };
            }
            *starts = Starts { pid: starts.pid + 1, is_alive: true };
            Started::Anew { new_pid: starts.pid }
        })
    }

    async fn cut(&self, rules: u32, cut: &Cut) -> Answer<Cutting> {
        let cutting = Cutting { rules_for: cut.peers.clone(), direction: cut.direction };
        self.act(&cut.node, format!("cut {} {rules}", cut.node), |_| cutting)
    }

    async fn mend(&self, rules: u32, node: &str) -> Answer<Mended> {
        let mended = Mended { packets: self.packets.get(), ..Mended::default() };
        self.act(node, format!("mend {node} {rules}"), |_| mended)
    }

    async fn shape(&self, rules: u32, of: &Cut, Delay { by_ms, jitter_ms, .. }: Delay) -> Answer<Shaping> {
        let (rules_for, direction) = (of.peers.clone(), of.direction);
        let shaping = Shaping { rules_for, direction, by_ms, jitter_ms };
        self.act(&of.node, format!("shape {} {rules}", of.node), |_| shaping)
    }

    async fn unshape(&self, rules: u32, node: &str) -> Answer<Unshaped> {
        let unshaped = Unshaped { packets: self.packets.get(), ..Unshaped::default() };
        self.act(node, format!("unshape {node} {rules}"), |_| unshaped)
    }

    async fn can_shape(&self) -> Result<(), NotDone> {
        Ok(())
    }

    async fn set_clock(&self, node: &str, offset_ns: i64) -> Answer<ClockSet> {
        let offset_ms = offset_ns / 1_000_000;
        self.act(node, format!("clock {node} {offset_ms}"), |starts| match starts.is_alive {
            false => ClockSet::for_the_next(offset_ms.into()),
            true => ClockSet {
                offset_ms: offset_ms.into(),
                pids: vec![starts.pid],
                observed_ms: Some(vec![offset_ms.into()]),
                note: None,
            },
        })
    }
}

/// What a future is that is ready at once.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

/// Time that passes at once, with what happens in it.
#[derive(Default)]
pub struct Hours<'a> {
    pub now_ms: Rc<Cell<u64>>,
    /// From then on nobody waits for anything.
    pub over_ms: Option<u64>,
    pub then: RefCell<Vec<(u64, Happens<'a>)>>,
}

type Happens<'a> = Box<dyn FnOnce() + 'a>;

impl<'a> Hours<'a> {
    /// Something is to happen so many milliseconds after the beginning.
    pub fn at(&self, ms: u64, happens: impl FnOnce() + 'a) {
        self.then.borrow_mut().push((ms, Box::new(happens)));
    }
}

#[async_trait(?Send)]
impl Pace for Hours<'_> {
    fn now(&self) -> u64 {
        self.now_ms.get() * 1_000_000
    }

    async fn wait(&self, length: Duration) -> bool {
        let end = self.now_ms.get() + length.as_millis() as u64;
        let over = self.over_ms.filter(|over| *over < end);
        self.now_ms.set(over.unwrap_or(end).max(self.now_ms.get()));
        let due =
            self.then.borrow_mut().extract_if(.., |(at, _)| *at <= self.now_ms.get()).collect::<Vec<_>>();
        due.into_iter().for_each(|(_, happens)| happens());
        over.is_none()
    }
}
