//! Recipes on Redis.

mod link;
mod promises;
mod redlock;
mod scripts;
mod sentinel;
mod set_nx;
mod table;

pub(super) use set_nx::{Flaw, SetNx};
pub(super) use table::{RECIPES, RETRY, UNTIL};
