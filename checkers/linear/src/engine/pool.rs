//! Parts of a history take turns with growing budgets, on one or more threads.

use std::{collections::VecDeque, sync::Mutex};

use crate::{
    answer::{Answer, Configuration, Refutation, Shortfall, Witness},
    limits::{Guard, Limit},
    model::{Model, OpOf},
};

use super::{
    glance::{Glance, glance},
    order,
    search::{Progress, Search},
    serial::{self, Serial},
    timeline::events,
};

/// Nodes of a part's first turn; each turn is four times the one before.
const FIRST_TURN_NODES: u64 = 4096;
/// Threads are started once this many nodes were not enough.
const ALONE_NODES: u64 = 16 * FIRST_TURN_NODES;
const CONFIGURATIONS_MAX: usize = 16;

/// Judges parts of a history, each from the model's initial state.
pub(crate) fn run<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    parts: &[Vec<u32>],
    guard: &Guard,
    jobs: usize,
) -> Answer {
    let pool = Pool { model, ops, parts, guard, board: Mutex::new(Board::new(parts.len())) };
    let jobs = jobs.min(parts.len());
    if jobs > 1 && pool.work(ALONE_NODES) {
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| pool.work(u64::MAX));
            }
        });
    } else {
        pool.work(u64::MAX);
    }
    pool.answer()
}

struct Pool<'a, 'g, M: Model> {
    model: &'a M,
    ops: &'a [OpOf<M>],
    parts: &'a [Vec<u32>],
    guard: &'g Guard,
    board: Mutex<Board<'a, 'g, M>>,
}

struct Board<'a, 'g, M: Model> {
    waiting: VecDeque<Turn<'a, 'g, M>>,
    linearizations: Vec<Vec<u32>>,
    valid: u32,
    nodes: u64,
    refutation: Option<(usize, Refutation)>,
    /// Searches that a limit stopped: what part, deepest event and of how many, and the operation there.
    ended: Vec<(u32, u32, u32)>,
}

struct Turn<'a, 'g, M: Model> {
    part: usize,
    budget: u64,
    search: Option<Box<Search<'a, 'g, M>>>,
}

impl<M: Model> Board<'_, '_, M> {
    fn new(parts: usize) -> Self {
        let waiting = (0..parts).map(|part| Turn { part, budget: FIRST_TURN_NODES, search: None }).collect();
        Board {
            waiting,
            linearizations: vec![Vec::new(); parts],
            valid: 0,
            nodes: 0,
            refutation: None,
            ended: Vec::new(),
        }
    }
}

impl<'a, 'g, M: Model> Pool<'a, 'g, M> {
    /// Takes turns until none is left or about `nodes` were gone through; whether any turn is left.
    fn work(&self, nodes: u64) -> bool {
        let mut gone = 0;
        loop {
            let Some(turn) = self.board().waiting.pop_front() else { return false };
            if gone >= nodes {
                self.board().waiting.push_front(turn);
                return true;
            }
            gone += self.take(turn);
        }
    }

    fn take(&self, turn: Turn<'a, 'g, M>) -> u64 {
        if !self.guard.go_on() {
            return self.give_up(turn);
        }
        let mut search = match turn.search {
            Some(search) => search,
            None => match self.begin(turn.part) {
                Ok(search) => search,
                Err(nodes) => return nodes,
            },
        };
        let before = search.nodes();
        let progress = search.run(turn.budget, u32::MAX);
        let nodes = search.nodes() - before;
        self.board().nodes += nodes;
        match progress {
            Progress::Valid => self.valid(turn.part, search.linearization().to_vec()),
            Progress::Invalid => self.invalid(turn.part, self.refute(&mut search, turn.part)),
            Progress::Paused => {
                let budget = turn.budget.saturating_mul(4);
                self.board().waiting.push_back(Turn { part: turn.part, budget, search: Some(search) });
            }
            Progress::Ended => return self.give_up(Turn { search: Some(search), ..turn }),
        }
        nodes
    }

    /// A search of a part; or the nodes that it took to see that it needs none.
    fn begin(&self, part: usize) -> Result<Box<Search<'a, 'g, M>>, u64> {
        if let Some(nodes) = self.take_serial(part) {
            return Err(nodes);
        }
        let (model, ops, guard) = (self.model, self.ops, self.guard);
        let positions = &self.parts[part];
        let events = events(model, ops, positions);
        match glance(model, ops, positions, &events, guard) {
            Glance::Stuck => Ok(Box::new(Search::new(model, ops, positions, &events, guard))),
            Glance::Stopped => Err(self.give_up(Turn { part, budget: 0, search: None })),
            Glance::Valid(order) => {
                let nodes = order.len() as u64;
                self.board().nodes += nodes;
                self.valid(part, order);
                Err(nodes)
            }
        }
    }

    /// Judges a part that needs no search; `None` if it does.
    fn take_serial(&self, part: usize) -> Option<u64> {
        let own = &self.parts[part];
        let nodes = match serial::judge(self.model, self.ops, own, self.guard) {
            Serial::Overlaps => return None,
            Serial::Stopped => return Some(self.give_up(Turn { part, budget: 0, search: None })),
            Serial::Valid => {
                self.valid(part, own.clone());
                own.len() as u64
            }
            Serial::Invalid(placed, state) => {
                let state = self.model.describe_state(&state);
                let configurations = vec![Configuration { state, taken: Vec::new(), used: Vec::new() }];
                let (op, of, part_ops) = (own[placed as usize], own.len() as u32, own.clone());
                let found =
                    Refutation { op, part: part_ops, placed, of, configurations, ..Refutation::default() };
                self.invalid(part, found);
                u64::from(placed) + 1
            }
        };
        self.board().nodes += nodes;
        Some(nodes)
    }

    fn valid(&self, part: usize, linearization: Vec<u32>) {
        debug_assert!(
            order::is_permitted(self.model, self.ops, &linearization),
            "an order that was found respects real time, and the model permits it"
        );
        debug_assert!(
            order::is_whole::<M>(self.ops, &self.parts[part], &linearization),
            "an order has all that happened"
        );
        let mut board = self.board();
        assert!(board.linearizations[part].is_empty(), "a part is judged once");
        board.valid += 1;
        assert!(board.valid as usize <= self.parts.len(), "no more parts are valid than there are");
        board.linearizations[part] = linearization;
    }

    fn invalid(&self, part: usize, refutation: Refutation) {
        assert!(refutation.placed < refutation.of, "what is refuted is an operation of the part");
        debug_assert!(
            self.parts[part].contains(&refutation.op),
            "what is refuted is an operation of the part"
        );
        let mut board = self.board();
        if board.refutation.as_ref().is_none_or(|(first, _)| part < *first) {
            board.refutation = Some((part, refutation));
        }
        self.guard.settle();
    }

    fn give_up(&self, turn: Turn<'a, 'g, M>) -> u64 {
        let at = match &turn.search {
            Some(search) => {
                let plan = search.plan();
                (search.deepest(), plan.returns.len() as u32, plan.op_at(search.deepest()))
            }
            None => {
                let required = self.parts[turn.part].iter().filter(|&&op| !self.ops[op as usize].is_info());
                let first = self.parts[turn.part].first().copied().unwrap_or(0);
                (0, required.count() as u32, first)
            }
        };
        self.board().ended.push(at);
        if self.guard.abandons() {
            std::mem::forget(turn);
        }
        0
    }

    fn refute(&self, search: &mut Search<'a, 'g, M>, part: usize) -> Refutation {
        let placed = search.deepest();
        let snapshots = search.snapshots(CONFIGURATIONS_MAX);
        Refutation {
            op: search.plan().op_at(placed),
            part: self.parts[part].clone(),
            placed,
            of: search.plan().returns.len() as u32,
            configurations: snapshots
                .into_iter()
                .map(|snapshot| Configuration {
                    state: self.model.describe_state(search.state(snapshot.state)),
                    taken: snapshot.taken,
                    used: snapshot.used,
                })
                .collect(),
            ..Refutation::default()
        }
    }

    fn board(&self) -> std::sync::MutexGuard<'_, Board<'a, 'g, M>> {
        self.board.lock().expect("no thread panics while it holds the board")
    }

    fn answer(self) -> Answer {
        let board = self.board.into_inner().expect("no thread panicked");
        if let Some((_, refutation)) = board.refutation {
            return Answer::Invalid(Box::new(Refutation { nodes: board.nodes, ..refutation }));
        }
        let Some(&(placed, of, op)) = board.ended.iter().min() else {
            return Answer::Valid(Witness { linearizations: board.linearizations, nodes: board.nodes });
        };
        Answer::Unknown(Shortfall {
            limit: self.guard.hit().unwrap_or(Limit::Stopped),
            parts_valid: board.valid,
            parts: self.parts.len() as u32,
            op,
            placed,
            of,
            nodes: board.nodes,
            memory_bytes: self.guard.peak_bytes() as u64,
        })
    }
}
