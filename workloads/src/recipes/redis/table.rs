use super::{promises, redlock::Redlock, sentinel::SentinelLock, set_nx::SetNx};
use crate::{
    rates::Rates,
    recipes::{CLIENTS, Instance, Primitive, RecipeInfo, SettingInfo},
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
    counts_replicas: false,
};

/// Of Redlock, as its client libraries have it: redlock-rb and node-redlock wait for 200 ms.
const RETRY_REDLOCK: SettingInfo = SettingInfo { default: 200, ..RETRY };

/// Of Sentinel's servers, one of which is the primary; how many there are in a run is known elsewhere, and fewer.
const REPLICAS_MAX: u64 = 100;

/// Of a lock on one server that is not renewed.
pub(in crate::recipes) const UNTIL: &str = "for the TTL, on the server's wall clock";
const UNTIL_RENEWED: &str = "as long as it renews, on the server's wall clock";

/// Fields that most recipes here share.
const BASE: RecipeInfo = RecipeInfo {
    name: "",
    system: "redis",
    primitive: Primitive::Lock,
    has_token: false,
    has_ttl: true,
    aware: false,
    keepalive_percent: None,
    source: "redis.io, SET command: \"Patterns\"",
    summary: "",
    broken: None,
    breaks: None,
    checks_then_sets: false,
    clients: CLIENTS,
    rates: Rates::DEFAULT,
    settings: &[RETRY],
    until: UNTIL,
    gaps: promises::one_server,
    build: |context| Instance::Lock(Box::new(SetNx::new(context, false))),
};

const LEASE: RecipeInfo = RecipeInfo { primitive: Primitive::Lease, until: UNTIL_RENEWED, ..BASE };

const REDLOCK: RecipeInfo = RecipeInfo {
    system: "redis-independent",
    source: "redis.io, \"Distributed Locks with Redis\"",
    settings: &[
        RETRY_REDLOCK,
        SettingInfo {
            name: "node_limit_ms",
            default: 0,
            least: 0,
            most: MS_MAX,
            about: "limit of a call to one server, milliseconds; 0: a twentieth of the TTL",
            counts_replicas: false,
        },
        SettingInfo {
            name: "drift_percent",
            default: 1,
            least: 0,
            // Of the shortest TTL there must be something left.
            most: 90,
            about: "drift allowed for, percent of the TTL",
            counts_replicas: false,
        },
    ],
    until: "for the TTL, while of the servers that granted it so many keep data and time that the rest is no majority",
    gaps: promises::redlock,
    build: |context| Instance::Lock(Box::new(Redlock::new(context))),
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
            counts_replicas: true,
        },
        SettingInfo {
            name: "wait_ms",
            default: 100,
            least: 1,
            most: MS_MAX,
            about: "how long they may take, milliseconds, and at most half of a call's limit (call_limit_ms)",
            counts_replicas: false,
        },
    ],
    until: "for the TTL, as long as no failover comes between: replication is asynchronous",
    gaps: promises::sentinel,
    build: |context| Instance::Lock(Box::new(SentinelLock::new(context))),
    ..BASE
};

const SET_NX: RecipeInfo = RecipeInfo {
    name: "redis/set-nx",
    summary: "SET NX PX with a unique value, released by a compare-and-delete script; the client never looks at its clock",
    ..BASE
};

const SET_NX_FENCED: RecipeInfo = RecipeInfo {
    name: "redis/set-nx-fenced",
    has_token: true,
    summary: "redis/set-nx with a fencing token from INCR in the same script",
    build: |context| Instance::Lock(Box::new(SetNx::new(context, true))),
    ..BASE
};

const SET_NX_LEASE: RecipeInfo = RecipeInfo {
    name: "redis/set-nx-lease",
    summary: "redis/set-nx, renewed at two thirds of the TTL; the client never looks at its clock",
    ..LEASE
};

const SET_NX_FENCED_LEASE: RecipeInfo = RecipeInfo {
    name: "redis/set-nx-fenced-lease",
    has_token: true,
    summary: "redis/set-nx-fenced, renewed at two thirds of the TTL; the client never looks at its clock",
    build: |context| Instance::Lock(Box::new(SetNx::new(context, true))),
    ..LEASE
};

const REDLOCK_LOCK: RecipeInfo = RecipeInfo {
    name: "redis/redlock",
    summary: "redis/set-nx on a majority of independent servers; as its libraries are used, the client never looks at the validity that it was told",
    ..REDLOCK
};

const REDLOCK_LEASE: RecipeInfo = RecipeInfo {
    name: "redis/redlock-lease",
    primitive: Primitive::Lease,
    until: "as long as it renews, while of the servers that granted it so many keep data and time that the rest is no \
            majority",
    summary: "redis/redlock, extended on a majority at two thirds of the TTL; the client never looks at its clock",
    ..REDLOCK
};

const SENTINEL_LOCK: RecipeInfo = RecipeInfo {
    name: "redis/sentinel",
    summary: "redis/set-nx-fenced on the primary that the sentinels name, asked for anew when the connection is lost; with wait_replicas, given up unless so many replicas have it",
    ..SENTINEL
};

const ELECTION: RecipeInfo = RecipeInfo {
    name: "redis/election",
    primitive: Primitive::Election,
    until: UNTIL_RENEWED,
    has_token: true,
    summary: "the leader holds a key with a TTL and renews it; its term comes from INCR in the same script; it never looks at its clock",
    build: |context| Instance::Election(Box::new(SetNx::new(context, true))),
    ..BASE
};

/// Every recipe on Redis.
pub(in crate::recipes) const RECIPES: &[RecipeInfo] = &[
    SET_NX,
    SET_NX.aware("redis/set-nx-aware", "redis/set-nx whose client looks at its clock before each write, and stops at its deadline"),
    SET_NX_FENCED,
    SET_NX_FENCED.aware("redis/set-nx-fenced-aware", "redis/set-nx-fenced whose client looks at its clock before each write, and stops at its deadline"),
    SET_NX_LEASE,
    SET_NX_LEASE.aware("redis/set-nx-lease-aware", "redis/set-nx, renewed at two thirds of the TTL; the client stops at its deadline"),
    SET_NX_FENCED_LEASE,
    SET_NX_FENCED_LEASE.aware("redis/set-nx-fenced-lease-aware", "redis/set-nx-fenced, renewed at two thirds of the TTL; the client stops at its deadline"),
    REDLOCK_LOCK,
    REDLOCK_LOCK.aware("redis/redlock-aware", "redis/redlock, valid for the TTL less the time it took and the drift: the client looks at its clock before each write"),
    REDLOCK_LEASE,
    REDLOCK_LEASE.aware("redis/redlock-lease-aware", "redis/redlock, extended on a majority at two thirds of the TTL; the client stops at its deadline"),
    SENTINEL_LOCK,
    SENTINEL_LOCK.aware("redis/sentinel-aware", "redis/sentinel whose client looks at its clock before each write, and stops at its deadline"),
    ELECTION,
    ELECTION.aware("redis/election-aware", "redis/election whose leader looks at its clock before each write, and steps down at its deadline"),
];
