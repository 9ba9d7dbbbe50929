//! Experiment files.

use std::{collections::BTreeMap, path::Path};

use nemesis::{plan::FaultsTable, schedule::ScheduledFault};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use workloads::workload::{Rates, Workload};

use super::{Expectation, On, SimTable, snippet, wording};
use crate::{
    error::{Error, Result},
    input,
};

/// An experiment as it is written. What is absent takes a default or a flag.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// What its names mean, where it was saved beside a run: [`super::older`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Spanned<u32>>,
    /// Its name, also its folder in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Spanned<String>>,
    /// The recipe; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Spanned<String>>,
    /// `lock`, `lease` or `election`; the recipe's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Spanned<Workload>>,
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
    pub image: Option<Spanned<String>>,
    /// Number of servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Spanned<u32>>,
}

impl SystemTable {
    fn is_empty(&self) -> bool {
        self.version.is_none() && self.image.is_none() && self.nodes.is_none()
    }
}

/// Bytes of the largest file: as many as the longest schedule takes.
const EXPERIMENT_MAX: u64 = 16 << 20;

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
        let text = input::text(Path::new(path), EXPERIMENT_MAX)
            .map_err(|why| Error::Data(format!("failed to read the experiment {path}: {why}")))?;
        Source::parse(path, text)
    }

    /// Parses its text.
    pub fn parse(path: &str, text: String) -> Result<Source> {
        match toml::from_str(&text) {
            Ok(file) => Ok(Source { path: path.into(), text, file }),
            Err(error) => {
                let message = wording::in_words(error.message());
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
