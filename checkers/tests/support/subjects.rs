//! Every model, with small domains to draw from.

use checkers::models::{
    lock::{Lock, LockAction, LockInput, LockOutput},
    register::{Register, RegisterInput, RegisterOutput},
};

use super::random::{Random, Subject};

pub struct Registers {
    pub values: u64,
}

impl Subject for Registers {
    type M = Register<u64>;

    fn model(&self) -> Register<u64> {
        Register { initial: 0 }
    }

    fn input(&self, _process: u32, random: &mut Random) -> RegisterInput<u64> {
        match random.below(3) {
            0 => RegisterInput::Read,
            1 => RegisterInput::Write(random.below(self.values)),
            _ => RegisterInput::Cas { from: random.below(self.values), to: random.below(self.values) },
        }
    }

    fn output(&self, input: &RegisterInput<u64>, random: &mut Random) -> RegisterOutput<u64> {
        match input {
            RegisterInput::Read => RegisterOutput::Value(random.below(self.values)),
            RegisterInput::Cas { .. } if random.one_in(2) => RegisterOutput::Refused,
            _ => RegisterOutput::Done,
        }
    }
}

pub struct Locks {
    pub lock: Lock,
    pub refusals: bool,
}

impl Subject for Locks {
    type M = Lock;

    fn model(&self) -> Lock {
        self.lock
    }

    fn input(&self, process: u32, random: &mut Random) -> LockInput {
        let action = if random.one_in(2) { LockAction::Release } else { LockAction::Acquire };
        LockInput { owner: if random.one_in(12) { random.below(3) as u32 } else { process }, action }
    }

    fn output(&self, input: &LockInput, random: &mut Random) -> LockOutput {
        if self.refusals && random.one_in(3) {
            return LockOutput::Refused;
        }
        let has_token = self.lock.fenced && input.action == LockAction::Acquire && !random.one_in(4);
        LockOutput::Done { token: has_token.then(|| 1 + random.below(5)) }
    }
}
