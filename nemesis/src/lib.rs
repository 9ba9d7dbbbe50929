//! Faults, the plans and schedules they come from, and the mechanisms that apply them on a node.
//!
//! The first half is pure: a [`plan::Plan`] is what the user asked for, a [`schedule::Schedule`] is what was drawn
//! from it before the run, and [`resolve`] turns a symbolic target into nodes at the moment a fault starts.
//!
//! In between, a fault's [`life`] is told in [`verbs`], which every world offers for its nodes.
//!
//! The second half, on Linux only, acts on the node it runs on, which takes CAP_NET_ADMIN ([`net`]) or CAP_SYS_PTRACE
//! ([`clock`]). Its functions block for milliseconds, and each removal is verified.

pub mod draw;
pub mod duration;
pub mod evidence;
pub mod kind;
pub mod life;
pub mod links;
pub mod plan;
pub mod resolve;
pub mod schedule;
pub mod target;
pub mod verbs;

pub use history::suggest;

#[cfg(target_os = "linux")]
pub mod clock;
#[cfg(target_os = "linux")]
pub mod net;
#[cfg(target_os = "linux")]
pub mod process;
