//! A key that expires, set if it is absent: the lock of one Redis server.

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use async_trait::async_trait;

use super::{link::Link, scripts};
use crate::{
    api::{Endpoint, RedisApi, redis::Value},
    error::{OpError, OpResult},
    primitive::{Grant, Leader, Lock, Observe},
    recipes::{Context, context::owner_of},
};

/// `SET name value NX PX ttl`, released by compare-and-delete.
pub(in crate::recipes) struct SetNx {
    context: Context,
    link: Link,
    fenced: bool,
    held: BTreeMap<String, Held>,
    /// What a broken variant does wrong.
    flaw: Option<Flaw>,
}

/// How a variant is broken by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::recipes) enum Flaw {
    /// It deletes the lock without looking whose it is.
    ReleaseWithoutCompare,
}

#[derive(Clone)]
struct Held {
    value: String,
    token: Option<u64>,
}

impl SetNx {
    /// `fenced`: a counter beside the lock gives tokens.
    pub(in crate::recipes) fn new(context: Context, fenced: bool) -> SetNx {
        let link = Link::new(&context, &context.endpoints[0], context.limit);
        SetNx { context, link, fenced, held: BTreeMap::new(), flaw: None }
    }

    /// The same, broken.
    pub(in crate::recipes) fn with(mut self, flaw: Flaw) -> Self {
        self.flaw = Some(flaw);
        self
    }

    /// From now on it talks to this server.
    pub(super) fn talk_to(&mut self, server: &Endpoint) {
        self.link = Link::new(&self.context, server, self.context.limit);
    }

    /// The connection that it uses.
    pub(super) async fn connection(&mut self) -> OpResult<Rc<dyn RedisApi>> {
        self.link.get().await
    }

    /// One try: the token if it succeeded, `None` if another holds the lock.
    async fn attempt(&mut self, name: &str, value: &str) -> OpResult<Option<Held>> {
        let redis = self.link.get().await?;
        let held = |token| Held { value: value.to_string(), token };
        if !self.fenced {
            let set = redis.set_nx_px(&lock_key(name), value, self.context.ttl).await?;
            return Ok(set.then(|| held(None)));
        }
        let keys = [lock_key(name), token_key(name)];
        let args = [value, &self.context.ttl.as_millis().to_string()];
        match redis.eval(&scripts::ACQUIRE_FENCED, &[&keys[0], &keys[1]], &args).await? {
            Value::Integer(token) => Ok(Some(held(Some(token as u64)))),
            Value::Nil => Ok(None),
            other => Err(OpError::Indeterminate(format!("unexpected answer to acquire: {other:?}"))),
        }
    }

    /// Deletes the lock if it is ours: whether it was.
    pub(super) async fn give_up(&mut self, name: &str) -> OpResult<bool> {
        let held = self.held(name)?;
        self.held.remove(name);
        let redis = self.link.get_anew().await?;
        match redis.eval(&scripts::RELEASE, &[&lock_key(name)], &[&held.value]).await?.integer() {
            Some(deleted) => Ok(deleted == 1),
            other => Err(OpError::Indeterminate(format!("unexpected answer to release: {other:?}"))),
        }
    }

    fn held(&self, name: &str) -> OpResult<Held> {
        self.held.get(name).cloned().ok_or_else(|| OpError::Definite("not held".into()))
    }

    fn grant(&self, asked: u64, held: &Held) -> Grant {
        Grant { token: held.token, ..self.context.grant(asked, self.context.ttl) }
    }
}

#[async_trait(?Send)]
impl Lock for SetNx {
    async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        let env = self.context.env.clone();
        let until = env.now() + wait.as_nanos() as u64;
        let value = self.context.unique();
        let retry = self.context.millis("retry_ms");
        loop {
            let asked = env.now();
            if let Some(held) = self.attempt(name, &value).await? {
                let grant = self.grant(asked, &held);
                self.held.insert(name.to_string(), held);
                return Ok(grant);
            }
            let pause = env.random_between(retry / 2, retry * 3 / 2);
            if env.now() + pause.as_nanos() as u64 > until {
                return Err(OpError::Definite("held by another".into()));
            }
            env.sleep(pause).await;
        }
    }

    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        let held = self.held(name)?;
        let redis = self.link.get_anew().await?;
        let asked = self.context.env.now();
        let args = [held.value.as_str(), &self.context.ttl.as_millis().to_string()];
        match redis.eval(&scripts::RENEW, &[&lock_key(name)], &args).await?.integer() {
            Some(1) => Ok(self.grant(asked, &held)),
            Some(0) => Err(OpError::Definite("no longer ours".into())),
            other => Err(OpError::Indeterminate(format!("unexpected answer to renew: {other:?}"))),
        }
    }

    async fn release(&mut self, name: &str) -> OpResult<()> {
        if self.flaw == Some(Flaw::ReleaseWithoutCompare) {
            self.held(name)?;
            self.held.remove(name);
            return self.link.get_anew().await?.del(&lock_key(name)).await.map(|_| ());
        }
        match self.give_up(name).await? {
            true => Ok(()),
            false => Err(OpError::Definite("no longer ours".into())),
        }
    }

    fn usable(&self) -> bool {
        self.link.usable()
    }
}

#[async_trait(?Send)]
impl Observe for SetNx {
    async fn observe(&mut self, name: &str) -> OpResult<Option<Leader>> {
        let redis = self.link.get().await?;
        match redis.eval(&scripts::OBSERVE, &[&lock_key(name), &token_key(name)], &[]).await? {
            Value::Nil => Ok(None),
            Value::Array(parts) => match parts.as_slice() {
                [Value::Text(value), Value::Text(token)] => {
                    Ok(Some(Leader { id: owner_of(value).to_string(), token: token.parse().ok() }))
                }
                _ => Err(OpError::Definite(format!("unexpected answer to observe: {parts:?}"))),
            },
            other => Err(OpError::Definite(format!("unexpected answer to observe: {other:?}"))),
        }
    }
}

fn lock_key(name: &str) -> String {
    format!("lock:{name}")
}

fn token_key(name: &str) -> String {
    format!("lock:{name}:token")
}
