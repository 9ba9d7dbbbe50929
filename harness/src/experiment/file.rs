//! Experiment files.

use std::collections::BTreeMap;

use nemesis::{plan::FaultsTable, schedule::ScheduledFault, suggest};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use workloads::workload::{Rates, Workload};

use super::{Expectation, On, SimTable, snippet};
use crate::error::{Error, Result};

/// An experiment as it is written. What is absent takes a default or a flag.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// Its name, also its folder in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<String>>,
    /// The recipe; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Spanned<String>>,
    /// `lock`, `lease` or `election`; the recipe's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// `auto`, `docker` or `sim`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<On>,
    /// Length of the phase with faults, such as "30s".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Spanned<String>>,
    /// Number of clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<Spanned<u32>>,
    /// Time to live of a grant, such as "2s".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Spanned<String>>,
    /// Decides everything that is left to chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// What the checks are expected to say, by check or `verdict`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expect: BTreeMap<Spanned<String>, Spanned<Expectation>>,
    /// The service under test.
    #[serde(default, skip_serializing_if = "SystemTable::is_empty")]
    pub system: SystemTable,
    /// Settings of recipe and system.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    /// Rates of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Spanned<Rates>>,
    /// The simulated network and disks; real servers have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim: Option<Spanned<SimTable>>,
    /// The faults, drawn from the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Spanned<FaultsTable>>,
    /// The faults, given one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<Spanned<ScheduledFault>>,
}

/// `[system]`
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemTable {
    /// A version of the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Spanned<String>>,
    /// Any image instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Number of servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Spanned<u32>>,
}

impl SystemTable {
    fn is_empty(&self) -> bool {
        self.version.is_none() && self.image.is_none() && self.nodes.is_none()
    }
}

/// A file with its text, so that later errors can point into it.
pub struct Source {
    /// As the user named it.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// What it says.
    pub file: ExperimentFile,
}

impl Source {
    /// Reads an experiment file.
    pub fn read(path: &str) -> Result<Source> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::Data(format!("failed to read the experiment {path}: {error}")))?;
        Source::parse(path, text)
    }

    /// Parses its text.
    pub fn parse(path: &str, text: String) -> Result<Source> {
        match toml::from_str(&text) {
            Ok(file) => Ok(Source { path: path.into(), text, file }),
            Err(error) => {
                let message = with_suggestion(error.message());
                let span = error.span().unwrap_or(0..0);
                Err(Error::Data(snippet::at(path, &text, span, &message)))
            }
        }
    }

    /// An error at this place of the file.
    pub fn wrong(&self, span: std::ops::Range<usize>, message: &str) -> Error {
        Error::Data(snippet::at(&self.path, &self.text, span, message))
    }
}

/// Serde's "unknown field `x`, expected one of `a`, `b`", with the likeliest of them named; no names of Rust's types.
fn with_suggestion(message: &str) -> String {
    let message = match message.rsplit_once("expected ") {
        Some((before, "u32" | "u64" | "i64")) => &format!("{before}expected a whole number"),
        Some((_, "a string")) => &format!("{message}: write it in quotes"),
        _ => message,
    };
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = ["unknown field", "unknown variant"].into_iter().any(|start| message.starts_with(start));
    match quoted.next().filter(|_| unknown) {
        Some(written) => format!("{message}{}", suggest::hint(written, quoted)),
        None => message.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        Source::parse("x.toml", text.into()).err().unwrap().to_string()
    }

    #[test]
    fn an_unknown_key_is_pointed_at_and_the_right_one_named() {
        let message = said("recipe = \"redis/set-nx\"\nclinets = 5\n");
        assert!(message.starts_with("x.toml:2:1: unknown field `clinets`"), "{message}");
        assert!(message.contains("did you mean `clients`?"), "{message}");
    }

    #[test]
    fn a_wrong_type_is_pointed_at() {
        let message = said("clients = \"five\"\n");
        assert!(message.starts_with("x.toml:1:11:"), "{message}");
    }

    #[test]
    fn a_wrong_fault_target_is_pointed_at() {
        let message = said("[faults.pause]\ntarget = \"holdr\"\n");
        assert!(message.starts_with("x.toml:2:10: unknown target `holdr`"), "{message}");
    }
}
