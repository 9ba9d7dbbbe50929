//! Every subject by name.

use checkers::models::lock::Lock;

use super::{guard::Guards, random::Subject, subjects::*};

/// Something to do with each subject.
pub trait Visit {
    fn visit<S: Subject>(&mut self, name: &str, subject: &S);
}

pub fn for_each(visitor: &mut impl Visit) {
    visitor.visit("register, 3 values", &Registers { values: 3 });
    visitor.visit("register, 1000 values", &Registers { values: 1000 });
    visitor.visit("register, 6 values, no cas", &PlainRegisters { values: 6 });
    visitor.visit("register, 1000 values, no cas", &PlainRegisters { values: 1000 });
    for (name, lock) in [
        ("anonymous lock", Lock::ANONYMOUS),
        ("owned lock", Lock::OWNED),
        ("reentrant lock", Lock::REENTRANT),
        ("fenced lock", Lock::FENCED),
        ("reentrant fenced lock", Lock::REENTRANT_FENCED),
    ] {
        visitor.visit(name, &Locks { lock, refusals: false });
        visitor.visit(&format!("{name}, refusals"), &Locks { lock, refusals: true });
    }
    let twice = Lock { depth_max: 2, ..Lock::REENTRANT_FENCED };
    visitor.visit("lock held twice, refusals", &Locks { lock: twice, refusals: true });
    visitor.visit("counter, units", &Counters { units: true });
    visitor.visit("counter", &Counters { units: false });
    visitor.visit("queue, 3 values", &Queues { values: 3 });
    visitor.visit("queue, 12 values", &Queues { values: 12 });
    visitor.visit("set by element", &Sets { whole_reads: false });
    visitor.visit("set", &Sets { whole_reads: true });
    visitor.visit("multi-register", &MultiRegisters);
    visitor.visit("key-value, appends", &Stores { puts: false });
    visitor.visit("key-value, puts and appends", &Stores { puts: true });
    visitor.visit("semaphore", &Semaphores { refusals: false });
    visitor.visit("semaphore, refusals", &Semaphores { refusals: true });
    visitor.visit("lease, acquires only", &Leases { refusals: false, acquires_only: true });
    visitor.visit("lease", &Leases { refusals: false, acquires_only: false });
    visitor.visit("lease, refusals", &Leases { refusals: true, acquires_only: false });
    visitor.visit("fenced resource", &Guards);
}
