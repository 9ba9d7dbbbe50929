//! `fencepost images`

use history::exit::ExitCode;
use serde_json::json;
use tabled::{builder::Builder, settings::Style};

use super::{args::ImagesArgs, output, runtime};
use crate::{
    catalog::{CATALOG, Image},
    engine::Engine,
    error::{Error, Result},
    images::build::{self, State},
};

/// Lists the images, or builds those that were asked for.
pub fn main(args: &ImagesArgs) -> Result<ExitCode> {
    let chosen = chosen(args)?;
    runtime::block_on(async {
        let engine = Engine::connect().await?;
        let shown = async {
            if args.build || !args.which.is_empty() {
                for image in &chosen {
                    build::ensure(&engine, image, &|line| tell!("{line}")).await?;
                }
            }
            show(&engine, args.json).await
        };
        engine.attended(shown).await?
    })
}

fn chosen(args: &ImagesArgs) -> Result<Vec<&'static Image>> {
    if args.which.is_empty() {
        return Ok(CATALOG.images.iter().filter(|image| image.default).collect());
    }
    let mut chosen = Vec::new();
    for which in &args.which {
        let fits = |image: &&Image| {
            which == "all"
                || *which == image.system
                || *which == format!("{}:{}", image.system, image.version)
        };
        let before = chosen.len();
        chosen.extend(CATALOG.images.iter().filter(fits));
        if chosen.len() == before {
            let all: Vec<String> =
                CATALOG.images.iter().map(|image| format!("{}:{}", image.system, image.version)).collect();
            let hint = nemesis::suggest::hint(which, all.iter().map(String::as_str));
            return Err(Error::Usage(format!(
                "there is no image {which}: use all, a system, or one of {}{hint}",
                all.join(", ")
            )));
        }
    }
    Ok(chosen)
}

async fn show(engine: &Engine, as_json: bool) -> Result<ExitCode> {
    let mut table = Builder::default();
    table.push_record(["image", "version", "default", "here"]);
    let mut list = Vec::new();
    for image in &CATALOG.images {
        let state = match build::state(engine, image).await? {
            State::Current => "yes",
            State::Stale => "out of date",
            State::Missing => "no",
        };
        let default = if image.default { "yes" } else { "" };
        table.push_record([image.tag.as_str(), image.full.as_str(), default, state]);
        list.push(json!({
            "system": image.system,
            "version": image.version,
            "full": image.full,
            "default": image.default,
            "tag": image.tag,
            "state": state,
        }));
    }
    if as_json {
        output::print(&format!("{:#}", json!({ "images": list })));
    } else {
        output::print(&table.build().with(Style::blank()).to_string());
        tell!(
            "\nA run builds what it needs; `fencepost images --build` builds the defaults now, `fencepost images all` everything."
        );
    }
    Ok(ExitCode::Ok)
}
