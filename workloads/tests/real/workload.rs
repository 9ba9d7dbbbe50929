use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::Duration,
};

use history::{Event, EventKind, ResourceEntry, ResourceOp};
use tokio::net::TcpListener;
use workloads::{
    api::Endpoint,
    env::Env,
    resource,
    workload::{ClientConfig, Control, Kept, Phase, Rates, Workload, run_client},
};

use crate::support::{eventually, on_node, stores};

pub const CLIENTS: u32 = 5;

/// Clients at work, as those see them who stop and kill their servers.
pub struct Running<'a> {
    env: &'a Env,
    events: &'a Kept,
}

impl Running<'_> {
    pub async fn sleep(&self, how_long: Duration) {
        self.env.sleep(how_long).await;
    }

    /// Waits until the events so far show it: how soon that is depends on the machine.
    pub async fn until(&self, what: &str, shown: impl Fn(&[Event]) -> bool) {
        eventually(self.env, what, async || shown(&self.events.events())).await;
    }
}

/// Runs five clients for a while without faults: their events and the resource's log.
pub fn run(
    recipe: &str,
    workload: Workload,
    endpoints: &[Endpoint],
    ttl_ms: u64,
    run: Duration,
) -> (Vec<Event>, Vec<ResourceEntry>) {
    run_with(recipe, workload, endpoints, ttl_ms, async |running| running.sleep(run).await)
}

/// Runs five clients as long as `faults` takes, then for one TTL in the phase of liveness.
pub fn run_with(
    recipe: &str,
    workload: Workload,
    endpoints: &[Endpoint],
    ttl_ms: u64,
    faults: impl AsyncFnOnce(Running<'_>),
) -> (Vec<Event>, Vec<ResourceEntry>) {
    let sink = Rc::new(Kept::default());
    let entries = Rc::new(RefCell::new(Vec::new()));
    on_node(async |env| {
        let resource = serve(&env, entries.clone()).await;
        let control = Control::default();
        let clients = (0..CLIENTS).map(|client| {
            let config = ClientConfig {
                client,
                clients: CLIENTS,
                first_process: client,
                node: format!("c{}", client + 1),
                recipe: recipe.into(),
                workload,
                ttl_ms,
                settings: BTreeMap::new(),
                endpoints: endpoints.to_vec(),
                resource: resource.clone(),
                rates: Rates::default(),
            };
            run_client(env.clone(), config, stores(&env), sink.clone(), control.clone())
        });
        let clients = futures_util::future::join_all(clients.collect::<Vec<_>>());
        let phases = async {
            faults(Running { env: &env, events: &sink }).await;
            control.advance(Phase::Liveness);
            env.sleep(Duration::from_millis(ttl_ms)).await;
            control.advance(Phase::Stop);
        };
        let (ended, ()) = tokio::join!(clients, phases);
        ended.into_iter().for_each(|ended| ended.expect("a good configuration"));
    });
    (sink.events(), entries.borrow().clone())
}

pub async fn serve(env: &Env, entries: Rc<RefCell<Vec<ResourceEntry>>>) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    let log = Rc::new(move |entry: &ResourceEntry| entries.borrow_mut().push(entry.clone()));
    env.spawn(resource::serve(env.clone(), listener, log)).detach();
    Endpoint { node: "resource".into(), addr }
}

/// How many operations of that name ended so.
pub fn count(events: &[Event], f: &str, kind: EventKind) -> usize {
    events.iter().filter(|event| event.f == f && event.kind == kind).count()
}

/// Every invocation has exactly one completion, before the process' next invocation; what a client learns may come
/// beside them.
pub fn assert_well_formed(events: &[Event]) {
    let mut open = BTreeMap::new();
    for event in events {
        let place = (event.process, matches!(event.f.as_str(), "renewed" | "lapse"));
        match event.kind {
            EventKind::Invoke => assert_eq!(open.insert(place, event.f.clone()), None, "{event:?}"),
            _ => assert_eq!(open.remove(&place).as_ref(), Some(&event.f), "{event:?}"),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Without faults no two holds overlap, no update is lost, no outcome is unknown, and no token repeats.
pub fn assert_sound(events: &[Event], entries: &[ResourceEntry]) {
    assert_well_formed(events);
    assert!(
        events.iter().all(|event| event.kind != EventKind::Info),
        "{:?}",
        events.iter().find(|event| event.kind == EventKind::Info)
    );
    let mut holder: BTreeMap<String, history::Process> = BTreeMap::new();
    let mut ordered = events.to_vec();
    ordered.sort_by_key(|event| (event.time, event.kind != EventKind::Invoke));
    let mut tokens = BTreeSet::new();
    for event in &ordered {
        let lock = event.value["lock"].as_str().unwrap().to_string();
        match (event.f.as_str(), event.kind) {
            ("acquire" | "campaign", EventKind::Ok) => {
                assert_eq!(
                    holder.insert(lock.clone(), event.process),
                    None,
                    "two holders of {lock}: {event:?}"
                );
                if let Some(token) = event.value["token"].as_u64() {
                    assert!(tokens.last().is_none_or(|&last| last < token), "{event:?}");
                    tokens.insert(token);
                }
            }
            ("release" | "resign" | "lapse", EventKind::Invoke)
                if holder.get(&lock) == Some(&event.process) =>
            {
                holder.remove(&lock);
            }
            _ => {}
        }
    }
    let mut last = None;
    for write in entries.iter().filter(|entry| entry.op == ResourceOp::Write) {
        assert_eq!(write.unfenced_base, last, "a lost update: {write:?}");
        last = write.id.clone();
    }
}

#[test]
fn redis_set_nx_under_the_lock_workload() {
    let Some(server) = crate::redis::server() else { return };
    let run_for = Duration::from_secs(6);
    let (events, entries) =
        run("redis/set-nx", Workload::Lock, std::slice::from_ref(&server.endpoint), 2000, run_for);
    assert_sound(&events, &entries);
    let grants = count(&events, "acquire", EventKind::Ok);
    eprintln!("{grants} grants in {run_for:?}, {} events", events.len());
    assert!(grants > 20, "{grants} grants");
}

#[test]
fn redis_leases_and_elections() {
    let Some(server) = crate::redis::server() else { return };
    let cases = [
        ("redis/set-nx-fenced-lease-aware", Workload::Lease, "acquire"),
        ("redis/election-aware", Workload::Election, "campaign"),
    ];
    for (recipe, workload, f) in cases {
        let (events, entries) =
            run(recipe, workload, std::slice::from_ref(&server.endpoint), 1000, Duration::from_secs(6));
        assert_sound(&events, &entries);
        assert!(count(&events, f, EventKind::Ok) > 1);
        assert!(count(&events, "renewed", EventKind::Ok) > 1);
        if workload == Workload::Election {
            let seen = |event: &&Event| event.f == "observe" && event.value["leader"].is_string();
            assert!(events.iter().any(|event| seen(&event)));
        }
    }
}

#[test]
fn redlock_under_its_workloads() {
    let Some(servers) = (0..5).map(|_| crate::redis::server()).collect::<Option<Vec<_>>>() else { return };
    let endpoints: Vec<_> = servers.iter().map(|server| server.endpoint.clone()).collect();
    for (recipe, workload) in
        [("redis/redlock-aware", Workload::Lock), ("redis/redlock-lease-aware", Workload::Lease)]
    {
        let (events, entries) = run(recipe, workload, &endpoints, 2000, Duration::from_secs(5));
        assert_sound(&events, &entries);
        let grants = count(&events, "acquire", EventKind::Ok);
        eprintln!("{recipe}: {grants} grants, {} events", events.len());
        assert!(grants > if workload == Workload::Lock { 20 } else { 1 }, "{recipe}: {grants} grants");
    }
}
