//! Node images: any image plus one layer, `/fencepost`.

use std::{collections::HashMap, io::Read};

use bollard::query_parameters::{
    BuildImageOptionsBuilder, ListImagesOptionsBuilder, RemoveImageOptionsBuilder,
};
use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};

use super::binary;
use crate::engine::{Engine, LABEL_MADE_FROM, explain};
use crate::{
    engine::hex,
    error::{Error, Result},
};

/// The repository name of node images.
pub const REPOSITORY: &str = "fencepost/node";

/// The binary that every node runs as PID 1: this one.
pub struct Layer {
    binary: Vec<u8>,
    digest: String,
}

impl Layer {
    /// Reads our own executable.
    pub fn of_this_binary() -> Result<Layer> {
        let path = binary::given().unwrap_or_else(|| "/proc/self/exe".into());
        let mut binary = Vec::new();
        std::fs::File::open(&path)
            .and_then(|mut file| file.read_to_end(&mut binary))
            .map_err(|error| Error::Harness(format!("failed to read our own binary {path:?}: {error}")))?;
        let digest = hex(&Sha256::digest(&binary));
        Ok(Layer { binary, digest })
    }

    /// The image with `/fencepost` on top of `base` (an image id; `None`: on nothing), built unless it is there.
    pub async fn on(&self, engine: &Engine, base: Option<&str>) -> Result<String> {
        let made_from = hex(&Sha256::digest(format!("{}\n{}", base.unwrap_or("scratch"), self.digest)));
        let tag = format!("{REPOSITORY}:{}", &made_from[..16]);
        if engine.docker.inspect_image(&tag).await.is_ok() {
            return Ok(tag);
        }
        let dockerfile = format!("FROM {}\nCOPY fencepost /fencepost\n", base.unwrap_or("scratch"));
        let labels = HashMap::from([(LABEL_MADE_FROM.to_string(), made_from)]);
        let options = BuildImageOptionsBuilder::default()
            .t(&tag)
            .rm(true)
            .forcerm(true)
            .q(true)
            .labels(&labels)
            .build();
        let context = self.context(&dockerfile)?;
        let failed = |why: String| Error::Unavailable(format!("failed to build the node image {tag}: {why}"));
        engine
            .docker
            .build_image(options, None, Some(bollard::body_full(context.into())))
            .try_for_each(|step| {
                let failure = step.error_detail.and_then(|detail| detail.message);
                std::future::ready(match failure {
                    Some(message) => {
                        Err(bollard::errors::Error::DockerResponseServerError { status_code: 500, message })
                    }
                    None => Ok(()),
                })
            })
            .await
            .map_err(|error| failed(explain(&error)))?;
        Ok(tag)
    }

    fn context(&self, dockerfile: &str) -> Result<Vec<u8>> {
        let mut archive = tar::Builder::new(Vec::new());
        let mut add = |name: &str, mode: u32, content: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(mode);
            header.set_cksum();
            archive.append_data(&mut header, name, content)
        };
        add("Dockerfile", 0o644, dockerfile.as_bytes())
            .and_then(|()| add("fencepost", 0o755, &self.binary))
            .and_then(|()| archive.into_inner())
            .map_err(|error| Error::Harness(format!("failed to pack the node layer: {error}")))
    }
}

/// Node images of other builds of the binary, which no run needs any more, are removed; those in use stay.
pub async fn remove_unused(engine: &Engine, keep: &[String]) -> Result<usize> {
    let filter = HashMap::from([("reference".to_string(), vec![REPOSITORY.to_string()])]);
    let options = ListImagesOptionsBuilder::default().filters(&filter).build();
    let images = engine
        .docker
        .list_images(Some(options))
        .await
        .map_err(|error| Error::Unavailable(format!("failed to list images: {}", explain(&error))))?;
    let mut removed = 0;
    for tag in images.into_iter().flat_map(|image| image.repo_tags) {
        if !keep.contains(&tag) {
            let options = RemoveImageOptionsBuilder::default().build();
            removed += usize::from(engine.docker.remove_image(&tag, Some(options), None).await.is_ok());
        }
    }
    Ok(removed)
}
