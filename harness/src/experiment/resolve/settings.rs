//! Version and settings of the system and of the recipe.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use nemesis::suggest;
use workloads::recipes::RecipeInfo;

use super::{Flags, Place};
use crate::{
    catalog,
    error::{Error, Result},
    experiment::{
        ExperimentFile,
        given::{Given, given},
    },
    systems::System,
};

/// The version asked for, if the catalog has it.
pub fn version(
    file: &ExperimentFile,
    flags: &Flags,
    system: &System,
    place: &Place<'_>,
) -> Result<Option<String>> {
    let Some(Given { value: version, span }) = given(&flags.version, &file.system.version) else {
        return Ok(None);
    };
    if flags.image.is_some() || file.system.image.is_some() {
        return Err(place.wrong(
            span,
            "--version",
            "an image was given too: name a version or an image, not both",
        ));
    }
    let known = catalog::versions(system.images);
    if known.iter().any(|known| *known == version) {
        return Ok(Some(version));
    }
    let message = format!(
        "there is no {} {version}: use one of {}, or --image with any image{}",
        system.images,
        known.join(", "),
        suggest::hint(&version, known.iter().copied()),
    );
    Err(place.wrong(span, "--version", &message))
}

/// Keys of the recipe and of the system; anything else is a mistake.
pub fn settings(
    file: &ExperimentFile,
    flags: &Flags,
    recipe: &'static RecipeInfo,
    system: &System,
    nodes: u32,
    place: &Place<'_>,
) -> Result<BTreeMap<String, String>> {
    let mut settings = BTreeMap::new();
    for (key, value) in &file.settings {
        let text = match value.get_ref() {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let spans = place.source.map(|_| Spans { key: key.span(), value: value.span() });
        settings.insert(key.get_ref().clone(), (text, spans));
    }
    let mut given = BTreeSet::new();
    for setting in &flags.settings {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| Error::Usage(format!("--set: {setting:?} is not key=value")))?;
        let key = key.trim();
        if !given.insert(key) {
            return Err(Error::Usage(format!("--set: {key} is given twice")));
        }
        settings.insert(key.to_string(), (value.trim().to_string(), None));
    }
    for (key, (value, spans)) in &settings {
        check_key(key, recipe, system)
            .map_err(|why| place.wrong(spans.as_ref().map(|spans| spans.key.clone()), "--set", &why))?;
        check_value(key, value, recipe, system)
            .and_then(|()| check_replicas(key, value, recipe, nodes))
            .map_err(|why| place.wrong(spans.as_ref().map(|spans| spans.value.clone()), "--set", &why))?;
    }
    Ok(settings.into_iter().map(|(key, (value, _))| (key, value)).collect())
}

/// Where a setting stands in the file.
struct Spans {
    key: Range<usize>,
    value: Range<usize>,
}

fn check_value(key: &str, value: &str, recipe: &'static RecipeInfo, system: &System) -> Result<(), String> {
    if let Some(setting) = system.settings.iter().find(|setting| setting.name == key) {
        return setting.check(value).map_err(|error| error.to_string());
    }
    let given = BTreeMap::from([(key.to_string(), value.to_string())]);
    recipe.settings(&given).map(drop).map_err(|error| error.to_string())
}

/// Who waits for more replicas than there are is never granted anything.
fn check_replicas(key: &str, value: &str, recipe: &RecipeInfo, nodes: u32) -> Result<(), String> {
    let counts_replicas =
        recipe.settings.iter().any(|setting| setting.name == key && setting.counts_replicas);
    let replicas = u64::from(nodes.saturating_sub(1));
    match value.parse::<u64>() {
        Ok(wanted) if counts_replicas && wanted > replicas => {
            Err(format!("{key} is at most {replicas}, the replicas of {nodes} servers, not {wanted}"))
        }
        _ => Ok(()),
    }
}

fn check_key(key: &str, recipe: &'static RecipeInfo, system: &System) -> Result<(), String> {
    let known: Vec<&str> = system
        .settings
        .iter()
        .map(|setting| setting.name)
        .chain(recipe.settings.iter().map(|setting| setting.name))
        .collect();
    if known.contains(&key) {
        return Ok(());
    }
    let hint = suggest::hint(key, known.iter().copied());
    Err(format!(
        "{} on {} has no setting {key:?}: use one of {}{hint}",
        recipe.name,
        system.name,
        known.join(", ")
    ))
}
