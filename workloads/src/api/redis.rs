//! Redis: single commands and scripts on one server.

use std::{fmt, time::Duration};

use async_trait::async_trait;

use crate::error::OpResult;

/// What a command or script answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No such thing (Lua's `false`).
    Nil,
    /// A number.
    Integer(i64),
    /// A bulk or status string.
    Text(String),
    /// A list.
    Array(Vec<Value>),
}

impl Value {
    /// The number, if it is one.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

/// What a server is to the others, by its own belief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It takes writes.
    Primary,
    /// It copies a primary and refuses writes.
    Replica,
}

impl Role {
    /// From the answer to `ROLE`, whose first word is `master` or `slave`.
    pub fn of(answer: &Value) -> Option<Role> {
        let Value::Array(parts) = answer else { return None };
        match parts.first()? {
            Value::Text(word) if word == "master" => Some(Role::Primary),
            Value::Text(word) if word == "slave" => Some(Role::Replica),
            _ => None,
        }
    }
}

/// A script in both its languages: real servers run the Lua, a model runs the Rust. They must do the same.
pub struct Script {
    /// Name for messages.
    pub name: &'static str,
    /// Source that `EVAL` takes.
    pub lua: &'static str,
    /// The same on a model's keys, given `KEYS` and `ARGV`.
    pub rust: fn(&mut dyn Keys, &[&str], &[&str]) -> Value,
}

/// The name alone: the function's address differs from one process to the next, and would in recorded messages too.
impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The commands that scripts use, as a model offers them; expired keys are absent.
pub trait Keys {
    /// `GET key`
    fn get(&mut self, key: &str) -> Option<&str>;
    /// `SET key value [PX ttl]`
    fn set(&mut self, key: &str, value: &str, ttl: Option<Duration>);
    /// `SET key value NX PX ttl`: whether it was set.
    fn set_nx(&mut self, key: &str, value: &str, ttl: Duration) -> bool {
        let free = self.get(key).is_none();
        if free {
            self.set(key, value, Some(ttl));
        }
        free
    }
    /// `DEL key`: whether it was there.
    fn del(&mut self, key: &str) -> bool;
    /// `PEXPIRE key ttl`: whether it was there.
    fn pexpire(&mut self, key: &str, ttl: Duration) -> bool;
    /// `INCR key`: the new value.
    fn incr(&mut self, key: &str) -> i64;
}

/// A connection to one Redis server.
#[async_trait(?Send)]
pub trait RedisApi {
    /// `SET key value NX PX ttl`: whether it was set.
    async fn set_nx_px(&self, key: &str, value: &str, ttl: Duration) -> OpResult<bool>;
    /// `GET key`
    async fn get(&self, key: &str) -> OpResult<Option<String>>;
    /// `DEL key`: whether it was there.
    async fn del(&self, key: &str) -> OpResult<bool>;
    /// `PTTL key`: what is left; `None` without key or without expiry.
    async fn pttl(&self, key: &str) -> OpResult<Option<Duration>>;
    /// `TIME`: microseconds since 1970 on the server's wall clock.
    async fn time(&self) -> OpResult<u64>;
    /// `EVAL`, with the whole source, once.
    async fn eval(&self, script: &'static Script, keys: &[&str], args: &[&str]) -> OpResult<Value>;
    /// `WAIT replicas limit`: how many replicas have taken all that this connection wrote, once they are `replicas` or
    /// the limit is over. Give it less than the connection's own limit.
    async fn wait(&self, replicas: u64, limit: Duration) -> OpResult<u64>;
    /// `ROLE`
    async fn role(&self) -> OpResult<Role>;
    /// Whether the connection can still be used.
    fn usable(&self) -> bool;
}

/// A connection to one sentinel.
#[async_trait(?Send)]
pub trait SentinelApi {
    /// `SENTINEL GET-MASTER-ADDR-BY-NAME`: the address of the server that this sentinel takes for the primary, as in
    /// [`Endpoint::addr`](crate::api::Endpoint).
    async fn primary(&self) -> OpResult<String>;
}
