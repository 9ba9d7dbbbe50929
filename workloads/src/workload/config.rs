use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::kind::Workload;
use crate::{
    api::Endpoint,
    rates::{BadRates, LOCKS_MAX, Rates},
    recipes::BadRecipe,
};

/// Everything one client needs to know. The harness sends it as JSON to the client's process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientConfig {
    /// This client's index, from 0.
    pub client: u32,
    /// Number of clients in the run.
    pub clients: u32,
    /// Its first process number; the next is this plus `clients`. Normally `client`.
    pub first_process: u32,
    /// The node it runs on: `c1`, …
    pub node: String,
    /// Recipe by name: `redis/set-nx`, …
    pub recipe: String,
    /// How to drive it.
    pub workload: Workload,
    /// Time to live of a grant, milliseconds.
    pub ttl_ms: u64,
    /// The recipe's own settings.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// The servers. A client starts with the one at its own index, and goes to the next when it reconnects.
    pub endpoints: Vec<Endpoint>,
    /// The protected resource.
    pub resource: Endpoint,
    /// Rates and limits.
    #[serde(default)]
    pub rates: Rates,
}

/// A configuration that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadConfig {
    /// The recipe, its settings or its workload.
    #[error(transparent)]
    Recipe(#[from] BadRecipe),
    /// One of the rates.
    #[error(transparent)]
    Rates(#[from] BadRates),
}

impl ClientConfig {
    /// Time to live of a grant.
    pub fn ttl(&self) -> Duration {
        Duration::from_millis(self.ttl_ms)
    }

    /// Limit of one call to a store or to the resource.
    pub fn call_limit(&self) -> Duration {
        self.rates.call_limit(self.ttl())
    }

    /// How long one operation may go on once the client is told to stop; after one that was given up it ends.
    pub fn stop_limit(&self) -> Duration {
        self.rates.stop_limit(self.ttl())
    }

    /// Names of the locks: `a`, `b`, …
    pub fn locks(&self) -> Vec<String> {
        (0..self.rates.locks.clamp(1, LOCKS_MAX as u32))
            .map(|number| char::from(b'a' + number as u8).to_string())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{"client":1,"clients":5,"first_process":6,"node":"c2","recipe":"redis/set-nx","workload":"lock",
        "ttl_ms":2000,"endpoints":[{"node":"s1","addr":"198.18.0.2:6379"}],"resource":{"node":"resource","addr":"198.18.0.9:7000"},
        "rates":{"locks":2}}"#;

    #[test]
    fn what_is_left_out_has_a_default() {
        let config: ClientConfig = serde_json::from_str(CONFIG).unwrap();
        assert_eq!(config.rates, Rates { locks: 2, ..Rates::default() });
        assert_eq!(config.locks(), ["a", "b"]);
        assert_eq!(config.call_limit(), Duration::from_secs(1));
        assert_eq!(config.stop_limit(), Duration::from_millis(1800 + 2000));
        assert_eq!(config.rates.finish_limit(config.ttl()), Duration::from_millis(5 * 3800 + 200 + 120));
        let again: ClientConfig = serde_json::from_str(&serde_json::to_string(&config).unwrap()).unwrap();
        assert_eq!(again, config);
    }
}
