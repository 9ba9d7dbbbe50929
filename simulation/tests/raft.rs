//! The replicated log under faults: one order everywhere, nothing acknowledged is lost, usable after healing.

use std::{cell::RefCell, rc::Rc, time::Duration};

use simulation::{
    Node, NodeId, Sim,
    net::Quality,
    raft::{Replica, Stable, Timing},
};
use workloads::env::EnvApi;

const MS: u64 = 1_000_000;
const PORT: u16 = 2380;

struct Member {
    node: Node,
    stable: Stable<u64>,
    replica: Rc<Replica<u64>>,
    applied: Rc<RefCell<Vec<u64>>>,
}

fn start(node: &Node, members: &[NodeId], stable: &Stable<u64>) -> (Rc<Replica<u64>>, Rc<RefCell<Vec<u64>>>) {
    let applied = Rc::new(RefCell::new(Vec::new()));
    let log = applied.clone();
    let apply = move |_, command: &u64| log.borrow_mut().push(*command);
    (Replica::start(node, members, PORT, Timing::ETCD, stable, apply), applied)
}

fn cluster(sim: &Sim, size: usize) -> Vec<Member> {
    let nodes: Vec<_> = (0..size).map(|index| sim.node(&format!("s{index}"))).collect();
    let ids: Vec<_> = nodes.iter().map(Node::id).collect();
    let member = |node: Node| {
        let stable = Stable::default();
        let (replica, applied) = start(&node, &ids, &stable);
        Member { node, stable, replica, applied }
    };
    nodes.into_iter().map(member).collect()
}

fn leaders(members: &[Member]) -> Vec<usize> {
    let leads = |index: &usize| members[*index].node.is_alive() && members[*index].replica.leads().is_some();
    (0..members.len()).filter(leads).collect()
}

#[test]
fn one_leader_within_three_seconds_and_everything_is_applied_everywhere() {
    for (seed, size) in [(1, 1), (2, 3), (3, 5)] {
        let sim = Sim::new(seed);
        let members = cluster(&sim, size);
        sim.run_until(3000 * MS).unwrap();
        assert_eq!(leaders(&members).len(), 1, "{size} members");
        for number in 0..10 {
            assert!(members[number as usize % size].replica.propose(number));
            sim.run_until(sim.now() + 50 * MS).unwrap();
        }
        for member in &members {
            assert_eq!(*member.applied.borrow(), (0..10).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_leader_without_quorum_steps_down_and_reads_do_not_complete() {
    let sim = Sim::new(5);
    let members = cluster(&sim, 3);
    sim.run_until(3000 * MS).unwrap();
    let old = leaders(&members)[0];
    for other in (0..3).filter(|other| *other != old) {
        members[old].node.cut(members[other].node.id());
        members[other].node.cut(members[old].node.id());
    }
    let answered = Rc::new(RefCell::new(None));
    let (replica, slot) = (members[old].replica.clone(), answered.clone());
    members[old].node.run(async move {
        let answer = replica.linearize().await;
        *slot.borrow_mut() = Some(answer);
    });
    sim.run_until(8000 * MS).unwrap();
    let now = leaders(&members);
    assert!(now.len() == 1 && now[0] != old, "{now:?}");
    assert_eq!(*answered.borrow(), None, "a cut-off leader confirms no read");
}

/// Pauses, kills, restarts, cuts and bad links at random for 30 s, then ten quiet seconds.
fn torture(seed: u64) -> u64 {
    let sim = Sim::new(seed);
    let mut members = cluster(&sim, 3);
    let ids: Vec<_> = members.iter().map(|member| member.node.id()).collect();
    let chance = sim.harness();
    let bad = Quality { loss_ppm: 50_000, duplicate_ppm: 50_000, reorder_ppm: 100_000, ..Quality::default() };
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        members[a].node.set_quality(ids[b], bad);
    }
    let mut acknowledged: Vec<u64> = Vec::new();
    let mut cuts = Vec::new();
    for number in 0..600u64 {
        let draw = |below: u64| (chance.random() % below) as usize;
        let at = draw(3);
        if members[at].node.is_alive() {
            members[at].replica.propose(number);
        }
        let victim = draw(3);
        match draw(40) {
            0 => drop(members[victim].node.pause()),
            1 => drop(members[victim].node.kill()),
            2 => {
                let other = (victim + 1 + draw(2)) % 3;
                members[victim].node.cut(ids[other]);
                cuts.push((victim, other));
            }
            3..=7 => drop(members[victim].node.resume()),
            8..=12 if !members[victim].node.is_alive() => restart(&mut members[victim], &ids),
            13..=17 => {
                if let Some((from, to)) = cuts.pop() {
                    members[from].node.mend(ids[to]);
                }
            }
            _ => {}
        }
        sim.run_until(sim.now() + 50 * MS).unwrap();
        let longest =
            members.iter().map(|member| member.applied.borrow().clone()).max_by_key(Vec::len).unwrap();
        assert_eq!(
            longest[..acknowledged.len().min(longest.len())],
            acknowledged[..acknowledged.len().min(longest.len())]
        );
        if longest.len() > acknowledged.len() {
            acknowledged = longest;
        }
    }
    for (from, to) in cuts {
        members[from].node.mend(ids[to]);
    }
    for member in &mut members {
        member.node.resume();
        if !member.node.is_alive() {
            restart(member, &ids);
        }
    }
    sim.run_until(sim.now() + 10_000 * MS).unwrap();
    let now = leaders(&members);
    assert_eq!(now.len(), 1, "seed {seed}: a leader after healing");
    assert!(members[now[0]].replica.propose(u64::MAX));
    sim.run_until(sim.now() + 2_000 * MS).unwrap();
    for member in &members {
        let applied = member.applied.borrow();
        assert_eq!(applied[..acknowledged.len()], acknowledged[..], "seed {seed}: nothing applied is undone");
        assert_eq!(applied.last(), Some(&u64::MAX), "seed {seed}: usable after healing");
        assert_eq!(*applied, *members[0].applied.borrow());
    }
    assert!(acknowledged.len() > 50, "seed {seed}: the faults left some work done: {}", acknowledged.len());
    sim.trace()
}

fn restart(member: &mut Member, ids: &[NodeId]) {
    member.node.revive();
    (member.replica, member.applied) = start(&member.node, ids, &member.stable);
}

#[test]
fn nothing_applied_is_ever_undone() {
    for seed in 0..30 {
        torture(seed);
    }
    assert_eq!(torture(1), torture(1));
}

#[test]
fn a_paused_leader_is_replaced_and_follows_on_return() {
    let sim = Sim::new(8);
    let members = cluster(&sim, 3);
    sim.run_until(3000 * MS).unwrap();
    let old = leaders(&members)[0];
    members[old].node.pause();
    sim.run_until(8000 * MS).unwrap();
    members[old].node.resume();
    sim.run_until(8000 * MS + Duration::from_millis(50).as_nanos() as u64).unwrap();
    let now = leaders(&members);
    assert!(now.len() == 1 && now[0] != old, "{now:?}");
}
