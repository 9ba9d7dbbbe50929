use std::{rc::Rc, time::Duration};

use serde_json::{Value, json};

use super::{
    BadConfig, ClientConfig, Control, EventSink, Phase, Workload,
    hold::Hold,
    journal::{Journal, subject},
    resource::Resource,
};
use crate::{
    api::Stores,
    env::Env,
    error::{OpError, OpResult},
    primitive::Grant,
    recipes::{self, BadRecipe, Context, Instance, Primitive, RecipeInfo},
};

/// After this many failed acquires in a row the client tries the next server.
const FAILURES_MAX: u32 = 3;

/// Runs one client until the phase is [`Phase::Stop`]: a loop on the recipe and the protected resource, every event of it to `sink`.
///
/// # Errors
/// The configuration names no recipe, or a recipe that its settings or workload do not fit, or senseless rates.
pub async fn run_client(
    env: Env,
    config: ClientConfig,
    stores: Rc<dyn Stores>,
    sink: Rc<dyn EventSink>,
    control: Control,
) -> Result<(), BadConfig> {
    let mut client = Client::new(env, config, stores, sink, control)?;
    while client.journal.control.phase() < Phase::Stop {
        client.think().await;
        let round = match client.config.workload {
            Workload::Lock => client.lock_round().await,
            Workload::Lease => client.lease_round().await,
            Workload::Election => client.election_round().await,
        };
        let reconnect = round.is_err() || !client.instance.usable() || client.failures >= FAILURES_MAX;
        if reconnect && client.journal.control.phase() < Phase::Stop {
            client.go_to_next_server()?;
        }
    }
    Ok(())
}

/// One client's state between operations.
pub(super) struct Client {
    pub(super) env: Env,
    pub(super) config: ClientConfig,
    pub(super) info: &'static RecipeInfo,
    pub(super) journal: Journal,
    pub(super) instance: Instance,
    pub(super) resource: Resource,
    pub(super) writes: u64,
    stores: Rc<dyn Stores>,
    server: usize,
    failures: u32,
}

impl Client {
    fn new(
        env: Env,
        config: ClientConfig,
        stores: Rc<dyn Stores>,
        sink: Rc<dyn EventSink>,
        control: Control,
    ) -> Result<Client, BadConfig> {
        config.rates.check()?;
        let info = recipes::find(&config.recipe)?;
        if (info.primitive == Primitive::Election) != (config.workload == Workload::Election) {
            let workload = config.workload.name();
            return Err(BadRecipe::Workload { recipe: info.name, workload }.into());
        }
        let server = config.first_process as usize / config.clients.max(1) as usize + config.client as usize;
        let instance = instance(&env, &config, &stores, info, server)?;
        let journal = Journal {
            env: env.clone(),
            control,
            sink,
            node: config.node.clone(),
            process: config.first_process,
            clients: config.clients,
            stop_limit: config.stop_limit(),
        };
        let resource = Resource::new(stores.clone(), &config);
        Ok(Client { env, config, info, journal, instance, resource, writes: 0, stores, server, failures: 0 })
    }

    /// Explicitly gives up every connection, and goes on with the next server.
    fn go_to_next_server(&mut self) -> Result<(), BadRecipe> {
        self.server += 1;
        self.failures = 0;
        self.instance = instance(&self.env, &self.config, &self.stores, self.info, self.server)?;
        self.resource = Resource::new(self.stores.clone(), &self.config);
        Ok(())
    }

    async fn think(&mut self) {
        let pause = self.draw_ms(self.config.rates.think_ms);
        tokio::select! {
            biased;
            () = self.journal.control.reached(Phase::Stop) => {}
            () = self.env.sleep(pause) => {}
        }
    }

    /// One of the locks, by chance.
    pub(super) fn pick(&self) -> String {
        let locks = self.config.locks();
        locks[(self.env.random() % locks.len() as u64) as usize].clone()
    }

    pub(super) fn draw_ms(&self, (from, to): (u64, u64)) -> Duration {
        self.env.random_between(Duration::from_millis(from), Duration::from_millis(to))
    }

    /// A share of the TTL.
    pub(super) fn draw_percent(&self, (from, to): (u64, u64)) -> Duration {
        let share = |percent: u64| self.config.ttl() * percent as u32 / 100;
        self.env.random_between(share(from), share(to))
    }

    /// Acquires or campaigns; `None` if that certainly failed.
    pub(super) async fn acquire(&mut self, f: &str, lock: &str) -> OpResult<Option<Hold>> {
        let wait = self.draw_percent(self.config.rates.wait_percent);
        let operation = self.instance.acquire(lock, wait);
        let outcome = self.journal.run(f, subject(lock, None), operation, describe).await;
        let granted = Client::settled(outcome)?;
        self.failures = if granted.is_some() { 0 } else { self.failures + 1 };
        Ok(granted.map(|grant| Hold { lock: lock.to_string(), grant, lost: self.instance.lost() }))
    }

    /// Renews; `None` if the service says that the grant is lost.
    pub(super) async fn renew(&mut self, hold: &Hold) -> OpResult<Option<Grant>> {
        let operation = hold.until_deadline(&self.env, self.instance.renew(&hold.lock));
        let value = subject(&hold.lock, hold.grant.token);
        Client::settled(self.journal.run("renew", value, operation, describe).await)
    }

    /// Releases or resigns.
    pub(super) async fn release(&mut self, f: &str, hold: &Hold) -> OpResult<()> {
        let operation = self.instance.release(&hold.lock);
        let value = subject(&hold.lock, hold.grant.token);
        Client::settled(self.journal.run(f, value, operation, |()| json!({})).await)?;
        Ok(())
    }

    /// A definite failure is settled: nothing happened, the client goes on. An indeterminate one ends the round.
    pub(super) fn settled<T>(outcome: OpResult<T>) -> OpResult<Option<T>> {
        match outcome {
            Ok(result) => Ok(Some(result)),
            Err(OpError::Definite(_)) => Ok(None),
            Err(indeterminate) => Err(indeterminate),
        }
    }
}

fn instance(
    env: &Env,
    config: &ClientConfig,
    stores: &Rc<dyn Stores>,
    info: &'static RecipeInfo,
    server: usize,
) -> Result<Instance, BadRecipe> {
    let mut endpoints = config.endpoints.clone();
    if !endpoints.is_empty() {
        let first = server % endpoints.len();
        endpoints.rotate_left(first);
    }
    let context = Context {
        env: env.clone(),
        stores: stores.clone(),
        endpoints,
        ttl: config.ttl(),
        limit: config.call_limit(),
        owner: config.node.clone(),
        settings: Default::default(),
    };
    recipes::open(info, &config.settings, context)
}

/// The fields of a grant that the recipe has.
fn describe(grant: &Grant) -> Value {
    let mut fields = serde_json::Map::new();
    let mut put = |name: &str, value: Option<Value>| value.map(|value| fields.insert(name.into(), value));
    put("token", grant.token.map(Value::from));
    put("ttl_ms", grant.ttl.map(|ttl| Value::from(ttl.as_millis() as u64)));
    put("asked_ns", grant.asked.map(Value::from));
    put("deadline_ns", grant.deadline.map(Value::from));
    put("lease", grant.lease.clone().map(Value::from));
    Value::Object(fields)
}
