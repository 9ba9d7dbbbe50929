//! `fencepost clean`

use history::exit::ExitCode;

use super::{output, runtime};
use crate::{engine::Engine, error::Result, world::docker::clean};

/// Removes leftovers of dead runs; those of living ones stay.
pub fn main(images: bool) -> Result<ExitCode> {
    runtime::block_on(async {
        let engine = Engine::connect().await?;
        let removed = engine.attended(clean::remove_abandoned(&engine)).await??;
        for name in removed.containers.iter().chain(&removed.networks) {
            output::say(&format!("removed {name}"));
        }
        for (name, owner) in &removed.out_of_sight {
            output::say(&format!(
                "left alone {name}: whether its owner lives ({owner}: host/boot/pid/start/namespace) cannot be seen from here"
            ));
        }
        if images {
            let count = engine.attended(clean::remove_node_images(&engine)).await??;
            output::say(&format!("removed {count} node image(s)"));
        }
        if removed == clean::Leftovers::default() {
            output::say("no dead run left anything behind");
        }
        Ok(ExitCode::Ok)
    })
}
