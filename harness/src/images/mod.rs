//! Server images: which there are, which are here, how the missing ones come to be.

pub mod base;
pub mod build;
pub mod stages;

use bollard::query_parameters::CreateImageOptionsBuilder;
use futures_util::TryStreamExt;

use crate::{
    catalog::{self, LayoutEntry},
    engine::{Engine, explain},
    error::{Error, Result},
};

/// An image that is in the engine, and how to start its server.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// As it was asked for.
    pub reference: String,
    /// Its content's id, `sha256:…`.
    pub id: String,
    /// Digests under which registries know it.
    pub digests: Vec<String>,
    /// Layouts that it may have, likeliest first.
    pub layouts: Vec<LayoutEntry>,
}

/// The image of a version of these images, built if it is missing, or any image, pulled if it is missing.
pub async fn resolve(
    engine: &Engine,
    images: &str,
    version: Option<&str>,
    any: Option<&str>,
) -> Result<Resolved> {
    let all = || catalog::CATALOG.layouts.iter().filter(|layout| layout.system == images).cloned().collect();
    let (reference, layouts) = match any {
        Some(reference) => (reference.to_string(), all()),
        None => {
            let image = catalog::image(images, version).ok_or_else(|| {
                Error::Usage(format!("there is no {images} {}", version.unwrap_or_default()))
            })?;
            build::ensure(engine, image, &|line| tell!("{line}")).await?;
            (image.tag.clone(), catalog::layout(&image.layout).into_iter().cloned().collect())
        }
    };
    if !is_here(engine, &reference).await {
        pull(engine, &reference).await?;
    }
    let image = engine.docker.inspect_image(&reference).await.map_err(|error| {
        Error::Unavailable(format!("failed to inspect the image {reference}: {}", explain(&error)))
    })?;
    Ok(Resolved {
        reference,
        id: image.id.unwrap_or_default(),
        digests: image.repo_digests.unwrap_or_default(),
        layouts,
    })
}

/// Whether the engine has an image of this name.
pub async fn is_here(engine: &Engine, reference: &str) -> bool {
    engine.docker.inspect_image(reference).await.is_ok()
}

/// Pulls an image from its registry.
pub async fn pull(engine: &Engine, reference: &str) -> Result<()> {
    let tagged = reference.rsplit('/').next().is_some_and(|last| last.contains([':', '@']));
    let whole = if tagged { reference.to_string() } else { format!("{reference}:latest") };
    let options = CreateImageOptionsBuilder::default().from_image(&whole).build();
    let pulled = engine.docker.create_image(Some(options), None, None).try_for_each(|step| {
        let failure = step.error_detail.and_then(|detail| detail.message);
        std::future::ready(match failure {
            Some(message) => {
                Err(bollard::errors::Error::DockerResponseServerError { status_code: 500, message })
            }
            None => Ok(()),
        })
    });
    pulled.await.map_err(|error| {
        Error::Unavailable(format!(
            "the image {reference} is not here and cannot be pulled: {}\n  `fencepost images` lists those that can be built",
            explain(&error)
        ))
    })
}
