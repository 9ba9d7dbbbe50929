//! Redis over RESP2, one request at a time.

pub mod errors;
mod resp;
mod sentinel;

pub(super) use sentinel::SentinelClient;

use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::connect::{InTurn, connect};
use crate::{
    api::{
        Endpoint, RedisApi,
        redis::{Role, Script, Value},
    },
    env::Env,
    error::{OpError, OpResult},
};

/// A connection to one server.
pub(super) struct RedisClient {
    connection: InTurn,
}

impl RedisClient {
    pub(super) async fn open(env: &Env, to: &Endpoint, limit: Duration) -> OpResult<RedisClient> {
        let stream = connect(env, to, limit).await?;
        Ok(RedisClient { connection: InTurn::new(env, to, limit, stream) })
    }

    async fn call(&self, command: &[&str]) -> OpResult<Value> {
        let request = resp::encode(command);
        let reply = self.connection.call(async |mut stream| {
            stream.write_all(&request).await?;
            let mut received = Vec::new();
            loop {
                if let Some(reply) = resp::decode(&received)? {
                    return Ok((reply, stream));
                }
                if stream.read_buf(&mut received).await? == 0 {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
            }
        });
        reply.await?.map_err(|message| errors::classify(&message))
    }
}

fn unexpected<T>(command: &str, value: Value) -> OpResult<T> {
    Err(OpError::Indeterminate(format!("unexpected answer to {command}: {value:?}")))
}

fn millis(ttl: Duration) -> String {
    ttl.as_millis().to_string()
}

#[async_trait(?Send)]
impl RedisApi for RedisClient {
    async fn set_nx_px(&self, key: &str, value: &str, ttl: Duration) -> OpResult<bool> {
        match self.call(&["SET", key, value, "NX", "PX", &millis(ttl)]).await? {
            Value::Text(ok) if ok == "OK" => Ok(true),
            Value::Nil => Ok(false),
            other => unexpected("SET", other),
        }
    }

    async fn get(&self, key: &str) -> OpResult<Option<String>> {
        match self.call(&["GET", key]).await? {
            Value::Text(value) => Ok(Some(value)),
            Value::Nil => Ok(None),
            other => unexpected("GET", other),
        }
    }

    async fn del(&self, key: &str) -> OpResult<bool> {
        match self.call(&["DEL", key]).await? {
            Value::Integer(removed) => Ok(removed > 0),
            other => unexpected("DEL", other),
        }
    }

    async fn pttl(&self, key: &str) -> OpResult<Option<Duration>> {
        match self.call(&["PTTL", key]).await? {
            Value::Integer(left) => Ok(u64::try_from(left).ok().map(Duration::from_millis)),
            other => unexpected("PTTL", other),
        }
    }

    async fn time(&self) -> OpResult<u64> {
        let number = |value: &Value| match value {
            Value::Text(text) => text.parse::<u64>().ok(),
            _ => None,
        };
        match self.call(&["TIME"]).await? {
            Value::Array(parts) => match (parts.first().and_then(number), parts.get(1).and_then(number)) {
                (Some(seconds), Some(micros)) => Ok(seconds * 1_000_000 + micros),
                _ => unexpected("TIME", Value::Array(parts)),
            },
            other => unexpected("TIME", other),
        }
    }

    async fn eval(&self, script: &'static Script, keys: &[&str], args: &[&str]) -> OpResult<Value> {
        let count = keys.len().to_string();
        let command = [&["EVAL", script.lua, count.as_str()], keys, args].concat();
        self.call(&command).await
    }

    async fn wait(&self, replicas: u64, limit: Duration) -> OpResult<u64> {
        // 0 means for ever.
        let limit = millis(limit.max(Duration::from_millis(1)));
        match self.call(&["WAIT", &replicas.to_string(), &limit]).await? {
            Value::Integer(count) => Ok(u64::try_from(count).unwrap_or_default()),
            other => unexpected("WAIT", other),
        }
    }

    async fn role(&self) -> OpResult<Role> {
        let answer = self.call(&["ROLE"]).await?;
        Role::of(&answer).map_or_else(|| unexpected("ROLE", answer), Ok)
    }

    fn usable(&self) -> bool {
        self.connection.usable()
    }
}
