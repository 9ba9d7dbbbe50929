//! Slower checkers that share nothing with the engine but the models, to hold it against.

mod brute;
mod powerset;
mod wgl;

pub use brute::brute_force;
pub use powerset::{Nondeterministic, PowerSet};
pub(crate) use wgl::partial_orders;
pub use wgl::{Judged, referee};
