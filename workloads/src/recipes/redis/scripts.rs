//! The recipes' scripts, each in Lua for a server and in Rust for a model.

use std::time::Duration;

use crate::api::redis::{Keys, Script, Value};

/// KEYS: lock. ARGV: our value. Deletes the lock if it is ours: how many were deleted.
pub(super) static RELEASE: Script = Script {
    name: "compare-and-delete",
    lua: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
    rust: |store, keys, args| {
        let ours = is_ours(store, keys, args);
        Value::Integer((ours && store.del(keys[0])).into())
    },
};

/// KEYS: lock. ARGV: our value, TTL in milliseconds. Sets the lock's expiry anew if it is ours: 1, else 0.
pub(super) static RENEW: Script = Script {
    name: "compare-and-expire",
    lua: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end",
    rust: |store, keys, args| {
        let ours = is_ours(store, keys, args);
        Value::Integer((ours && store.pexpire(keys[0], millis(args[1]))).into())
    },
};

/// KEYS: lock, token. ARGV: our value, TTL in milliseconds. Sets the lock if it is free: the next token, else nil.
pub(super) static ACQUIRE_FENCED: Script = Script {
    name: "acquire-and-count",
    lua: "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('incr', KEYS[2]) else return false end",
    rust: |store, keys, args| match store.set_nx(keys[0], args[0], millis(args[1])) {
        true => Value::Integer(store.incr(keys[1])),
        false => Value::Nil,
    },
};

/// KEYS: lock, token. The holder's value and its token as text, or nil.
pub(super) static OBSERVE: Script = Script {
    name: "observe",
    lua: "local value = redis.call('get', KEYS[1]) if value then return {value, redis.call('get', KEYS[2])} else return false end",
    rust: |store, keys, _| {
        let mut text = |key| store.get(key).map(|text| Value::Text(text.to_owned()));
        match text(keys[0]) {
            None => Value::Nil,
            Some(value) => Value::Array(vec![value, text(keys[1]).unwrap_or(Value::Nil)]),
        }
    },
};

fn is_ours(store: &mut dyn Keys, keys: &[&str], args: &[&str]) -> bool {
    store.get(keys[0]) == Some(args[0])
}

/// Arguments come from the recipes, which write whole milliseconds.
fn millis(text: &str) -> Duration {
    Duration::from_millis(text.parse().unwrap_or_default())
}
