//! `fencepost clean`

use super::{output, runtime};
use crate::{
    error::{Result, exit},
    world::docker::{Engine, clean},
};

/// Removes leftovers of dead runs; those of living ones stay.
pub fn main(images: bool) -> Result<u8> {
    runtime::block_on(async {
        let engine = Engine::connect().await?;
        let removed = clean::remove_abandoned(&engine).await?;
        for name in removed.containers.iter().chain(&removed.networks) {
            output::print(&format!("removed {name}"));
        }
        if images {
            let count = clean::remove_node_images(&engine).await?;
            output::print(&format!("removed {count} node image(s)"));
        }
        if removed.containers.is_empty() && removed.networks.is_empty() {
            output::print("no dead run left anything behind");
        }
        Ok(exit::OK)
    })
}
