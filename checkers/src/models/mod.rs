//! Models of coordination services and data types.
pub mod lock;
pub mod register;
pub use lock::Lock;
pub use register::Register;
