//! Every subject by name.

use linear::models::lock::Lock;

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
    visitor.visit("counter, units", &Counters { units: true, info_in: 6 });
    visitor.visit("counter, units, half timed out", &Counters { units: true, info_in: 2 });
    visitor.visit("counter", &Counters { units: false, info_in: 6 });
    visitor.visit("counter, half timed out", &Counters { units: false, info_in: 2 });
    visitor.visit("queue, 2 values", &Queues { values: 2, info_in: 12 });
    visitor.visit("queue, 3 values", &Queues { values: 3, info_in: 6 });
    visitor.visit("queue, 3 values, half timed out", &Queues { values: 3, info_in: 2 });
    visitor.visit("queue, 12 values", &Queues { values: 12, info_in: 6 });
    let set = Sets { whole_reads: true, removals: true, info_in: 6 };
    visitor.visit("set by element", &Sets { whole_reads: false, ..set });
    visitor.visit("set", &set);
    visitor.visit("set, half timed out", &Sets { info_in: 2, ..set });
    visitor.visit("growing set", &Sets { removals: false, ..set });
    visitor.visit("growing set, half timed out", &Sets { removals: false, info_in: 2, ..set });
    visitor.visit("multi-register", &MultiRegisters);
    visitor.visit("key-value, appends", &Stores { puts: false });
    visitor.visit("key-value, puts and appends", &Stores { puts: true });
    let semaphore = Semaphores { refusals: false, units: false, goes_on: false, info_in: 6 };
    visitor.visit("semaphore", &semaphore);
    visitor.visit("semaphore, refusals", &Semaphores { refusals: true, ..semaphore });
    visitor.visit("semaphore, half timed out", &Semaphores { goes_on: true, info_in: 2, ..semaphore });
    visitor.visit("semaphore, units", &Semaphores { units: true, goes_on: true, info_in: 3, ..semaphore });
    visitor.visit("lease, acquires only", &Leases { refusals: false, acquires_only: true });
    visitor.visit("lease", &Leases { refusals: false, acquires_only: false });
    visitor.visit("lease, refusals", &Leases { refusals: true, acquires_only: false });
    visitor.visit("fenced resource", &Guards);
    keyed(visitor);
}

/// Models under keys, as tuples of Jepsen's `independent`.
fn keyed(visitor: &mut impl Visit) {
    visitor.visit("keyed register", &Under(Registers { values: 3 }));
    visitor.visit("keyed owned lock", &Under(Locks { lock: Lock::OWNED, refusals: true }));
    visitor.visit("keyed counter", &Under(Counters { units: false, info_in: 6 }));
    visitor.visit("keyed queue", &Under(Queues { values: 3, info_in: 6 }));
    visitor.visit("keyed set", &Under(Sets { whole_reads: true, removals: true, info_in: 6 }));
    visitor.visit("keyed multi-register", &Under(MultiRegisters));
    let semaphore = Semaphores { refusals: false, units: false, goes_on: false, info_in: 6 };
    visitor.visit("keyed semaphore", &Under(semaphore));
    visitor.visit("keyed lease", &Under(Leases { refusals: true, acquires_only: false }));
    visitor.visit("keyed fenced resource", &Under(Guards));
}
