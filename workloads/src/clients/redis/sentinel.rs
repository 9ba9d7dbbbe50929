//! A sentinel: the same protocol on another port.

use std::time::Duration;

use async_trait::async_trait;

use super::{RedisClient, unexpected};
use crate::{
    api::{Endpoint, SentinelApi, redis::Value},
    env::Env,
    error::{OpError, OpResult},
};

/// `sentinel port`, as its example configuration has it.
const PORT: u16 = 26379;
/// What the servers are called among sentinels; `mymaster` is the name in every example of Redis' own.
const NAME: &str = "mymaster";

/// A connection to the sentinel on a server's node.
pub(in crate::clients) struct SentinelClient(RedisClient);

impl SentinelClient {
    pub(in crate::clients) async fn open(
        env: &Env,
        beside: &Endpoint,
        limit: Duration,
    ) -> OpResult<SentinelClient> {
        let host = beside.addr.rsplit_once(':').map_or(beside.addr.as_str(), |(host, _)| host);
        let sentinel = Endpoint { node: beside.node.clone(), addr: format!("{host}:{PORT}") };
        Ok(SentinelClient(RedisClient::open(env, &sentinel, limit).await?))
    }
}

#[async_trait(?Send)]
impl SentinelApi for SentinelClient {
    async fn primary(&self) -> OpResult<String> {
        let command = "SENTINEL GET-MASTER-ADDR-BY-NAME";
        match self.0.call(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME]).await? {
            Value::Array(parts) => match parts.as_slice() {
                [Value::Text(host), Value::Text(port)] => Ok(format!("{host}:{port}")),
                _ => unexpected(command, Value::Array(parts)),
            },
            Value::Nil => Err(OpError::Definite(format!("the sentinel knows no {NAME}"))),
            other => unexpected(command, other),
        }
    }
}
