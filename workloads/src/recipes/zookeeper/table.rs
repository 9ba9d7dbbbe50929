use super::{promises, queue_lock::QueueLock};
use crate::{
    rates::Rates,
    recipes::{CLIENTS, Instance, Primitive, RecipeInfo},
};

/// The session is pinged by its connection; how long it certainly lives is asked for anew at two thirds.
pub(in crate::recipes) const KEEPALIVE_PERCENT: u64 = 67;

pub(in crate::recipes) const UNTIL: &str = "while its session lives, whatever wall clocks say";

/// Fields that the recipes here share.
const BASE: RecipeInfo = RecipeInfo {
    name: "",
    system: "zookeeper",
    primitive: Primitive::Lock,
    has_token: true,
    has_ttl: true,
    aware: false,
    keepalive_percent: Some(KEEPALIVE_PERCENT),
    source: "zookeeper.apache.org, \"Recipes and Solutions: Locks, Leader Election\"",
    summary: "",
    broken: None,
    breaks: None,
    checks_then_sets: false,
    clients: CLIENTS,
    rates: Rates::DEFAULT,
    settings: &[],
    until: UNTIL,
    gaps: promises::gaps,
    build: |context| Instance::Lock(Box::new(QueueLock::new(context))),
};

const LEASE: RecipeInfo = RecipeInfo { primitive: Primitive::Lease, ..BASE };

const LOCK: RecipeInfo = RecipeInfo {
    name: "zookeeper/lock",
    summary: "ephemeral sequential nodes, each watches the one before it; survives a lost create reply; token = czxid; the client looks at no clock and hears nothing of its session",
    ..BASE
};

const LOCK_LEASE: RecipeInfo = RecipeInfo {
    name: "zookeeper/lock-lease",
    summary: "zookeeper/lock, its session's life confirmed at two thirds of the TTL; the client never looks at its clock",
    ..LEASE
};

const ELECTION: RecipeInfo = RecipeInfo {
    name: "zookeeper/election",
    primitive: Primitive::Election,
    summary: "the first of the ephemeral sequential nodes leads, each watches the one before it; term = czxid; the leader looks at no clock",
    build: |context| Instance::Election(Box::new(QueueLock::new(context))),
    ..BASE
};

/// Every recipe on ZooKeeper.
pub(in crate::recipes) const RECIPES: &[RecipeInfo] = &[
    LOCK,
    LOCK.aware("zookeeper/lock-aware", "zookeeper/lock whose client hears of its session's end, looks at its clock before each write, and stops at the deadline"),
    LOCK_LEASE,
    LOCK_LEASE.aware("zookeeper/lock-lease-aware", "zookeeper/lock-aware, its session's life confirmed at two thirds of the TTL; the client stops at its deadline"),
    ELECTION,
    ELECTION.aware("zookeeper/election-aware", "zookeeper/election whose leader hears of its session's end, and steps down at its deadline"),
];
