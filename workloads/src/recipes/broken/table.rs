use super::{
    promises,
    token::{Source, WithToken},
};
use crate::{
    rates::Rates,
    recipes::{
        CLIENTS, Instance, Primitive, RecipeInfo, SettingInfo,
        etcd::{self, LeaseLock},
        redis::{self, SetNx},
        zookeeper::{self, QueueLock},
    },
};

const BASE: RecipeInfo = RecipeInfo {
    name: "",
    system: "redis",
    primitive: Primitive::Lock,
    has_token: false,
    has_ttl: true,
    aware: false,
    keepalive_percent: None,
    source: "a handbook's chapter on consensus and coordination",
    summary: "",
    broken: Some(""),
    breaks: None,
    checks_then_sets: false,
    clients: CLIENTS,
    rates: Rates::DEFAULT,
    settings: &[],
    until: redis::UNTIL,
    gaps: promises::gaps,
    build: |context| Instance::Lock(Box::new(SetNx::new(context, false))),
};

const REDIS_SETTINGS: &[SettingInfo] = &[redis::RETRY];

/// As published, the lock is waited for without a limit: a waiter that gave up would free those behind it.
/// With two clients each waits for the holder itself, whose node goes while it is being looked for.
const PATIENT: Rates = Rates { wait_percent: (2000, 2000), stop_limit_ms: 3000, ..Rates::DEFAULT };

/// Every recipe that is here to be found broken.
pub(in crate::recipes) const RECIPES: &[RecipeInfo] = &[
    RecipeInfo {
        name: "redis/release-without-compare",
        summary: "redis/set-nx, released by a plain DEL",
        broken: Some("a holder that was too slow deletes its successor's lock"),
        breaks: Some("promise"),
        settings: REDIS_SETTINGS,
        build: |context| {
            let lock = SetNx::new(context, false);
            Instance::Lock(Box::new(lock.with(redis::Flaw::ReleaseWithoutCompare)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "redis/client-counter-token",
        has_token: true,
        summary: "redis/set-nx with a fencing token counted in the client",
        broken: Some("each client counts for itself: tokens repeat and go back"),
        breaks: Some("token"),
        settings: REDIS_SETTINGS,
        build: |context| {
            let lock = SetNx::new(context, false);
            Instance::Lock(Box::new(WithToken::new(lock, Source::ClientCounter)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "redis/check-then-set",
        has_token: true,
        summary: "redis/set-nx-fenced before a store that compares the token when it is read, and then takes the write",
        broken: Some(
            "a newer holder's write can come between the check and the set: the stale write lands after it",
        ),
        breaks: Some("fencing"),
        checks_then_sets: true,
        settings: REDIS_SETTINGS,
        build: |context| Instance::Lock(Box::new(SetNx::new(context, true))),
        ..BASE
    },
    RecipeInfo {
        name: "etcd/put-without-compare",
        system: "etcd",
        until: etcd::UNTIL,
        keepalive_percent: Some(etcd::KEEPALIVE_PERCENT),
        has_token: true,
        summary: "a lease and a plain put of the lock's key",
        broken: Some("the put succeeds whoever holds the key"),
        breaks: Some("exclusion"),
        build: |context| {
            let lock = LeaseLock::new(context);
            Instance::Lock(Box::new(lock.with(etcd::Flaw::PutWithoutCompare)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "etcd/lease-id-token",
        system: "etcd",
        until: etcd::UNTIL,
        keepalive_percent: Some(etcd::KEEPALIVE_PERCENT),
        has_token: true,
        summary: "etcd/lease-lock with the lease's number as fencing token",
        broken: Some("lease numbers are in no order"),
        breaks: Some("token"),
        build: |context| Instance::Lock(Box::new(WithToken::new(LeaseLock::new(context), Source::LeaseId))),
        ..BASE
    },
    RecipeInfo {
        name: "zookeeper/version-token",
        system: "zookeeper",
        until: zookeeper::UNTIL,
        keepalive_percent: Some(zookeeper::KEEPALIVE_PERCENT),
        has_token: true,
        summary: "zookeeper/lock with the node's version as fencing token",
        broken: Some("the version of a new node is always 0"),
        breaks: Some("token"),
        build: |context| {
            Instance::Lock(Box::new(WithToken::new(QueueLock::new(context), Source::NodeVersion)))
        },
        ..BASE
    },
    RecipeInfo {
        name: "zookeeper/watch-after-read",
        system: "zookeeper",
        until: zookeeper::UNTIL,
        keepalive_percent: Some(zookeeper::KEEPALIVE_PERCENT),
        has_token: true,
        summary: "zookeeper/lock that does not look whether the node it watches still exists",
        broken: Some(
            "a deletion between the list and the watch is missed: the waiter, and all behind it, are stuck",
        ),
        breaks: Some("liveness"),
        clients: 2,
        rates: PATIENT,
        build: |context| {
            let lock = QueueLock::new(context);
            Instance::Lock(Box::new(lock.with(zookeeper::Flaw::WatchAfterRead)))
        },
        ..BASE
    },
];
