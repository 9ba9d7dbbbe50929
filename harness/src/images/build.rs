//! Builds images of the catalog, through the engine's API, from Dockerfiles that this binary carries.

use std::collections::HashMap;

use bollard::query_parameters::BuildImageOptionsBuilder;
use futures_util::StreamExt;
use sha2::{Digest, Sha256};

use super::{base, stages};
use crate::catalog::Image;
use crate::{
    engine::{Engine, hex},
    error::{Error, Result},
};

/// On built images: the digest of what they were built from.
const LABEL_RECIPE: &str = "fencepost.recipe";

const DOCKERFILES: [(&str, &str); 5] = [
    ("redis/apt.Dockerfile", include_str!("../../../images/redis/apt.Dockerfile")),
    ("redis/wheel.Dockerfile", include_str!("../../../images/redis/wheel.Dockerfile")),
    ("etcd/apt.Dockerfile", include_str!("../../../images/etcd/apt.Dockerfile")),
    ("etcd/wheel.Dockerfile", include_str!("../../../images/etcd/wheel.Dockerfile")),
    ("zookeeper/apt.Dockerfile", include_str!("../../../images/zookeeper/apt.Dockerfile")),
];

/// What is in the engine under an image's tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Built from what the catalog says.
    Current,
    /// Built from something else.
    Stale,
    /// Nothing.
    Missing,
}

/// A Dockerfile by its path below `images/`.
pub fn dockerfile(path: &str) -> Option<&'static str> {
    DOCKERFILES.iter().find(|(name, _)| *name == path).map(|(_, text)| *text)
}

/// What is in the engine.
pub async fn state(engine: &Engine, image: &Image) -> Result<State> {
    let Ok(found) = engine.docker.inspect_image(&image.tag).await else { return Ok(State::Missing) };
    let label =
        found.config.and_then(|config| config.labels).and_then(|labels| labels.get(LABEL_RECIPE).cloned());
    Ok(if label == Some(recipe_digest(image)?) { State::Current } else { State::Stale })
}

/// Builds it unless it is there as the catalog wants it. `say` is told what is being done.
pub async fn ensure(engine: &Engine, image: &Image, say: &dyn Fn(&str)) -> Result<()> {
    if state(engine, image).await? == State::Current {
        return Ok(());
    }
    if !super::is_here(engine, &image.base).await {
        say(&format!("getting the base image {}", image.base));
        if super::pull(engine, &image.base).await.is_err() {
            base::make(&image.base, say).await?;
        }
    }
    say(&format!("building {}", image.tag));
    build(engine, image).await
}

async fn build(engine: &Engine, image: &Image) -> Result<()> {
    let text = text_of(image)?;
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    let context = archive
        .append_data(&mut header, "Dockerfile", text.as_bytes())
        .and_then(|()| archive.into_inner())
        .map_err(|error| Error::Harness(format!("failed to pack {}: {error}", image.dockerfile)))?;
    let args: HashMap<String, String> = arguments(image)
        .iter()
        .filter_map(|argument| argument.split_once('='))
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    let labels = HashMap::from([(LABEL_RECIPE.to_string(), recipe_digest(image)?)]);
    let options = BuildImageOptionsBuilder::default()
        .t(&image.tag)
        .rm(true)
        .forcerm(true)
        .labels(&labels)
        .buildargs(&args)
        .build();
    let mut log = String::new();
    let mut steps = engine.docker.build_image(options, None, Some(bollard::body_full(context.into())));
    let mut failure = None;
    while let Some(step) = steps.next().await {
        failure = match step {
            Ok(step) => {
                log.push_str(&step.stream.unwrap_or_default());
                step.error_detail.and_then(|detail| detail.message)
            }
            Err(error) => Some(crate::engine::explain(&error)),
        };
        if failure.is_some() {
            break;
        }
    }
    stages::remove(engine, &log).await;
    let Some(why) = failure else { return Ok(()) };
    let lines: Vec<&str> = log.lines().collect();
    let end = lines[lines.len().saturating_sub(15)..].join("\n    ");
    Err(Error::Unavailable(format!("failed to build {}: {why}\n    {end}", image.tag)))
}

fn text_of(image: &Image) -> Result<&'static str> {
    dockerfile(&image.dockerfile)
        .ok_or_else(|| Error::Harness(format!("this binary does not carry {}", image.dockerfile)))
}

fn arguments(image: &Image) -> Vec<String> {
    std::iter::once(format!("BASE={}", image.base)).chain(image.args.iter().cloned()).collect()
}

/// SHA-256 of the Dockerfile and then one line for each build argument; `images/build.sh` computes the same.
fn recipe_digest(image: &Image) -> Result<String> {
    let mut digest = Sha256::new();
    digest.update(text_of(image)?);
    for argument in arguments(image) {
        digest.update(argument);
        digest.update("\n");
    }
    Ok(hex(&digest.finalize()))
}
