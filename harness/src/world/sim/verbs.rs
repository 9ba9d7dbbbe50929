//! The verbs on simulated nodes, with the evidence that containers would leave. All but a start are done at once.

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use nemesis::verbs::{
    Answer, ClockSet, Cut, Cutting, Dead, Delay, Direction, Done, Dropped, Going, Killed, Mended, NotDone,
    Paused, RanAlready, Reach, Resumed, Shaping, Sigkill, Started, Stopped, Unshaped, Verbs,
};
use simulation::Node;
use workloads::env::EnvApi;

use super::{
    SimWorld,
    shapes::{self, Delayed, Shape},
};

/// What a server takes from its start to its first answer.
const START: Duration = Duration::from_millis(100);

/// Rules of one node.
pub(super) enum Rules {
    /// In force.
    Cut(Vec<Way>),
    /// Gone, with what they had dropped.
    Mended(Mended),
}

/// One way that rules stop.
pub(super) struct Way {
    peer: String,
    /// As the node that has the rules sees it.
    is_inbound: bool,
    from: Node,
    to: Node,
    /// Packets that cuts had taken there before.
    before: u64,
}

#[async_trait(?Send)]
impl Verbs for SimWorld {
    /// A simulated process' pid is the number of its start.
    async fn pause(&self, node: &str) -> Answer<Paused> {
        let node = self.known(node)?;
        if !node.is_alive() {
            return self.done(Reach::nobody());
        }
        node.pause();
        let state = if node.is_paused() { 'T' } else { 'R' };
        self.done(Reach::Processes(Stopped { state, pids: vec![node.starts()], threads: 1 }))
    }

    async fn resume(&self, node: &str) -> Answer<Resumed> {
        let node = self.known(node)?;
        node.resume();
        if node.is_paused() {
            return Err(format!("{} is still paused", node.name()).into());
        }
        self.done(match node.is_alive() {
            true => Reach::Processes(Going { state: 'S', pids: vec![node.starts()] }),
            false => Reach::nobody(),
        })
    }

    async fn kill(&self, node: &str) -> Answer<Killed> {
        let victim = self.known(node)?;
        let pid = victim.starts();
        let process = match victim.kill() {
            true => Reach::Processes(Dead { pid, signal: Sigkill::Sigkill }),
            false => Reach::nobody(),
        };
        self.done(Killed { process, unsynced_lost: self.cut_power(node) })
    }

    async fn start(&self, node: &str, process: Option<u32>) -> Answer<Started> {
        let (name, node) = (node, self.known(node)?);
        if node.is_alive() {
            return self.done(Started::Before { pid: node.starts(), note: RanAlready::RanAlready });
        }
        if !self.inner.borrow().clients.contains_key(name) {
            self.harness.sleep(START).await;
        }
        let new_pid = node.revive();
        match process {
            Some(_) => self.start_client(name, process),
            None => {
                let inner = self.inner.borrow();
                inner.services.get(name).inspect(|service| service.start(&node));
            }
        }
        self.done(Started::Anew { new_pid })
    }

    async fn cut(&self, rules: u32, cut: &Cut) -> Answer<Cutting> {
        let key = (rules, cut.node.clone());
        let in_force = matches!(self.inner.borrow().rules.get(&key), Some(Rules::Cut(_)));
        if !in_force {
            let ways = self.ways(cut)?;
            ways.iter().for_each(|way| way.from.cut(way.to.id()));
            self.inner.borrow_mut().rules.insert(key, Rules::Cut(ways));
        }
        self.done(Cutting { rules_for: cut.peers.clone(), direction: cut.direction })
    }

    async fn mend(&self, rules: u32, node: &str) -> Answer<Mended> {
        let key = (rules, node.to_owned());
        let mended = match self.inner.borrow_mut().rules.remove(&key) {
            None => Mended::default(),
            Some(Rules::Cut(ways)) => mend(ways),
            Some(Rules::Mended(mended)) => mended,
        };
        self.inner.borrow_mut().rules.insert(key, Rules::Mended(mended.clone()));
        self.done(mended)
    }

    async fn shape(&self, rules: u32, of: &Cut, delay: Delay) -> Answer<Shaping> {
        let key = (rules, of.node.clone());
        let in_force = matches!(self.inner.borrow().shapes.get(&key), Some(Shape::InForce(_)));
        if !in_force {
            let node = self.known(&of.node)?;
            let peers = of.peers.iter().map(|peer| self.known(peer)).collect::<Result<Vec<Node>, _>>()?;
            let begin = |peer| Delayed::begin(rules, &node, peer, of.direction, delay);
            let delayed = Shape::InForce(peers.iter().map(begin).collect());
            self.inner.borrow_mut().shapes.insert(key, delayed);
        }
        let Delay { by_ms, jitter_ms, .. } = delay;
        self.done(Shaping { rules_for: of.peers.clone(), direction: of.direction, by_ms, jitter_ms })
    }

    async fn unshape(&self, rules: u32, node: &str) -> Answer<Unshaped> {
        let key = (rules, node.to_owned());
        let unshaped = match self.inner.borrow_mut().shapes.remove(&key) {
            None => Unshaped::default(),
            Some(Shape::InForce(delayed)) => shapes::end(delayed),
            Some(Shape::Gone(unshaped)) => unshaped,
        };
        self.inner.borrow_mut().shapes.insert(key, Shape::Gone(unshaped.clone()));
        self.done(unshaped)
    }

    async fn can_shape(&self) -> Result<(), NotDone> {
        Ok(())
    }

    async fn set_clock(&self, node: &str, offset_ns: i64) -> Answer<ClockSet> {
        self.done(set_clock(&self.known(node)?, offset_ns)?)
    }

    /// A start takes its time, and of several the next one begins after it: seeds count on that.
    fn in_turn(&self) -> bool {
        true
    }
}

impl SimWorld {
    fn known(&self, name: &str) -> Result<Node, NotDone> {
        self.node(name).ok_or_else(|| format!("there is no node {name}").into())
    }

    fn done<T>(&self, shown: T) -> Answer<T> {
        Ok(Done { at: EnvApi::now(&self.harness), shown })
    }

    /// Where kills are power cuts: loses what the server's disk has not synced; how many records that were.
    fn cut_power(&self, target: &str) -> Option<usize> {
        let inner = self.inner.borrow();
        inner.services.get(target).filter(|_| inner.power_cut)?.lose_unsynced()
    }

    fn ways(&self, cut: &Cut) -> Result<Vec<Way>, NotDone> {
        let node = self.known(&cut.node)?;
        let mut ways = Vec::new();
        for peer in &cut.peers {
            let other = self.known(peer)?;
            let mut add = |is_inbound: bool, from: &Node, to: &Node| {
                let (from, to) = (from.clone(), to.clone());
                let before = from.packets(to.id()).cut;
                ways.push(Way { peer: peer.clone(), is_inbound, from, to, before });
            };
            if cut.direction != Direction::In {
                add(false, &node, &other);
            }
            if cut.direction != Direction::Out {
                add(true, &other, &node);
            }
        }
        Ok(ways)
    }
}

fn mend(ways: Vec<Way>) -> Mended {
    let mut dropped: BTreeMap<String, Dropped> = BTreeMap::new();
    for Way { peer, is_inbound, from, to, before } in ways {
        from.mend(to.id());
        let of_peer = dropped.entry(peer).or_default();
        let of_way = if is_inbound { &mut of_peer.packets_in } else { &mut of_peer.packets_out };
        *of_way = from.packets(to.id()).cut - before;
    }
    let packets = dropped.values().map(|of_peer| of_peer.packets_in + of_peer.packets_out).sum();
    Mended { packets, dropped }
}

/// Shows where the clock is where a process runs that could be asked; fails if that is elsewhere than it was put.
fn set_clock(node: &Node, offset_ns: i64) -> Result<ClockSet, NotDone> {
    node.set_clock_offset(offset_ns);
    let [wanted_ms, observed_ms] = [offset_ns, node.clock_offset()].map(|ns| ns / 1_000_000);
    if !node.is_alive() {
        return Ok(ClockSet::for_the_next(wanted_ms.into()));
    }
    if node.clock_offset() != offset_ns {
        return Err(format!("its clock is off by {observed_ms} ms instead of {wanted_ms} ms").into());
    }
    let (pids, observed_ms) = (vec![node.starts()], Some(vec![observed_ms.into()]));
    Ok(ClockSet { offset_ms: wanted_ms.into(), pids, observed_ms, note: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulation::Sim;

    #[test]
    fn a_clock_that_is_not_where_it_was_put_is_a_failure() {
        let sim = Sim::new(1);
        let node = sim.node("s1");
        assert_eq!(set_clock(&node, 3_000_000_000).expect("it moves").pids, [node.starts()]);
        let missed = set_clock(&node, i64::MAX).expect_err("it cannot be so far off");
        assert!(missed.to_string().contains("instead of"), "{missed}");
    }

    /// A world of two servers.
    fn two(sim: &Sim) -> (SimWorld, [Node; 2]) {
        let world = SimWorld::new(sim);
        let nodes = ["s1", "s2"].map(|name| world.harness.sibling(name));
        let names = nodes.iter().map(|node| (node.name(), node.clone()));
        world.inner.borrow_mut().nodes = names.collect();
        (world, nodes)
    }

    #[test]
    fn rules_given_twice_are_in_force_once() {
        let sim = Sim::new(1);
        let (world, [node, peer]) = two(&sim);
        let mended = sim.block_on(async move {
            let cut = Cut { node: "s1".into(), peers: vec!["s2".into()], direction: Direction::Out };
            for _ in 0..2 {
                assert_eq!(world.cut(7, &cut).await.expect("it is cut").shown.rules_for, ["s2"]);
            }
            let first = world.mend(7, "s1").await.expect("it is mended").shown;
            (first, world.mend(7, "s1").await.expect("it is mended").shown)
        });
        let (first, second) = mended.expect("nothing waits");
        assert_eq!(first, second);
        assert_eq!(first.dropped["s2"], Dropped::default());
        node.cut(peer.id());
        assert!(node.mend(peer.id()), "no other cut is left");
    }

    #[test]
    fn a_delay_given_twice_holds_once() {
        let sim = Sim::new(1);
        let (world, [node, peer]) = two(&sim);
        let ended = sim.block_on(async move {
            let of = Cut { node: "s1".into(), peers: vec!["s2".into()], direction: Direction::Out };
            for _ in 0..2 {
                let delay = Delay { by_ms: 50, jitter_ms: 0 };
                assert_eq!(world.shape(7, &of, delay).await.expect("it is delayed").shown.by_ms, 50);
            }
            node.send_to(peer.id(), 1, ());
            let first = world.unshape(7, "s1").await.expect("it ends").shown;
            (first, world.unshape(7, "s1").await.expect("it ends").shown)
        });
        let (first, second) = ended.expect("nothing waits");
        assert_eq!(first, second);
        let held = first.held["s2"].outbound.expect("it was for this way");
        assert_eq!((first.packets, held.packets, held.greatest_us), (1, 1, 50_000));
    }

    #[test]
    fn what_runs_is_not_started_again() {
        let sim = Sim::new(1);
        let (world, [node, _]) = two(&sim);
        let started = sim.block_on(async move {
            assert!(matches!(world.start("s1", None).await?.shown, Started::Before { pid: 1, .. }));
            world.kill("s1").await?;
            assert!(matches!(world.start("s1", None).await?.shown, Started::Anew { new_pid: 2 }));
            world.start("s1", None).await
        });
        let started = started.expect("it ends").expect("it is known").shown;
        assert!(matches!(started, Started::Before { pid: 2, .. }) && node.starts() == 2);
    }
}
