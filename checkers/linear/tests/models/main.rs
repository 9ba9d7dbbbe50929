//! Models, checkers and explanations held against each other, against brute force and against vectors.

#[path = "../support/all.rs"]
mod all;
#[path = "../support/edn.rs"]
mod edn;
#[path = "../support/explosive.rs"]
mod explosive;
#[path = "../support/guard.rs"]
mod guard;
#[path = "../support/vectors.rs"]
mod histories;
#[path = "../support/random.rs"]
mod random;
#[path = "../support/subjects.rs"]
mod subjects;
#[path = "../support/timed_out.rs"]
mod timed_out;
#[path = "../support/wrong.rs"]
mod wrong;

mod agreement;
mod explained;
mod limits;
mod lost;
mod truth;
mod vectors;
mod words;
