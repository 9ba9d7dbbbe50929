//! Who sent what to whom in a simulated run: a space-time diagram around the first violation.

mod axis;
mod draw;
mod window;

pub(crate) use draw::section;
