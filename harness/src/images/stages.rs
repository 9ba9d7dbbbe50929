//! What a build leaves beside its image: the stages that the image took its files from, some of them large.

use bollard::query_parameters::RemoveImageOptionsBuilder;

use crate::engine::Engine;

/// Removes what the build that wrote this log made and its image does not stand on. Steps that were there before it
/// (`Using cache`) may be anybody's and stay.
pub async fn remove(engine: &Engine, log: &str) {
    // A step stands on the one before it.
    for id in made(log).into_iter().rev() {
        let Ok(image) = engine.docker.inspect_image(id).await else { continue };
        let is_named =
            [image.repo_tags, image.repo_digests].into_iter().flatten().any(|names| !names.is_empty());
        if !is_named {
            let options = RemoveImageOptionsBuilder::default().noprune(true).build();
            // The engine refuses where an image stands on it, or a container.
            let _ = engine.docker.remove_image(id, Some(options), None).await;
        }
    }
}

/// The ids of the images that a build made, in order.
fn made(log: &str) -> Vec<&str> {
    let mut made = Vec::new();
    let mut is_cached = false;
    for said in log.lines().filter_map(|line| line.trim().strip_prefix("---> ")) {
        let is_id = said.len() >= 12 && said.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id && !is_cached {
            made.push(said);
        }
        is_cached = said == "Using cache";
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_build_made_itself_is_its_own() {
        let log = "Step 1/4 : FROM debian AS parts\n ---> b5f4892ceed5\nStep 2/4 : RUN x\n ---> Using cache\n ---> 0123456789ab\n\
                   Step 3/4 : RUN y\n ---> Running in 1dd0a6fcd1b5\nRemoving intermediate container 1dd0a6fcd1b5\n ---> c22e2bf75ac8\n\
                   Successfully built c22e2bf75ac8\n";
        assert_eq!(
            made(log),
            ["b5f4892ceed5", "c22e2bf75ac8"],
            "the first has a name, and is not removed therefore"
        );
    }
}
