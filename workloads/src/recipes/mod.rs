//! Client-side algorithms that offer a primitive on a system: as they are published, and mended where those are broken by design.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod broken;
mod context;
mod etcd;
mod info;
mod instance;
mod promises;
mod redis;
mod renamed;
mod zookeeper;

pub use context::Context;
pub use info::{BadRecipe, CLIENTS, Primitive, RecipeInfo, SettingInfo, all, find, open};
pub use instance::Instance;
pub use promises::Gap;
pub use renamed::{name_before_twins, name_now};

/// Every recipe, a table a system; the broken ones stand together.
const TABLES: [&[RecipeInfo]; 4] = [redis::RECIPES, etcd::RECIPES, zookeeper::RECIPES, broken::RECIPES];
