//! Models of coordination services and data types.
//!
//! In a model's folder, `special` is its checker without a search, however much is indeterminate; `origin` finds what
//! nobody can have written.

pub mod counter;
pub mod keyed;
pub mod lease;
pub mod lock;
pub mod multi_register;
pub mod queue;
pub mod register;
pub mod semaphore;
pub mod set;
mod size;
pub mod text;
pub(crate) mod words;

pub use counter::Counter;
pub use keyed::Keyed;
pub use lease::Lease;
pub use lock::Lock;
pub use multi_register::MultiRegister;
pub use queue::FifoQueue;
pub use register::Register;
pub use semaphore::Semaphore;
pub use set::Set;
pub use text::{KeyValue, Text};

pub(crate) use size::block;

use std::{fmt::Debug, hash::Hash};

/// What keys, values and elements are made of.
pub trait Value: Clone + Eq + Hash + Ord + Debug + Send + Sync + 'static {}

impl<T: Clone + Eq + Hash + Ord + Debug + Send + Sync + 'static> Value for T {}
