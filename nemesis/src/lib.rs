//! Faults, the plans and schedules they come from, and the mechanisms that apply them on a node.
//!
//! The first half is pure: a [`plan::Plan`] is what the user asked for, a [`schedule::Schedule`] is what was drawn
//! from it before the run, and [`resolve`] turns a symbolic target into nodes at the moment a fault starts.

pub mod draw;
pub mod duration;
pub mod evidence;
pub mod kind;
pub mod partition;
pub mod plan;
pub mod resolve;
pub mod schedule;
pub mod suggest;
pub mod target;
