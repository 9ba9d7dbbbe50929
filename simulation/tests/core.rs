//! Executor, nodes and network of the simulated world.

use std::{cell::RefCell, rc::Rc, time::Duration};

use simulation::{
    Node, NodeId, Sim, Stuck,
    net::{Held, Hold, Quality},
    rpc::{Caller, serve, within},
};
use workloads::{env::EnvApi, error::OpError};

const MS: u64 = 1_000_000;
const LIMIT: Duration = Duration::from_secs(1);

/// A server that counts its requests and answers with the count.
fn counter(node: &Node) -> Rc<RefCell<u64>> {
    let count = Rc::new(RefCell::new(0));
    let served = count.clone();
    serve::<u64, u64>(node, 1, move |request| {
        *served.borrow_mut() += 1;
        let number = *served.borrow();
        request.reply.send(number);
    });
    count
}

fn pair(seed: u64) -> (Sim, Node, Node) {
    let sim = Sim::new(seed);
    let (client, server) = (sim.node("c1"), sim.node("s1"));
    (sim, client, server)
}

/// Several tasks on several nodes, racing; returns the order of events and the trace.
fn race(seed: u64) -> (Vec<(u64, u64)>, u64) {
    let (sim, client, server) = pair(seed);
    counter(&server);
    let log = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..5 {
        let (node, to, log) = (client.clone(), server.id(), log.clone());
        client.run(async move {
            let caller = Caller::<u64, u64>::open(&node, to, 1, LIMIT).await.unwrap();
            for _ in 0..20 {
                let answer = caller.call(0).await.unwrap();
                log.borrow_mut().push((node.now(), answer));
                node.sleep(Duration::from_micros(node.random() % 1000)).await;
            }
        });
    }
    sim.run_until(10_000 * MS).unwrap();
    let events = log.borrow().clone();
    assert_eq!(events.len(), 100);
    (events, sim.trace())
}

#[test]
fn a_seed_is_a_run() {
    assert_eq!(race(1), race(1));
    assert_ne!(race(1), race(2));
}

/// The same in every build, on every machine: a change here changes every simulated run there ever was.
const GOLDEN: u64 = 0x7d3e_a6f5_8cc9_b0ae;

#[test]
fn a_seed_is_the_same_run_in_every_build() {
    assert_eq!(race(1).1, GOLDEN, "{:#018x}", race(1).1);
}

#[test]
fn recording_messages_changes_nothing() {
    let run = |record: bool| {
        let (sim, client, server) = pair(3);
        if record {
            sim.record_messages();
        }
        counter(&server);
        let (node, to) = (client.clone(), server.id());
        client.run(async move {
            let caller = Caller::<u64, u64>::open(&node, to, 1, LIMIT).await.unwrap();
            caller.call(7).await.unwrap();
        });
        sim.run_until(1000 * MS).unwrap();
        (sim.trace(), sim.take_messages())
    };
    let (bare, none) = run(false);
    let (recorded, arrows) = run(true);
    assert_eq!(bare, recorded);
    assert!(none.is_empty());
    let labels: Vec<_> = arrows.iter().map(|arrow| arrow.label.as_str()).collect();
    assert_eq!(labels, ["Call(1, 7)", "Say(1, 1)"]);
    assert!(arrows.iter().all(|arrow| arrow.arrived > Some(arrow.sent)));
}

#[test]
fn a_paused_client_misses_time_and_its_request_is_served_late() {
    let (sim, client, server) = pair(1);
    let count = counter(&server);
    let (node, to) = (client.clone(), server.id());
    let outcome = Rc::new(RefCell::new(None));
    let slot = outcome.clone();
    client.run(async move {
        let caller = Caller::<u64, u64>::open(&node, to, 1, LIMIT).await.unwrap();
        let result = caller.call(0).await;
        *slot.borrow_mut() = Some((node.now(), result));
    });
    server.pause();
    sim.run_until(3000 * MS).unwrap();
    let (at, result) = outcome.borrow_mut().take().expect("the call has ended");
    assert!(matches!(result, Err(OpError::Indeterminate(_))));
    assert!((1000 * MS..1100 * MS).contains(&at));
    assert_eq!(*count.borrow(), 0, "a paused server serves nothing");
    assert!(server.resume());
    sim.run_until(3001 * MS).unwrap();
    assert_eq!(*count.borrow(), 1, "what timed out is served on resume");
}

#[test]
fn a_killed_server_refuses_and_closes_and_serves_again_after_restart() {
    let (sim, client, server) = pair(1);
    counter(&server);
    let (node, to, server2) = (client.clone(), server.id(), server.clone());
    sim.block_on(async move {
        let open = || Caller::<u64, u64>::open(&node, to, 1, LIMIT);
        let caller = open().await.unwrap();
        assert_eq!(caller.call(0).await, Ok(1));
        assert!(server2.kill());
        let lost = caller.call(0).await;
        assert!(matches!(&lost, Err(OpError::Indeterminate(why)) if why.contains("closed")), "{lost:?}");
        assert!(
            matches!(caller.call(0).await, Err(OpError::Definite(_))),
            "a finished connection sends nothing"
        );
        assert_eq!(open().await.err(), Some(OpError::Definite("connection refused".into())));
        assert_eq!(server2.revive(), 2);
        counter(&server2);
        assert_eq!(open().await.unwrap().call(0).await, Ok(1));
    })
    .unwrap();
}

#[test]
fn a_one_way_cut_loses_the_reply_not_the_effect() {
    let (sim, client, server) = pair(1);
    let count = counter(&server);
    let (node, to, from) = (client.clone(), server.clone(), client.id());
    sim.block_on(async move {
        let caller = Caller::<u64, u64>::open(&node, to.id(), 1, LIMIT).await.unwrap();
        to.cut(from);
        assert!(matches!(caller.call(0).await, Err(OpError::Indeterminate(_))));
        assert!(to.mend(from));
        assert!(to.packets(from).cut > 0, "the cut left evidence");
    })
    .unwrap();
    assert_eq!(*count.borrow(), 1);
}

#[test]
fn a_delay_holds_one_way_until_it_ends_and_leaves_other_links_alone() {
    let calls = |delayed: bool| {
        let (sim, client, server) = pair(1);
        counter(&server);
        let bystander = sim.node("bystander");
        let (node, to) = (client.clone(), server.id());
        sim.block_on(async move {
            let caller = Caller::<u64, u64>::open(&node, to, 1, LIMIT).await.unwrap();
            let hold = Hold { least_ns: 90 * MS, most_ns: 110 * MS };
            let id = delayed.then(|| node.delay(to, hold, 7));
            let meanwhile = node.round_trip(to).unwrap();
            let start = node.now();
            caller.call(0).await.unwrap();
            let took = node.now() - start;
            let held = id.map(|id| node.end_delay(to, id)).unwrap_or_default();
            let start = node.now();
            caller.call(0).await.unwrap();
            let other = Caller::<u64, u64>::open(&bystander, to, 1, LIMIT).await.unwrap();
            let last = node.now();
            other.call(0).await.unwrap();
            ([meanwhile, took], held, [last - start, node.now() - last])
        })
        .unwrap()
    };
    let (held_up, held, after) = calls(true);
    let (free, nothing, without) = calls(false);
    assert!(held_up.iter().all(|took| (90 * MS..112 * MS).contains(took)), "{held_up:?}");
    assert!(free.iter().all(|took| *took < 2 * MS), "{free:?}");
    assert!(held.packets == 1 && held.total_ns == held.greatest_ns && held.greatest_ns >= 90 * MS);
    assert_eq!((nothing, after), (Held::default(), without), "all else is drawn as without the delay");
}

#[test]
fn a_stream_delivers_everything_in_order_over_a_bad_link() {
    let (sim, client, server) = pair(9);
    let bad = Quality { loss_ppm: 200_000, jitter_ns: 50 * MS, ..Quality::default() };
    client.set_quality(server.id(), bad);
    let listener = server.listen::<(), u32>(5);
    let (node, to) = (client.clone(), server.id());
    client.run(async move {
        let connection = node.connect::<u32, ()>(to, 5).await.unwrap();
        for number in 0..200u32 {
            connection.writer.send(number);
            node.sleep(Duration::from_millis(1)).await;
        }
    });
    let received = sim
        .block_on(async move {
            let connection = listener.accept().await;
            let mut received = Vec::new();
            while let Ok(number) = connection.reader.recv().await {
                received.push(number);
            }
            received
        })
        .unwrap();
    assert_eq!(received, (0..200).collect::<Vec<_>>());
    assert!(client.packets(server.id()).lost > 0);
}

#[test]
fn datagrams_get_lost_doubled_and_overtaken() {
    let (sim, client, server) = pair(4);
    let bad =
        Quality { loss_ppm: 100_000, duplicate_ppm: 100_000, reorder_ppm: 100_000, ..Quality::default() };
    client.set_quality(server.id(), bad);
    let inbox = server.inbox(9);
    let (node, to) = (client.clone(), server.id());
    client.run(async move {
        for number in 0..1000u32 {
            node.send_to(to, 9, number);
            node.sleep(Duration::from_micros(200)).await;
        }
    });
    let node = server.clone();
    let seen = sim
        .block_on(async move {
            let mut seen: Vec<u32> = Vec::new();
            while let Some((from, number)) = within(&node, LIMIT, inbox.recv()).await {
                assert_eq!(from, NodeId(1));
                seen.push(number);
            }
            seen
        })
        .unwrap();
    let mut distinct = seen.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert!((850..950).contains(&distinct.len()), "about a tenth is lost: {}", distinct.len());
    assert!(seen.len() > distinct.len() + 50, "about a tenth comes twice");
    assert!(seen.windows(2).any(|two| two[0] > two[1] + 1), "some are overtaken");
}

#[test]
fn wall_clocks_move_alone() {
    let (sim, client, server) = pair(1);
    client.set_clock_offset(-5_000_000_000);
    server.set_clock_rate(100_000);
    sim.run_until(1000 * MS).unwrap();
    assert_eq!(client.clock_offset(), -5_000_000_000);
    assert_eq!(server.clock_offset(), 100_000_000);
    assert_eq!((client.now(), server.now()), (1000 * MS, 1000 * MS));
}

#[test]
fn a_run_that_cannot_go_on_says_so() {
    let sim = Sim::new(1);
    assert_eq!(sim.block_on(std::future::pending::<()>()), Err(Stuck::Deadlock(0)));
    let endless = std::future::poll_fn::<(), _>(|context| {
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    });
    assert_eq!(sim.block_on(endless), Err(Stuck::Livelock(0)));
}

#[test]
fn dropped_handles_abort_and_detached_ones_do_not() {
    let sim = Sim::new(1);
    let node = sim.node("c1");
    let count = Rc::new(RefCell::new(0));
    let add = |by: u32| {
        let (node, count) = (node.clone(), count.clone());
        Box::pin(async move {
            node.sleep(Duration::from_millis(1)).await;
            *count.borrow_mut() += by;
        })
    };
    drop(node.spawn(add(1)));
    node.spawn(add(10)).detach();
    let kept = node.spawn(add(100));
    sim.run_until(10 * MS).unwrap();
    drop(kept);
    assert_eq!(*count.borrow(), 110);
}
