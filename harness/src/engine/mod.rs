//! The Docker engine: connection, facts about it, labels of what is ours.

pub mod discover;
pub mod http;
pub mod meant;
mod unusable;

use std::{collections::HashMap, future::Future, io, sync::Arc, time::Duration};

use bollard::{
    API_DEFAULT_VERSION, ClientVersion, Docker,
    errors::Error::{JsonDataError, JsonSerdeError},
    models::ContainerSummary,
    query_parameters::ListContainersOptionsBuilder,
};
use history::record::EngineFacts;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};

use self::{
    http::Silence,
    meant::{Endpoint, Meant},
    unusable::Unusable,
};
use crate::error::{Error, Result};
use crate::own_ticks::OwnTicks;

/// Every container, network and image that we make carries this label; nothing without it is ever touched.
pub const LABEL_RUN: &str = "fencepost.run";
/// Which process owns a run's things, so that leftovers of a dead one can be told apart: see [`super::owner`].
pub const LABEL_OWNER: &str = "fencepost.owner";
/// The node that a container is.
pub const LABEL_NODE: &str = "fencepost.node";
/// On images: the digest of what the image was made from.
pub const LABEL_MADE_FROM: &str = "fencepost.made-from";

/// A connection to an engine, with the API version agreed.
#[derive(Clone)]
pub struct Engine {
    /// The library's handle.
    pub docker: Docker,
    /// What the engine said of itself.
    pub facts: EngineFacts,
    /// Where it listens, and who says so.
    pub meant: Meant,
    /// Containers that join or leave a network: see [`Engine::change_endpoint`].
    endpoints: Arc<Semaphore>,
}

/// How many containers join or leave a network at once. Engines up to 24 count a network's endpoints in a shared object
/// that is read back when an update meets another: with a third under way the first one's change is lost, and the network
/// can never be removed (moby/libnetwork, endpoint_cnt.go, `atomicIncDecEpCnt`; moby/moby#42119). Two at once cost no time.
const ENDPOINTS_AT_ONCE: usize = 2;
/// Seconds that a request of the library may take: an engine that has much to do is slow.
const TIMEOUT: u64 = 300;
/// How long an engine may be silent; whatever else it does, it answers a ping at once.
const SILENCE: Duration = Duration::from_secs(8);
/// From one ping to the next.
const PING: Duration = Duration::from_secs(1);

impl Engine {
    /// To be held while a container is started or removed.
    pub async fn change_endpoint(&self) -> SemaphorePermit<'_> {
        self.endpoints.acquire().await.expect("it is never closed")
    }

    /// Connects to the engine that the `docker` command would use.
    ///
    /// # Errors
    /// When there is none, or when it cannot be used.
    pub async fn connect() -> Result<Engine> {
        Engine::if_any().await?.ok_or_else(|| {
            Error::Unavailable(format!(
                "no Docker engine answers: none is named, and nobody listens at {}\n  \
                 install one (Debian: apt-get install docker.io) and start it (`systemctl start docker`), name one \
                 (DOCKER_HOST, DOCKER_CONTEXT), or use --on sim; `fencepost doctor` tells more",
                discover::usual()
            ))
        })
    }

    /// The same, but `None` where nobody names an engine and none is there.
    ///
    /// # Errors
    /// When one is meant that cannot be used: it must never be passed over in silence.
    pub async fn if_any() -> Result<Option<Engine>> {
        match discover::meant().map_err(unavailable)? {
            None => Ok(None),
            Some(meant) => Engine::at(meant).await.map(Some).map_err(unavailable),
        }
    }

    async fn at(meant: Meant) -> Result<Engine, Unusable> {
        let said = tokio::time::timeout(SILENCE, asked(&meant, "/version"));
        let said =
            said.await.unwrap_or_else(|_| Err(silent(&meant, plainly(&io::ErrorKind::TimedOut.into()))))?;
        let version = agreed(&said["ApiVersion"]);
        let docker = match &meant.endpoint {
            Endpoint::Unix(path) => Docker::connect_with_unix(&path.display().to_string(), TIMEOUT, &version),
            Endpoint::Tcp(address) => {
                Docker::connect_with_http(&format!("tcp://{address}"), TIMEOUT, &version)
            }
        };
        let docker = docker.map_err(|error| Unusable::Client(meant.clone(), error.into()))?;
        let info = attended(&meant, asked(&meant, &format!("/v{version}/info"))).await??;
        let text = |name: &str| info[name].as_str().unwrap_or_default().to_string();
        let engine = match text("ServerVersion") {
            empty if empty.is_empty() => said["Version"].as_str().unwrap_or_default().to_string(),
            version => version,
        };
        let facts = EngineFacts {
            engine,
            at: meant.to_string(),
            api: version.to_string(),
            kernel: text("KernelVersion"),
            storage: text("Driver"),
            architecture: text("Architecture"),
            processors: info["NCPU"].as_i64().unwrap_or_default(),
        };
        Ok(Engine { docker, facts, meant, endpoints: Arc::new(Semaphore::new(ENDPOINTS_AT_ONCE)) })
    }

    /// What comes of requests that may take their time, as long as the engine answers others meanwhile.
    ///
    /// # Errors
    /// When it fell silent.
    pub async fn attended<T>(&self, requests: impl Future<Output = T>) -> Result<T> {
        attended(&self.meant, requests).await.map_err(unavailable)
    }

    /// Completes, with the reason, once the engine has not answered for a while in which we did not stand still.
    pub async fn until_silent(&self, ticks: &OwnTicks) -> String {
        until_silent(&self.meant, ticks).await.to_string()
    }

    /// The containers with this label (`name` or `name=value`), whatever state the engine says they are in.
    ///
    /// # Errors
    /// What the engine says.
    pub async fn containers(&self, label: &str) -> Result<Vec<Container>, String> {
        let filter = HashMap::from([("label".to_string(), vec![label.to_string()])]);
        let options = ListContainersOptionsBuilder::default().all(true).filters(&filter).build();
        match self.docker.list_containers(Some(options)).await {
            Ok(containers) => Ok(containers.into_iter().filter_map(Container::of).collect()),
            // Engines have states of their own, which the library does not know.
            Err(JsonDataError { .. } | JsonSerdeError { .. }) => {
                let path = format!("/v{}/containers/json?all=true", self.docker.client_version());
                let said = asked(&self.meant, &path).await.map_err(|error| error.to_string())?;
                let containers = serde_json::from_value::<Vec<Container>>(said);
                let mut containers =
                    containers.map_err(|error| format!("it lists them in its own way: {error}"))?;
                containers.retain(|container| container.has(label));
                Ok(containers)
            }
            Err(error) => Err(explain(&error)),
        }
    }
}

/// What must be known of a container to remove it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Container {
    /// Its id.
    pub id: String,
    /// Its names, each with a slash before it.
    #[serde(default)]
    pub names: Vec<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: HashMap<String, String>,
    /// When it was made, in seconds since 1970, if the engine tells.
    #[serde(default)]
    pub created: Option<i64>,
}

impl Container {
    fn of(summary: ContainerSummary) -> Option<Container> {
        let (names, labels) = (summary.names.unwrap_or_default(), summary.labels.unwrap_or_default());
        Some(Container { id: summary.id?, names, labels, created: summary.created })
    }

    fn has(&self, label: &str) -> bool {
        match label.split_once('=') {
            Some((name, value)) => self.labels.get(name).is_some_and(|found| found == value),
            None => self.labels.contains_key(label),
        }
    }
}

/// The newest API version that both sides know: engines from 20.10 (API 1.41) to those that refuse anything older than
/// 1.44 must all work.
fn agreed(theirs: &Value) -> ClientVersion {
    let parts = theirs.as_str().and_then(|text| text.split_once('.'));
    let theirs = parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    let ours = (API_DEFAULT_VERSION.major_version, API_DEFAULT_VERSION.minor_version);
    let (major_version, minor_version) = theirs.unwrap_or(OLDEST).min(ours);
    ClientVersion { major_version, minor_version }
}

/// The version that every engine we work with knows.
const OLDEST: (usize, usize) = (1, 41);

/// Asks the engine itself, as it may answer what the library cannot read.
async fn asked(meant: &Meant, path: &str) -> Result<Value, Unusable> {
    match http::get(&meant.endpoint, path).await {
        Ok(answer) if answer.status == 200 => Ok(http::json(&answer)),
        Ok(answer) => {
            let said = http::json(&answer)["message"].as_str().unwrap_or_default().to_string();
            Err(Unusable::Says(meant.clone(), answer.status, said))
        }
        Err(Silence::Tls) => Err(Unusable::Tls(meant.clone())),
        Err(Silence::NoHttp(text)) if text.is_empty() => Err(silent(meant, HANGS_UP.into())),
        Err(Silence::NoHttp(text)) => Err(Unusable::NoDocker(meant.clone(), text)),
        Err(Silence::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(Unusable::Denied(meant.clone()))
        }
        Err(Silence::Io(error)) => Err(silent(meant, plainly(&error))),
    }
}

/// Of one that accepts a connection and ends it.
const HANGS_UP: &str = "it ends the connection without a word";

fn silent(meant: &Meant, why: String) -> Unusable {
    Unusable::Silent(meant.clone(), why)
}

fn unavailable(engine: Unusable) -> Error {
    Error::Unavailable(engine.to_string())
}

async fn attended<T>(meant: &Meant, requests: impl Future<Output = T>) -> Result<T, Unusable> {
    let ticks = OwnTicks::default();
    tokio::select! {
        biased;
        answer = requests => Ok(answer),
        why = until_silent(meant, &ticks) => Err(why),
    }
}

async fn until_silent(meant: &Meant, ticks: &OwnTicks) -> Unusable {
    loop {
        tokio::time::sleep(PING).await;
        let mut why = String::new();
        let answered = async {
            loop {
                match http::get(&meant.endpoint, "/_ping").await {
                    Ok(answer) if answer.status == 200 => return,
                    Ok(answer) => why = format!("it answers a ping with {}", answer.status),
                    Err(Silence::Io(error)) => why = plainly(&error),
                    Err(Silence::Tls) => why = "it speaks TLS now".into(),
                    Err(Silence::NoHttp(text)) if text.is_empty() => why = HANGS_UP.into(),
                    Err(Silence::NoHttp(text)) => why = format!("it answers a ping with {text:?}"),
                }
                tokio::time::sleep(PING / 4).await;
            }
        };
        if ticks.timeout(SILENCE, answered).await.is_none() {
            let why = if why.is_empty() { format!("no answer within {SILENCE:?}") } else { why };
            return Unusable::FellSilent(meant.clone(), why);
        }
    }
}

fn plainly(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such socket".into(),
        io::ErrorKind::ConnectionRefused => "nobody listens there".into(),
        io::ErrorKind::TimedOut => "it did not answer in time".into(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => HANGS_UP.into(),
        io::ErrorKind::WouldBlock => "it takes no connection".into(),
        _ => error.to_string(),
    }
}

/// The engine's words, or what the library's error comes from.
pub fn explain(error: &bollard::errors::Error) -> String {
    match error {
        bollard::errors::Error::DockerResponseServerError { message, .. } => message.trim().to_string(),
        other => {
            let mut innermost: &dyn std::error::Error = other;
            while let Some(source) = innermost.source() {
                innermost = source;
            }
            innermost.downcast_ref().map_or_else(|| innermost.to_string(), plainly)
        }
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_version_that_both_know_is_spoken() {
        let spoken = |theirs: Value| agreed(&theirs).to_string();
        assert_eq!(spoken(json!("1.41")), "1.41");
        assert_eq!(spoken(json!("1.9")), "1.9");
        assert_eq!(spoken(json!("1.999")), API_DEFAULT_VERSION.to_string());
        assert_eq!(spoken(json!("2.0")), API_DEFAULT_VERSION.to_string());
        for odd in [json!(null), json!(1.41), json!("x"), json!("1.x")] {
            assert_eq!(spoken(odd), "1.41");
        }
    }

    #[test]
    fn containers_in_states_of_their_own_are_read_all_the_same() {
        let said = json!([{ "Id": "a", "Names": ["/n"], "State": "configured", "Labels": { "x": "1" } }, { "Id": "b" }]);
        let containers: Vec<Container> = serde_json::from_value(said).unwrap();
        assert!(containers[0].has("x") && containers[0].has("x=1") && !containers[0].has("x=2"));
        assert!(!containers[1].has("x"));
    }
}
