//! The client's side of the model.

use std::time::Duration;

use async_trait::async_trait;
use workloads::{
    api::redis::{RedisApi, Role, Script, Value},
    clients::redis::errors::classify,
    error::{OpError, OpResult},
};

use super::{
    server::{Answer, Command, PORT},
    words::Words,
};
use crate::{
    node::{Node, NodeId},
    rpc::Caller,
};

/// A connection to one simulated server.
pub struct RedisClient(Caller<Command, Answer>);

impl RedisClient {
    /// Connects from `node`.
    pub async fn open(node: &Node, to: NodeId, limit: Duration) -> OpResult<RedisClient> {
        Caller::open(node, to, PORT, limit).await.map(RedisClient)
    }

    async fn call(&self, command: Command) -> OpResult<Value> {
        self.0.call(command).await?.map_err(classify)
    }
}

/// What no server answers to this command.
fn unexpected(answer: &Value) -> OpError {
    OpError::Indeterminate(format!("unexpected answer {answer:?}"))
}

#[async_trait(?Send)]
impl RedisApi for RedisClient {
    async fn set_nx_px(&self, key: &str, value: &str, ttl: Duration) -> OpResult<bool> {
        let answer = self.call(Command::SetNxPx(Words::new(&[key], &[value]), ttl)).await?;
        Ok(answer != Value::Nil)
    }

    async fn get(&self, key: &str) -> OpResult<Option<String>> {
        match self.call(Command::Get(key.to_owned())).await? {
            Value::Text(value) => Ok(Some(value)),
            Value::Nil => Ok(None),
            other => Err(unexpected(&other)),
        }
    }

    async fn del(&self, key: &str) -> OpResult<bool> {
        let answer = self.call(Command::Del(key.to_owned())).await?;
        answer.integer().map(|count| count > 0).ok_or_else(|| unexpected(&answer))
    }

    async fn pttl(&self, key: &str) -> OpResult<Option<Duration>> {
        let answer = self.call(Command::Pttl(key.to_owned())).await?;
        Ok(answer.integer().map(|ms| Duration::from_millis(ms.max(0) as u64)))
    }

    async fn time(&self) -> OpResult<u64> {
        let answer = self.call(Command::Time).await?;
        answer.integer().and_then(|us| u64::try_from(us).ok()).ok_or_else(|| unexpected(&answer))
    }

    async fn eval(&self, script: &'static Script, keys: &[&str], args: &[&str]) -> OpResult<Value> {
        self.call(Command::Eval(script, Words::new(keys, args))).await
    }

    async fn wait(&self, replicas: u64, limit: Duration) -> OpResult<u64> {
        let answer = self.call(Command::Wait(replicas, limit)).await?;
        answer.integer().and_then(|count| u64::try_from(count).ok()).ok_or_else(|| unexpected(&answer))
    }

    async fn role(&self) -> OpResult<Role> {
        let answer = self.call(Command::Role).await?;
        Role::of(&answer).ok_or_else(|| unexpected(&answer))
    }

    fn usable(&self) -> bool {
        !self.0.is_finished()
    }
}
