//! The protected resource: a state machine of registers, and its server.

mod registers;
mod server;

pub use registers::Registers;
pub use server::serve;
