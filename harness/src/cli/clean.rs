//! `fencepost clean`

use super::runtime;
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
            println!("removed {name}");
        }
        if images {
            println!("removed {} node image(s)", clean::remove_node_images(&engine).await?);
        }
        if removed.containers.is_empty() && removed.networks.is_empty() {
            println!("no dead run left anything behind");
        }
        Ok(exit::OK)
    })
}
