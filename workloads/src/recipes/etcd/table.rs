use super::{lease_lock::LeaseLock, server_lock::ServerLock};
use crate::{
    recipes::{CLIENTS, Instance, Primitive, RecipeInfo},
    workload::{Rates, Workload},
};

/// Fields that most recipes here share.
const BASE: RecipeInfo = RecipeInfo {
    name: "",
    system: "etcd",
    primitive: Primitive::Lock,
    workload: Workload::Lock,
    has_token: true,
    has_ttl: true,
    aware: true,
    source: "etcd.io, \"Lock\" and \"Lease\" of the v3 API; the usual lease-based leader election",
    summary: "",
    broken: None,
    breaks: None,
    checks_then_sets: false,
    clients: CLIENTS,
    rates: Rates::DEFAULT,
    settings: &[],
    build: |context| Instance::Lock(Box::new(LeaseLock::new(context, true))),
};

const LEASE: RecipeInfo = RecipeInfo { primitive: Primitive::Lease, workload: Workload::Lease, ..BASE };
const ELECTION: RecipeInfo =
    RecipeInfo { primitive: Primitive::Election, workload: Workload::Election, ..BASE };

/// Every recipe on etcd.
pub(in crate::recipes) const RECIPES: &[RecipeInfo] = &[
    RecipeInfo {
        name: "etcd/lease-lock",
        summary: "create the key if absent, on a lease; watch from the revision seen; token = create revision",
        ..BASE
    },
    RecipeInfo {
        name: "etcd/lease-lock-lease",
        summary: "etcd/lease-lock, its lease renewed at two thirds of the TTL; the client stops at its deadline",
        ..LEASE
    },
    RecipeInfo {
        name: "etcd/lease-lock-lease-unaware",
        aware: false,
        summary: "etcd/lease-lock, its lease renewed at two thirds of the TTL; the client never looks at its clock",
        build: |context| Instance::Lock(Box::new(LeaseLock::new(context, false))),
        ..LEASE
    },
    RecipeInfo {
        name: "etcd/lock-rpc",
        summary: "the server's lock service with a lease of ours; token = the key's create revision, read back",
        source: "etcd.io, v3lock API",
        build: |context| Instance::Lock(Box::new(ServerLock::new(context, true))),
        ..BASE
    },
    RecipeInfo {
        name: "etcd/lock-rpc-lease",
        summary: "etcd/lock-rpc, its lease renewed at two thirds of the TTL; the client stops at its deadline",
        source: "etcd.io, v3lock API",
        build: |context| Instance::Lock(Box::new(ServerLock::new(context, true))),
        ..LEASE
    },
    RecipeInfo {
        name: "etcd/lock-rpc-lease-unaware",
        aware: false,
        summary: "etcd/lock-rpc, its lease renewed at two thirds of the TTL; the client never looks at its clock",
        source: "etcd.io, v3lock API",
        build: |context| Instance::Lock(Box::new(ServerLock::new(context, false))),
        ..LEASE
    },
    RecipeInfo {
        name: "etcd/election",
        summary: "the leader's key is created if absent, on a lease that it renews; the others watch it; term = create revision",
        build: |context| Instance::Election(Box::new(LeaseLock::new(context, true))),
        ..ELECTION
    },
    RecipeInfo {
        name: "etcd/campaign-rpc",
        summary: "the server's election service with a lease of ours; term = the leader key's create revision",
        source: "etcd.io, v3election API",
        build: |context| Instance::Election(Box::new(ServerLock::new(context, true))),
        ..ELECTION
    },
];
