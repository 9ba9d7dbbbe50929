use std::{rc::Rc, time::Duration};

use crate::{
    api::EtcdApi,
    error::{OpError, OpResult},
    primitive::Grant,
    recipes::Context,
};

/// Through how many members a lease is revoked that could not be revoked where it was granted.
const MEMBERS_MAX: usize = 2;

/// One client's connection to a member, and what it does with leases there.
pub(super) struct Leases {
    pub(super) context: Context,
    connection: Option<Rc<dyn EtcdApi>>,
    keeper: Keeper,
}

/// Keepalives have a connection of their own, so that one without answer ends nothing else. As `clientv3` does with its
/// stream, it is explicitly replaced when it breaks: by one to the next member where the last could not be reached, and
/// else to the same, which may only stand still.
#[derive(Default)]
struct Keeper {
    connection: Option<Rc<dyn EtcdApi>>,
    member: usize,
}

/// A lease as the client knows it.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) id: i64,
    /// As granted or renewed last.
    ttl: Duration,
    /// When the grant or the last renewal that was answered was sent.
    asked: u64,
}

impl Leases {
    pub(super) fn new(context: Context) -> Leases {
        Leases { context, connection: None, keeper: Keeper::default() }
    }

    pub(super) fn usable(&self) -> bool {
        self.connection.as_ref().is_none_or(|connection| connection.usable())
    }

    /// The connection, opened now if it was not yet. One that broke stays broken.
    pub(super) async fn etcd(&mut self) -> OpResult<Rc<dyn EtcdApi>> {
        match &self.connection {
            Some(connection) => Ok(connection.clone()),
            None => {
                let first = &self.context.endpoints[0];
                let connection = self.context.stores.etcd(first, self.context.limit).await?;
                self.connection = Some(connection.clone());
                Ok(connection)
            }
        }
    }

    /// A new lease. A failure is always definite: a lease without keys grants nothing.
    pub(super) async fn grant(&mut self) -> OpResult<Kept> {
        let etcd = self.etcd().await?;
        let ttl_s = self.context.ttl.as_millis().div_ceil(1000).max(1) as i64;
        let asked = self.context.env.now();
        match etcd.lease_grant(ttl_s).await {
            Ok(lease) => {
                Ok(Kept { id: lease.id, ttl: Duration::from_secs(lease.ttl_s.max(0) as u64), asked })
            }
            Err(OpError::Definite(why) | OpError::Indeterminate(why)) => {
                Err(OpError::Definite(format!("no lease: {why}")))
            }
        }
    }

    /// The same to give something back: explicitly a new connection, to the next member if need be, in place of one
    /// that broke.
    pub(super) async fn etcd_anew(&mut self) -> OpResult<Rc<dyn EtcdApi>> {
        if self.usable() {
            return self.etcd().await;
        }
        let mut failure = OpError::Definite("no member".into());
        for member in self.context.endpoints.iter().take(MEMBERS_MAX) {
            match self.context.stores.etcd(member, self.context.limit).await {
                Ok(connection) => return Ok(connection),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Renews a lease once. `Definite` when it is gone, or when no member was asked.
    pub(super) async fn keep(&mut self, lease: &mut Kept) -> OpResult<()> {
        let asked = self.context.env.now();
        let member = &self.context.endpoints[self.keeper.member % self.context.endpoints.len()];
        let etcd = match self.keeper.connection.take().filter(|connection| connection.usable()) {
            Some(connection) => connection,
            None => match self.context.stores.etcd(member, self.context.limit).await {
                Ok(connection) => connection,
                Err(error) => {
                    self.keeper.member += 1;
                    return Err(error);
                }
            },
        };
        // Put back only after an answer.
        let left = etcd.lease_keepalive_once(lease.id).await?;
        self.keeper.connection = Some(etcd);
        let gone = || OpError::Definite(format!("the lease {:x} is gone", lease.id));
        lease.ttl = Duration::from_secs(left.ok_or_else(gone)? as u64);
        lease.asked = asked;
        Ok(())
    }

    /// Waits for `future`, renewing the lease beside it at each third of its time to live. A client that looks gives up
    /// when its lease is not renewed; as published, whoever waits is not told.
    pub(super) async fn keep_during<T>(
        &mut self,
        lease: &mut Kept,
        future: impl Future<Output = OpResult<T>>,
    ) -> OpResult<T> {
        let aware = self.context.aware;
        let keeping = async {
            loop {
                self.context.env.sleep(lease.ttl / 3).await;
                match self.keep(lease).await {
                    Err(failure) if aware => return failure,
                    Ok(()) | Err(_) => {}
                }
            }
        };
        tokio::select! {
            biased;
            outcome = future => outcome,
            failure = keeping => Err(failure),
        }
    }

    /// Ends the lease of an acquire that failed, here or, explicitly, through other members.
    /// Once it is certainly gone, nothing that was sent under it can be granted any more: the failure is definite.
    pub(super) async fn abandon(&mut self, lease: &Kept, failure: OpError) -> OpError {
        let (OpError::Definite(why) | OpError::Indeterminate(why)) = failure;
        let members = &self.context.endpoints;
        if let Some(connection) = &self.connection
            && connection.lease_revoke(lease.id).await.is_ok()
        {
            return OpError::Definite(why);
        }
        for member in members.iter().cycle().skip(1).take(members.len().min(MEMBERS_MAX)) {
            let Ok(connection) = self.context.stores.etcd(member, self.context.limit).await else { continue };
            if connection.lease_revoke(lease.id).await.is_ok() {
                return OpError::Definite(why);
            }
        }
        OpError::Indeterminate(format!("{why}; its lease {:x} may live on", lease.id))
    }

    /// What the client may believe as long as `lease` lives.
    pub(super) fn promise(&self, lease: &Kept, token: Option<i64>) -> Grant {
        let lease_name = Some(format!("{:x}", lease.id));
        Grant {
            token: token.map(|token| token as u64),
            lease: lease_name,
            ..self.context.grant(lease.asked, lease.ttl)
        }
    }
}
