//! Single values: durations, numbers, rates, names, expectations.

use std::collections::BTreeMap;

use nemesis::{
    duration::{format_ms, parse_ms},
    suggest,
};
use toml::Spanned;
use workloads::{recipes::RecipeInfo, workload::Rates};

use super::{
    Flags, Place,
    bounds::{Lengths, NAME_MAX},
};
use crate::{
    error::{Error, Result},
    experiment::{Expectation, ExperimentFile, given::Given},
    store::LATEST,
};

/// Tries a second: from one in a quarter of an hour to one a millisecond.
const RATE: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// A duration in milliseconds, from a flag, else from the file, else its default.
pub fn duration(
    given: Option<Given<String>>,
    name: &str,
    default: &str,
    lengths: Lengths,
    place: &Place<'_>,
) -> Result<u64> {
    let Given { value: text, span } = given.unwrap_or_else(|| Given { value: default.into(), span: None });
    let ms = parse_ms(&text).map_err(|error| place.wrong(span.clone(), name, &error.to_string()))?;
    let message = match ms {
        _ if ms < *lengths.ms.start() => {
            format!("{text} is too short: at least {}", format_ms(*lengths.ms.start()))
        }
        _ if ms > *lengths.ms.end() && !place.is_made => {
            format!("{text} is too long: at most {}{}", format_ms(*lengths.ms.end()), lengths.of)
        }
        _ => return Ok(ms),
    };
    Err(place.wrong(span, name, &message))
}

/// A number, from a flag, else from the file, else its default; `who_has` begins the words of an error.
pub fn number(
    given: Option<Given<u32>>,
    name: &str,
    default: u32,
    range: std::ops::RangeInclusive<u32>,
    who_has: &str,
    place: &Place<'_>,
) -> Result<u32> {
    let Given { value: number, span } = given.unwrap_or(Given { value: default, span: None });
    if !range.contains(&number) {
        let bounds = match (range.start(), range.end()) {
            (one, same) if one == same => format!("exactly {one}"),
            (least, most) => format!("{least} to {most}"),
        };
        let message = format!("{number} is out of range: {who_has} {bounds}");
        return Err(place.wrong(span, name, &message));
    }
    Ok(number)
}

/// What the file says, checked, and the rate of the command line.
pub fn rates(file: &ExperimentFile, flags: &Flags, recipe: &RecipeInfo, place: &Place<'_>) -> Result<Rates> {
    let mut rates = file.rates.as_ref().map_or(&recipe.rates, Spanned::get_ref).clone();
    let span = file.rates.as_ref().map(Spanned::span);
    rates.check().map_err(|error| place.wrong(span, "", &error.to_string()))?;
    if let Some(rate) = flags.rate {
        if !RATE.contains(&rate) {
            let message = format!(
                "--rate: {rate:?} is out of range: {} to {} tries a second",
                RATE.start(),
                RATE.end()
            );
            return Err(Error::Usage(message));
        }
        let pause_ms = (1000.0 / rate) as u64;
        rates.think_ms = (pause_ms / 2, pause_ms + pause_ms / 2);
    }
    Ok(rates)
}

/// What the checks are expected to say.
pub fn expectations(
    file: &ExperimentFile,
    flags: &Flags,
    place: &Place<'_>,
) -> Result<BTreeMap<String, Expectation>> {
    let mut expect = BTreeMap::new();
    for (check, what) in &file.expect {
        let known = checkers::CHECKS.iter().map(|check| check.name).chain(["verdict"]);
        if !known.clone().any(|known| known == check.get_ref()) {
            let hint = suggest::hint(check.get_ref(), known.clone());
            let message = format!(
                "there is no check {:?}: use one of {}{hint}",
                check.get_ref(),
                known.collect::<Vec<_>>().join(", ")
            );
            return Err(place.wrong(Some(check.span()), "", &message));
        }
        expect.insert(check.get_ref().clone(), *what.get_ref());
    }
    if let Some(what) = flags.expect {
        expect.insert("verdict".into(), what);
    }
    Ok(expect)
}

/// The name becomes a folder, beside the store's link to the latest run.
pub fn check_name(name: &str, file: &ExperimentFile, place: &Place<'_>) -> Result<()> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let fits = !name.is_empty()
        && name.chars().all(good)
        && !name.split('/').any(|part| part.is_empty() || part.starts_with('.'));
    let message = match name.split('/').next() {
        _ if !fits => {
            format!("{name:?} cannot be a folder's name: letters, digits, `-`, `_`, `.` and single `/`")
        }
        _ if name.len() > NAME_MAX && !place.is_made => {
            format!("the name is too long: {} characters, and at most {NAME_MAX} fit", name.len())
        }
        Some(LATEST) => format!("{name:?} is taken: store/{LATEST} is the latest run; use another name"),
        _ => return Ok(()),
    };
    Err(place.wrong(file.name.as_ref().map(Spanned::span), "", &message))
}

/// A seed that nobody chose; printed, so that the run can be repeated.
pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // TOML's and JSON readers' integers end early; 32 bits are easy to type.
    std::collections::hash_map::RandomState::new().build_hasher().finish() & 0xffff_ffff
}
