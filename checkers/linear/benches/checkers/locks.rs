//! Long histories of a contended fenced lock.

use linear::{
    model::OpOf,
    models::lock::{Lock, LockAction, LockInput, LockOutput},
    op::Op,
};

/// Ten clients take turns: each acquire is invoked long before it is granted, while others hold.
pub fn history(operations: u64) -> Vec<OpOf<Lock>> {
    const CLIENTS: u64 = 10;
    let mut ops = Vec::new();
    for turn in 0..operations / 2 {
        let owner = (turn * 7 % CLIENTS) as u32;
        // The grant falls in this turn's window, the request several turns before.
        let granted = (turn + CLIENTS) * 10;
        let asked = granted - (CLIENTS - 2) * 10 + turn % 3;
        let input = |action| LockInput { owner, action };
        let token = Some(turn + 1);
        ops.push(Op::ok(owner, asked, granted, input(LockAction::Acquire), LockOutput::Done { token }));
        let released = granted + 4;
        ops.push(Op::ok(
            owner,
            released,
            released + 8,
            input(LockAction::Release),
            LockOutput::Done { token: None },
        ));
    }
    ops.sort_by_key(|op| op.call);
    ops
}
