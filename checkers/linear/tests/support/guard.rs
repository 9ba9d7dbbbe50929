//! A fenced resource as a model, whose special checker is the sweep that the checks of a run stand on.

use linear::{
    engine::{Answer, Refutation, Witness},
    model::{Model, OpOf},
    special::fencing::{self, Breach, Request},
};

use super::random::{Random, Subject};

/// Its state is the highest token; it takes a request exactly if none higher was taken before.
pub struct Guard;

impl Model for Guard {
    type State = u64;
    type Input = u64;
    type Output = bool;

    fn initial(&self) -> u64 {
        0
    }

    fn step(&self, highest: &u64, token: &u64, taken: Option<&bool>) -> Option<u64> {
        let is_taken = token >= highest;
        taken.is_none_or(|taken| *taken == is_taken).then_some(*token.max(highest))
    }

    fn shortcut(&self, ops: &[OpOf<Guard>]) -> Option<Answer> {
        let requests: Vec<Request> = ops.iter().map(request).collect();
        Some(match fencing::breach(&requests) {
            None => Answer::Valid(Witness::default()),
            Some(Breach::TookStale { stale: op, .. } | Breach::RefusedCurrent { refused: op }) => {
                Answer::Invalid(Box::new(Refutation { op, ..Refutation::default() }))
            }
        })
    }
}

fn request(op: &OpOf<Guard>) -> Request {
    let answer = match op.output() {
        Some(true) => fencing::Answer::Accepted,
        Some(false) => fencing::Answer::Rejected,
        None => fencing::Answer::Maybe,
    };
    Request { token: op.input.into(), call: op.call, at: op.deadline(), answer }
}

pub struct Guards;

impl Subject for Guards {
    type M = Guard;

    fn model(&self) -> Guard {
        Guard
    }

    fn input(&self, _process: u32, random: &mut Random) -> u64 {
        1 + random.below(4)
    }

    fn output(&self, _token: &u64, random: &mut Random) -> bool {
        !random.one_in(3)
    }
}
