use super::queue_lock::QueueLock;
use crate::{
    recipes::{CLIENTS, Instance, Primitive, RecipeInfo},
    workload::{Rates, Workload},
};

/// Fields that the recipes here share.
const BASE: RecipeInfo = RecipeInfo {
    name: "",
    system: "zookeeper",
    primitive: Primitive::Lock,
    workload: Workload::Lock,
    has_token: true,
    has_ttl: true,
    aware: true,
    source: "zookeeper.apache.org, \"Recipes and Solutions: Locks, Leader Election\"",
    summary: "",
    broken: None,
    breaks: None,
    checks_then_sets: false,
    clients: CLIENTS,
    rates: Rates::DEFAULT,
    settings: &[],
    build: |context| Instance::Lock(Box::new(QueueLock::new(context, true))),
};

const LEASE: RecipeInfo = RecipeInfo { primitive: Primitive::Lease, workload: Workload::Lease, ..BASE };

/// Every recipe on ZooKeeper.
pub(in crate::recipes) const RECIPES: &[RecipeInfo] = &[
    RecipeInfo {
        name: "zookeeper/lock",
        summary: "ephemeral sequential nodes, each watches the one before it; survives a lost create reply; token = czxid",
        ..BASE
    },
    RecipeInfo {
        name: "zookeeper/lock-lease",
        summary: "zookeeper/lock, its session's life confirmed at two thirds of the TTL; the client stops at its deadline",
        ..LEASE
    },
    RecipeInfo {
        name: "zookeeper/lock-lease-unaware",
        aware: false,
        summary: "zookeeper/lock, its session's life confirmed at two thirds of the TTL; the client never looks at its clock",
        build: |context| Instance::Lock(Box::new(QueueLock::new(context, false))),
        ..LEASE
    },
    RecipeInfo {
        name: "zookeeper/election",
        primitive: Primitive::Election,
        workload: Workload::Election,
        summary: "the first of the ephemeral sequential nodes leads, each watches the one before it; term = czxid",
        build: |context| Instance::Election(Box::new(QueueLock::new(context, true))),
        ..BASE
    },
];
