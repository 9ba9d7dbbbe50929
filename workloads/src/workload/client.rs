use std::rc::Rc;

use super::{
    BadConfig, ClientConfig, Control, EventSink, Phase, journal::Journal, keepalive::Keepalive,
    resource::Resource, worker::Worker,
};
use crate::{
    api::Stores,
    env::Env,
    recipes::{self, BadRecipe, Context, Instance, RecipeInfo},
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
        let round = client.config.workload.round(&mut client).await;
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
    pub(super) config: Rc<ClientConfig>,
    pub(super) info: &'static RecipeInfo,
    pub(super) journal: Rc<Journal>,
    pub(super) instance: Instance,
    pub(super) worker: Worker,
    pub(super) keepalive: Keepalive,
    stores: Rc<dyn Stores>,
    server: usize,
    pub(super) failures: u32,
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
        if !config.workload.drives(info.primitive) {
            let workload = config.workload.name();
            return Err(BadRecipe::Workload { recipe: info.name, workload }.into());
        }
        let server = config.first_process as usize / config.clients.max(1) as usize + config.client as usize;
        let instance = instance(&env, &config, &stores, info, server)?;
        let config = Rc::new(config);
        let journal = Rc::new(Journal {
            env: env.clone(),
            control,
            sink,
            node: config.node.clone(),
            process: config.first_process.into(),
            clients: config.clients,
            stop_limit: config.stop_limit(),
        });
        let keepalive = Keepalive::new(&env, &config, info, &journal);
        let worker = Worker {
            env: env.clone(),
            config: config.clone(),
            info,
            journal: journal.clone(),
            resource: Resource::new(stores.clone(), &config),
            writes: 0,
        };
        Ok(Client { env, config, info, journal, instance, worker, keepalive, stores, server, failures: 0 })
    }

    /// Explicitly gives up every connection, and goes on with the next server.
    fn go_to_next_server(&mut self) -> Result<(), BadRecipe> {
        self.server += 1;
        self.failures = 0;
        self.instance = instance(&self.env, &self.config, &self.stores, self.info, self.server)?;
        self.worker.resource = Resource::new(self.stores.clone(), &self.config);
        Ok(())
    }

    async fn think(&mut self) {
        let pause = self.worker.draw_ms(self.config.rates.think_ms);
        tokio::select! {
            biased;
            () = self.journal.control.reached(Phase::Stop) => {}
            () = self.env.sleep(pause) => {}
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
        aware: info.aware,
        settings: Default::default(),
    };
    recipes::open(info, &config.settings, context)
}
