//! The client's side of the model.

use std::time::Duration;

use async_trait::async_trait;
use workloads::{
    api::redis::{RedisApi, Script, Value},
    error::{OpError, OpResult},
};

use super::{
    server::{Command, PORT},
    words::Words,
};
use crate::sim::{
    node::{Node, NodeId},
    rpc::Caller,
};

/// A connection to one simulated server.
pub struct RedisClient(Caller<Command, Value>);

impl RedisClient {
    /// Connects from `node`.
    pub async fn open(node: &Node, to: NodeId, limit: Duration) -> OpResult<RedisClient> {
        Caller::open(node, to, PORT, limit).await.map(RedisClient)
    }
}

/// What no server answers to this command.
fn unexpected(answer: &Value) -> OpError {
    OpError::Indeterminate(format!("unexpected answer {answer:?}"))
}

#[async_trait(?Send)]
impl RedisApi for RedisClient {
    async fn set_nx_px(&self, key: &str, value: &str, ttl: Duration) -> OpResult<bool> {
        let answer = self.0.call(Command::SetNxPx(Words::new(&[key], &[value]), ttl)).await?;
        Ok(answer != Value::Nil)
    }

    async fn get(&self, key: &str) -> OpResult<Option<String>> {
        match self.0.call(Command::Get(key.to_owned())).await? {
            Value::Text(value) => Ok(Some(value)),
            Value::Nil => Ok(None),
            other => Err(unexpected(&other)),
        }
    }

    async fn del(&self, key: &str) -> OpResult<bool> {
        let answer = self.0.call(Command::Del(key.to_owned())).await?;
        answer.integer().map(|count| count > 0).ok_or_else(|| unexpected(&answer))
    }

    async fn pttl(&self, key: &str) -> OpResult<Option<Duration>> {
        let answer = self.0.call(Command::Pttl(key.to_owned())).await?;
        Ok(answer.integer().map(|ms| Duration::from_millis(ms.max(0) as u64)))
    }

    async fn time(&self) -> OpResult<u64> {
        let answer = self.0.call(Command::Time).await?;
        answer.integer().and_then(|us| u64::try_from(us).ok()).ok_or_else(|| unexpected(&answer))
    }

    async fn eval(&self, script: &'static Script, keys: &[&str], args: &[&str]) -> OpResult<Value> {
        self.0.call(Command::Eval(script, Words::new(keys, args))).await
    }

    fn usable(&self) -> bool {
        !self.0.is_finished()
    }
}
