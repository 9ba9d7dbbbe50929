use super::{lease_lock::LeaseLock, promises, server_lock::ServerLock};
use crate::{
    rates::Rates,
    recipes::{CLIENTS, Instance, Primitive, RecipeInfo},
};

/// As `clientv3` and jetcd keep a lease alive: at each third of its time to live.
pub(in crate::recipes) const KEEPALIVE_PERCENT: u64 = 33;

pub(in crate::recipes) const UNTIL: &str = "while its lease lives, whatever wall clocks say";

/// Fields that most recipes here share.
const BASE: RecipeInfo = RecipeInfo {
    name: "",
    system: "etcd",
    primitive: Primitive::Lock,
    has_token: true,
    has_ttl: true,
    aware: false,
    keepalive_percent: Some(KEEPALIVE_PERCENT),
    source: "etcd.io, \"Lock\" and \"Lease\" of the v3 API; the usual lease-based leader election",
    summary: "",
    broken: None,
    breaks: None,
    checks_then_sets: false,
    clients: CLIENTS,
    rates: Rates::DEFAULT,
    settings: &[],
    until: UNTIL,
    gaps: promises::gaps,
    build: |context| Instance::Lock(Box::new(LeaseLock::new(context))),
};

const LEASE: RecipeInfo = RecipeInfo { primitive: Primitive::Lease, ..BASE };
const ELECTION: RecipeInfo = RecipeInfo { primitive: Primitive::Election, ..BASE };

const LEASE_LOCK: RecipeInfo = RecipeInfo {
    name: "etcd/lease-lock",
    summary: "create the key if absent, on a lease; watch from the revision seen; token = create revision; the client never looks at its clock",
    ..BASE
};

const LEASE_LOCK_LEASE: RecipeInfo = RecipeInfo {
    name: "etcd/lease-lock-lease",
    summary: "etcd/lease-lock, its lease renewed at two thirds of the TTL; the client never looks at its clock",
    ..LEASE
};

const LOCK_RPC: RecipeInfo = RecipeInfo {
    name: "etcd/lock-rpc",
    summary: "the server's lock service with a lease of ours, whose ok is believed; token = the key's create revision, if there is a key; the client never looks at its clock",
    source: "etcd.io, v3lock API",
    build: |context| Instance::Lock(Box::new(ServerLock::new(context))),
    ..BASE
};

const LOCK_RPC_LEASE: RecipeInfo = RecipeInfo {
    name: "etcd/lock-rpc-lease",
    primitive: Primitive::Lease,
    summary: "etcd/lock-rpc, its lease renewed at two thirds of the TTL; the client never looks at its clock",
    ..LOCK_RPC
};

const LEASE_ELECTION: RecipeInfo = RecipeInfo {
    name: "etcd/election",
    summary: "the leader's key is created if absent, on a lease that it renews; the others watch it; term = create revision; the leader never looks at its clock",
    build: |context| Instance::Election(Box::new(LeaseLock::new(context))),
    ..ELECTION
};

const CAMPAIGN_RPC: RecipeInfo = RecipeInfo {
    name: "etcd/campaign-rpc",
    summary: "the server's election service with a lease of ours; term = the leader key's create revision; the leader never looks at its clock",
    source: "etcd.io, v3election API",
    build: |context| Instance::Election(Box::new(ServerLock::new(context))),
    ..ELECTION
};

/// Every recipe on etcd.
pub(in crate::recipes) const RECIPES: &[RecipeInfo] = &[
    LEASE_LOCK,
    LEASE_LOCK.aware("etcd/lease-lock-aware", "etcd/lease-lock whose client looks at its clock before each write, and stops at its lease's deadline"),
    LEASE_LOCK_LEASE,
    LEASE_LOCK_LEASE.aware("etcd/lease-lock-lease-aware", "etcd/lease-lock, its lease renewed at two thirds of the TTL; the client stops at its deadline"),
    LOCK_RPC,
    LOCK_RPC.aware("etcd/lock-rpc-aware", "etcd/lock-rpc whose client reads its key back, looks at its clock before each write, and stops at its lease's deadline"),
    LOCK_RPC_LEASE,
    LOCK_RPC_LEASE.aware("etcd/lock-rpc-lease-aware", "etcd/lock-rpc-aware, its lease renewed at two thirds of the TTL; the client stops at its deadline"),
    LEASE_ELECTION,
    LEASE_ELECTION.aware("etcd/election-aware", "etcd/election whose leader looks at its clock before each write, and steps down at its lease's deadline"),
    CAMPAIGN_RPC,
    CAMPAIGN_RPC.aware("etcd/campaign-rpc-aware", "etcd/campaign-rpc whose leader looks at its clock before each write, and steps down at its lease's deadline"),
];
