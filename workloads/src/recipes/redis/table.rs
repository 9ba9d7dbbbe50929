use super::{redlock::Redlock, sentinel::SentinelLock, set_nx::SetNx};
use crate::{
    recipes::{CLIENTS, Instance, Primitive, RecipeInfo, SettingInfo},
    workload::{Rates, Workload},
};

/// A minute, milliseconds.
const MS_MAX: u64 = 60_000;

/// Of the recipes that try again and again.
pub(in crate::recipes) const RETRY: SettingInfo = SettingInfo {
    name: "retry_ms",
    default: 20,
    least: 1,
    most: MS_MAX,
    about: "mean pause between two tries, milliseconds",
};

/// Of Redlock, as its client libraries have it: redlock-rb and node-redlock wait for 200 ms.
const RETRY_REDLOCK: SettingInfo = SettingInfo { default: 200, ..RETRY };

/// Of Sentinel's servers, one of which is the primary; how many there are in a run is known elsewhere, and fewer.
const REPLICAS_MAX: u64 = 100;

/// Fields that most recipes here share.
const BASE: RecipeInfo = RecipeInfo {
    name: "",
    system: "redis",
    primitive: Primitive::Lock,
    workload: Workload::Lock,
    has_token: false,
    has_ttl: true,
    aware: false,
    source: "redis.io, SET command: \"Patterns\"",
    summary: "",
    broken: None,
    breaks: None,
    checks_then_sets: false,
    clients: CLIENTS,
    rates: Rates::DEFAULT,
    settings: &[RETRY],
    build: |context| Instance::Lock(Box::new(SetNx::new(context, false, false))),
};

const LEASE: RecipeInfo = RecipeInfo { primitive: Primitive::Lease, workload: Workload::Lease, ..BASE };

const REDLOCK: RecipeInfo = RecipeInfo {
    system: "redis-independent",
    aware: true,
    source: "redis.io, \"Distributed Locks with Redis\"",
    settings: &[
        RETRY_REDLOCK,
        SettingInfo {
            name: "node_limit_ms",
            default: 0,
            least: 0,
            most: MS_MAX,
            about: "limit of a call to one server, milliseconds; 0: a twentieth of the TTL",
        },
        SettingInfo {
            name: "drift_percent",
            default: 1,
            least: 0,
            // Of the shortest TTL there must be something left.
            most: 90,
            about: "drift allowed for, percent of the TTL",
        },
    ],
    build: |context| Instance::Lock(Box::new(Redlock::new(context, true))),
    ..BASE
};

const SENTINEL: RecipeInfo = RecipeInfo {
    system: "redis-sentinel",
    has_token: true,
    source: "redis.io, SET command: \"Patterns\"; \"Sentinel client spec\"; WAIT command",
    settings: &[
        RETRY,
        SettingInfo {
            name: "wait_replicas",
            default: 0,
            least: 0,
            most: REPLICAS_MAX,
            about: "replicas that must have a lock before it counts as granted (WAIT); 0: it counts at once",
        },
        SettingInfo {
            name: "wait_ms",
            default: 100,
            least: 1,
            most: MS_MAX,
            about: "how long they may take, milliseconds, and at most half of a call's limit (call_limit_ms)",
        },
    ],
    build: |context| Instance::Lock(Box::new(SentinelLock::new(context))),
    ..BASE
};

/// Every recipe on Redis.
pub(in crate::recipes) const RECIPES: &[RecipeInfo] = &[
    RecipeInfo {
        name: "redis/set-nx",
        summary: "SET NX PX with a unique value, released by a compare-and-delete script; the client never looks at its clock",
        ..BASE
    },
    RecipeInfo {
        name: "redis/set-nx-fenced",
        has_token: true,
        summary: "redis/set-nx with a fencing token from INCR in the same script",
        build: |context| Instance::Lock(Box::new(SetNx::new(context, true, false))),
        ..BASE
    },
    RecipeInfo {
        name: "redis/set-nx-lease",
        aware: true,
        summary: "redis/set-nx, renewed at two thirds of the TTL; the client stops at its deadline",
        build: |context| Instance::Lock(Box::new(SetNx::new(context, false, true))),
        ..LEASE
    },
    RecipeInfo {
        name: "redis/set-nx-lease-unaware",
        summary: "redis/set-nx, renewed at two thirds of the TTL; the client never looks at its clock",
        ..LEASE
    },
    RecipeInfo {
        name: "redis/set-nx-fenced-lease",
        has_token: true,
        aware: true,
        summary: "redis/set-nx-fenced, renewed at two thirds of the TTL; the client stops at its deadline",
        build: |context| Instance::Lock(Box::new(SetNx::new(context, true, true))),
        ..LEASE
    },
    RecipeInfo {
        name: "redis/set-nx-fenced-lease-unaware",
        has_token: true,
        summary: "redis/set-nx-fenced, renewed at two thirds of the TTL; the client never looks at its clock",
        build: |context| Instance::Lock(Box::new(SetNx::new(context, true, false))),
        ..LEASE
    },
    RecipeInfo {
        name: "redis/redlock",
        summary: "redis/set-nx on a majority of independent servers, valid for the TTL less the time it took and the drift",
        ..REDLOCK
    },
    RecipeInfo {
        name: "redis/redlock-lease",
        primitive: Primitive::Lease,
        workload: Workload::Lease,
        summary: "redis/redlock, extended on a majority at two thirds of the TTL; the client stops at its deadline",
        ..REDLOCK
    },
    RecipeInfo {
        name: "redis/redlock-lease-unaware",
        primitive: Primitive::Lease,
        workload: Workload::Lease,
        aware: false,
        summary: "redis/redlock, extended on a majority at two thirds of the TTL; the client never looks at its clock",
        build: |context| Instance::Lock(Box::new(Redlock::new(context, false))),
        ..REDLOCK
    },
    RecipeInfo {
        name: "redis/sentinel",
        summary: "redis/set-nx-fenced on the primary that the sentinels name, asked for anew when the connection is lost; with wait_replicas, given up unless so many replicas have it",
        ..SENTINEL
    },
    RecipeInfo {
        name: "redis/election",
        primitive: Primitive::Election,
        workload: Workload::Election,
        has_token: true,
        aware: true,
        summary: "the leader holds a key with a TTL and renews it; its term comes from INCR in the same script",
        build: |context| Instance::Election(Box::new(SetNx::new(context, true, true))),
        ..BASE
    },
];
