//! The protected resource over a line of JSON each way.

use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncWriteExt, BufReader};

use super::connect::{InTurn, connect};
use crate::{
    api::{
        Endpoint, ResourceApi,
        resource::{Reply, Request},
    },
    env::Env,
    error::{OpError, OpResult},
    lines::next_line,
};

pub(super) struct ResourceClient {
    connection: InTurn,
}

impl ResourceClient {
    pub(super) async fn open(env: &Env, to: &Endpoint, limit: Duration) -> OpResult<ResourceClient> {
        let stream = connect(env, to, limit).await?;
        Ok(ResourceClient { connection: InTurn::new(env, to, limit, stream) })
    }
}

#[async_trait(?Send)]
impl ResourceApi for ResourceClient {
    async fn request(&self, request: Request) -> OpResult<Reply> {
        let mut line = serde_json::to_vec(&request)
            .map_err(|error| OpError::Definite(format!("cannot write the request: {error}")))?;
        line.push(b'\n');
        let answer = self.connection.call(async |mut stream| {
            stream.write_all(&line).await?;
            let mut reader = BufReader::new(stream);
            match next_line(&mut reader).await? {
                None => Err(std::io::ErrorKind::UnexpectedEof.into()),
                Some(answer) => Ok((answer, reader.into_inner())),
            }
        });
        let answer = answer.await?;
        serde_json::from_str(&answer).map_err(|error| {
            OpError::Indeterminate(format!("the resource answered {}: {error}", answer.trim()))
        })
    }

    fn usable(&self) -> bool {
        self.connection.usable()
    }
}
