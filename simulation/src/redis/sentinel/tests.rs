//! One sentinel of three, told what the others say.

use super::*;

const OPTIONS: Options = Options { down_after_ms: 1000, failover_timeout_ms: 3000 };
const PRIMARY: Info = Info { copies: None, offset: 5, unlinked_ms: 0 };
const REPLICA: Info = Info { copies: Some(0), offset: 5, unlinked_ms: 0 };

/// Sentinel 1 at time 0, which has heard of every server.
fn sentinel() -> State {
    let mut state = State::new(1, 3, OPTIONS, Kept::default(), 0);
    let infos = [PRIMARY, REPLICA, Info { offset: 7, ..REPLICA }];
    for (member, info) in infos.into_iter().enumerate() {
        state.hear(member, Said::Pong, 0, 0);
        state.hear(member, Said::Info(info), 0, 0);
    }
    state
}

/// Looks every 100 ms up to `to`; the servers in `alive` answer at once. What was sent.
fn pass(state: &mut State, from: i64, to: i64, alive: &[Member]) -> Vec<Out> {
    let mut sent = Vec::new();
    for now in (from..=to).step_by(100) {
        state.look(now, 0);
        for out in state.take_out() {
            match &out {
                Out::Server(member, Ask::Ping) if alive.contains(member) => {
                    state.hear(*member, Said::Pong, now, 0)
                }
                Out::Server(member, Ask::Info) if alive.contains(member) => {
                    let info = state.servers[*member].info().unwrap();
                    state.hear(*member, Said::Info(info), now, 0);
                }
                _ => {}
            }
            sent.push(out);
        }
    }
    sent
}

fn told(sent: &[Out]) -> Vec<(Member, Option<Member>)> {
    let orders = sent.iter().filter_map(|out| match out {
        Out::Server(member, Ask::Follow(primary)) => Some((*member, *primary)),
        _ => None,
    });
    orders.collect()
}

fn says_down(vote: Option<Vote>) -> Said {
    Said::Down { down: true, vote }
}

#[test]
fn one_opinion_starts_nothing_and_a_quorum_an_election() {
    let mut state = sentinel();
    pass(&mut state, 100, 2500, &[1, 2]);
    assert!(state.servers[0].down().is_some() && state.failover.is_none());
    state.hear(2, says_down(None), 2500, 0);
    let sent = pass(&mut state, 2600, 2600, &[1, 2]);
    assert!(state.failover.is_some());
    let asks =
        |out: &Out| matches!(out, Out::Sentinel(2, Said::IsDown { primary: 0, epoch: 1, candidate: true }));
    assert!(sent.iter().any(asks), "{sent:?}");
    assert_eq!(told(&sent), [], "nobody is promoted without votes");
}

#[test]
fn the_elected_promotes_the_replica_that_has_copied_most_and_then_tells_the_rest() {
    let mut state = sentinel();
    pass(&mut state, 100, 2500, &[1, 2]);
    let vote = Some(Vote { leader: 1, epoch: 1 });
    state.hear(2, says_down(None), 2500, 0);
    pass(&mut state, 2600, 2600, &[1, 2]);
    state.hear(2, says_down(vote), 2650, 0);
    assert_eq!(told(&pass(&mut state, 2700, 2700, &[1, 2])), [], "elected, and about to choose");
    assert_eq!(told(&pass(&mut state, 2800, 2800, &[1, 2])), [(2, None)]);
    assert_eq!(state.primary(), (0, 0), "not before it says so itself");
    state.hear(2, Said::Info(PRIMARY), 2850, 0);
    assert_eq!(state.primary(), (2, 1));
    assert_eq!(told(&pass(&mut state, 2900, 2900, &[1, 2])), [(1, Some(2))]);
}

#[test]
fn a_sentinel_votes_once_an_epoch() {
    let mut state = sentinel();
    let mut asked = |from, epoch| {
        state.hear(from, Said::IsDown { primary: 0, epoch, candidate: true }, 100, 0);
        match state.take_out().pop() {
            Some(Out::Sentinel(_, Said::Down { vote, .. })) => vote,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(asked(2, 1), Some(Vote { leader: 2, epoch: 1 }));
    assert_eq!(asked(0, 1), Some(Vote { leader: 2, epoch: 1 }));
    assert_eq!(asked(0, 2), Some(Vote { leader: 0, epoch: 2 }));
    assert_eq!(asked(2, 1), Some(Vote { leader: 0, epoch: 2 }));
}

#[test]
fn the_newer_configuration_wins() {
    let mut state = sentinel();
    let hello = |primary, config_epoch| Said::Hello { epoch: config_epoch, primary, config_epoch };
    state.hear(2, hello(2, 4), 100, 0);
    assert_eq!(state.primary(), (2, 4));
    state.hear(0, hello(0, 3), 200, 0);
    assert_eq!(state.primary(), (2, 4));
}

#[test]
fn a_clock_that_jumps_makes_it_idle_for_half_a_minute() {
    let mut state = sentinel();
    state.look(100, 0);
    state.look(100 + TILT_AFTER_MS + 1, 0);
    state.hear(2, says_down(None), 2200, 0);
    pass(&mut state, 2300, 2200 + TILT_MS - 200, &[1, 2]);
    assert!(state.servers[0].down().is_none(), "in TILT it judges nobody");
    pass(&mut state, 2200 + TILT_MS, 2400 + TILT_MS, &[1, 2]);
    assert!(state.servers[0].down().is_some());
}

#[test]
fn in_tilt_it_takes_no_notice_of_a_promotion() {
    let heard_after = |jump: i64| {
        let mut state = sentinel();
        pass(&mut state, 100, 2500, &[1, 2]);
        state.hear(2, says_down(None), 2500, 0);
        pass(&mut state, 2600, 2600, &[1, 2]);
        state.hear(2, says_down(Some(Vote { leader: 1, epoch: 1 })), 2650, 0);
        assert_eq!(told(&pass(&mut state, 2700, 2800, &[1, 2])), [(2, None)]);
        state.look(2800 + jump, 0);
        state.hear(2, Said::Info(PRIMARY), 2850 + jump, 0);
        state.primary()
    };
    assert_eq!(heard_after(100), (2, 1));
    assert_eq!(heard_after(TILT_AFTER_MS + 1), (0, 0));
}

#[test]
fn a_former_primary_gets_four_hellos_time_before_it_is_made_a_replica() {
    let mut state = sentinel();
    state.hear(2, Said::Hello { epoch: 1, primary: 2, config_epoch: 1 }, 100, 0);
    state.hear(0, Said::Info(PRIMARY), 150, 0);
    state.hear(1, Said::Info(Info { copies: Some(2), ..REPLICA }), 150, 0);
    state.hear(2, Said::Info(PRIMARY), 150, 0);
    assert_eq!(told(&pass(&mut state, 200, 10_100, &[0, 1, 2])), []);
    // Eight seconds are over when it says so again, ten seconds after the first time.
    assert_eq!(told(&pass(&mut state, 10_200, 10_400, &[0, 1, 2])), [(0, Some(2))]);
    assert!(told(&pass(&mut state, 10_500, 15_000, &[0, 1, 2])).is_empty());
}
