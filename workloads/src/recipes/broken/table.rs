use super::token::{Source, WithToken};
use crate::{
    recipes::{
        Instance, Primitive, RecipeInfo, SettingInfo,
        etcd::{self, LeaseLock},
        redis::{self, SetNx},
        zookeeper::{self, QueueLock},
    },
    workload::Workload,
};

const BASE: RecipeInfo = RecipeInfo {
    name: "",
    system: "redis",
    primitive: Primitive::Lock,
    workload: Workload::Lock,
    has_token: false,
    has_ttl: true,
    aware: false,
    source: "a handbook's chapter on consensus and coordination",
    summary: "",
    broken: Some(""),
    settings: &[],
    build: |context| Instance::Lock(Box::new(SetNx::new(context, false, false))),
};

const REDIS_SETTINGS: &[SettingInfo] = &[redis::RETRY];

/// Every recipe that is here to be found broken.
pub(in crate::recipes) const RECIPES: &[RecipeInfo] = &[
    RecipeInfo {
        name: "redis/release-without-compare",
        summary: "redis/set-nx, released by a plain DEL",
        broken: Some("a holder that was too slow deletes its successor's lock"),
        settings: REDIS_SETTINGS,
        build: |context| {
            let lock = SetNx::new(context, false, false);
            Instance::Lock(Box::new(lock.with(redis::Flaw::ReleaseWithoutCompare)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "redis/client-counter-token",
        has_token: true,
        summary: "redis/set-nx with a fencing token counted in the client",
        broken: Some("each client counts for itself: tokens repeat and go back"),
        settings: REDIS_SETTINGS,
        build: |context| {
            let lock = SetNx::new(context, false, false);
            Instance::Lock(Box::new(WithToken::new(lock, Source::ClientCounter)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "etcd/put-without-compare",
        system: "etcd",
        has_token: true,
        summary: "a lease and a plain put of the lock's key",
        broken: Some("the put succeeds whoever holds the key"),
        build: |context| {
            let lock = LeaseLock::new(context, false);
            Instance::Lock(Box::new(lock.with(etcd::Flaw::PutWithoutCompare)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "etcd/lease-id-token",
        system: "etcd",
        has_token: true,
        summary: "etcd/lease-lock with the lease's number as fencing token",
        broken: Some("lease numbers are in no order"),
        build: |context| {
            Instance::Lock(Box::new(WithToken::new(LeaseLock::new(context, false), Source::LeaseId)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "zookeeper/version-token",
        system: "zookeeper",
        has_token: true,
        summary: "zookeeper/lock with the node's version as fencing token",
        broken: Some("the version of a new node is always 0"),
        build: |context| {
            Instance::Lock(Box::new(WithToken::new(QueueLock::new(context, false), Source::NodeVersion)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "zookeeper/watch-after-read",
        system: "zookeeper",
        has_token: true,
        summary: "zookeeper/lock that does not look whether the node it watches still exists",
        broken: Some(
            "a deletion between the list and the watch is missed: the waiter, and all behind it, are stuck",
        ),
        build: |context| {
            let lock = QueueLock::new(context, false);
            Instance::Lock(Box::new(lock.with(zookeeper::Flaw::WatchAfterRead)))
        },
        ..BASE
    },
];
