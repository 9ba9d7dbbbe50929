//! Machines for which there is no code yet.

use std::process::{Child, Command};

use super::{ClockError, Observed};

const HERE: ClockError = ClockError::Architecture("processes of this machine");

/// Not on this machine.
pub fn install(_pid: i32, _offset_ns: i64) -> Result<(), ClockError> {
    Err(HERE)
}

/// Not on this machine.
pub fn set(_pid: i32, _offset_ns: i64) -> Result<(), ClockError> {
    Err(HERE)
}

/// Not on this machine.
pub fn read_back(_pid: i32) -> Result<Observed, ClockError> {
    Err(HERE)
}

/// Not on this machine.
pub fn remove(_pid: i32) -> Result<Observed, ClockError> {
    Err(HERE)
}

/// Not on this machine.
pub fn spawn(_command: Command, _offset_ns: i64) -> Result<Child, ClockError> {
    Err(HERE)
}
