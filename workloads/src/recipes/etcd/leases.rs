use std::{future::Future, pin::pin, rc::Rc, time::Duration};

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
    aware: bool,
    connection: Option<Rc<dyn EtcdApi>>,
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
    /// `aware`: the client knows its deadline.
    pub(super) fn new(context: Context, aware: bool) -> Leases {
        Leases { context, aware, connection: None }
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

    /// Renews a lease once. `Definite` when it is gone.
    pub(super) async fn keep(&mut self, lease: &mut Kept) -> OpResult<()> {
        let etcd = self.etcd().await?;
        let asked = self.context.env.now();
        match etcd.lease_keepalive_once(lease.id).await? {
            Some(ttl_s) => {
                lease.ttl = Duration::from_secs(ttl_s as u64);
                lease.asked = asked;
                Ok(())
            }
            None => Err(OpError::Definite(format!("the lease {:x} is gone", lease.id))),
        }
    }

    /// Waits for `future`, renewing the lease at each third of its time to live.
    pub(super) async fn keep_during<T>(
        &mut self,
        lease: &mut Kept,
        future: impl Future<Output = OpResult<T>>,
    ) -> OpResult<T> {
        let env = self.context.env.clone();
        let mut future = pin!(future);
        loop {
            tokio::select! {
                biased;
                outcome = &mut future => return outcome,
                () = env.sleep(lease.ttl / 3) => self.keep(lease).await?,
            }
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
    pub(super) fn promise(&self, lease: &Kept, token: i64) -> Grant {
        let lease_name = Some(format!("{:x}", lease.id));
        Grant {
            token: Some(token as u64),
            lease: lease_name,
            ..self.context.grant(lease.asked, lease.ttl, self.aware)
        }
    }
}
