//! The lock and election services, which run inside the member that was asked: etcd's packages `v3lock`,
//! `v3election` and `clientv3/concurrency`.

use workloads::api::etcd::{Compare, KeyValue, Range, Txn, TxnAnswer, TxnOp, TxnReply};

use super::{
    failure::{Failure, SESSION_EXPIRED},
    server::{Say, Server},
};
use crate::rpc::Responder;

/// A session without a lease of its own gets one of a minute, which nobody renews.
const SESSION_TTL_S: i64 = 60;

/// A place in the queue of a lock or election.
struct Place {
    prefix: String,
    key: String,
    create_revision: i64,
    /// Header revision of the answer that gave the lock.
    header_revision: i64,
    lease: i64,
}

/// How waiting ended.
enum Turn {
    Ours,
    Cancelled,
}

impl Server {
    pub(super) async fn lock(&self, name: &str, lease: i64, reply: &Responder<Say>) {
        let answer = match self.queue(name, lease, "").await {
            Err(failure) => Err(failure),
            Ok(mut place) => match self.wait_turn(&mut place, reply).await {
                Err(failure) => Err(failure),
                Ok(Turn::Cancelled) => return self.leave(&place).await,
                Ok(Turn::Ours) => self.confirm(place).await,
            },
        };
        reply.send(match answer {
            Ok(place) => Say::Locked { key: place.key, revision: place.header_revision },
            Err(failure) => Say::Failed(failure),
        });
    }

    pub(super) async fn campaign(&self, name: &str, lease: i64, value: &str, reply: &Responder<Say>) {
        let answer = match self.queue(name, lease, value).await {
            Err(failure) => Err(failure),
            Ok(mut place) => match self.wait_turn(&mut place, reply).await {
                Err(failure) => Err(failure),
                Ok(Turn::Cancelled) => return self.leave(&place).await,
                // No version looks whether its own key still exists (issue 19597).
                Ok(Turn::Ours) => Ok(place),
            },
        };
        reply.send(match answer {
            Ok(place) => Say::Elected(KeyValue {
                key: place.key,
                value: value.to_owned(),
                create_revision: place.create_revision,
                lease: place.lease,
                ..KeyValue::default()
            }),
            Err(failure) => Say::Failed(failure),
        });
    }

    /// Takes a place, or finds the one that this lease has already.
    async fn queue(&self, name: &str, lease: i64, value: &str) -> Result<Place, Failure> {
        let lease = if lease == 0 { self.grant(SESSION_TTL_S).await?.id } else { lease };
        let prefix = format!("{name}/");
        let key = format!("{prefix}{lease:x}");
        let put = TxnOp::Put { key: key.clone(), value: value.to_owned(), lease };
        let own = || TxnOp::Range(Range { key: key.clone(), prefix: false });
        let compares = vec![Compare::CreateRevision(key.clone(), 0)];
        let reply = self.txn(Txn { compares, success: vec![put, own()], failure: vec![own()] }).await?;
        let create_revision = own_revision(&reply);
        Ok(Place { prefix, key, create_revision, header_revision: reply.revision, lease })
    }

    /// Waits until nobody older is in the queue.
    async fn wait_turn(&self, place: &mut Place, reply: &Responder<Say>) -> Result<Turn, Failure> {
        loop {
            let found = self.range(&Range { key: place.prefix.clone(), prefix: true }).await?;
            let mut older = found.keys.iter().filter(|kv| kv.create_revision < place.create_revision);
            place.header_revision = found.revision;
            let Some(before) = older.next_back() else { return Ok(Turn::Ours) };
            let before = before.clone();
            let deleted = self.log.until(|| {
                let now = self.store.borrow().range(&Range { key: before.key.clone(), prefix: false });
                now.keys.first().is_none_or(|kv| kv.create_revision != before.create_revision)
            });
            tokio::select! {
                biased;
                () = reply.cancelled() => return Ok(Turn::Cancelled),
                () = deleted => {}
            }
        }
    }

    /// Since 3.5 a lock is given only if the waiter's own key is still there.
    async fn confirm(&self, place: Place) -> Result<Place, Failure> {
        if self.options.lock_hole {
            return Ok(place);
        }
        let own = self.range(&Range { key: place.key.clone(), prefix: false }).await?;
        match own.keys.is_empty() {
            true => Err(Failure::Refused(SESSION_EXPIRED)),
            false => Ok(Place { header_revision: own.revision, ..place }),
        }
    }

    /// A cancelled waiter gives its place up.
    async fn leave(&self, place: &Place) {
        let txn = Txn { success: vec![TxnOp::Delete(place.key.clone())], ..Txn::default() };
        drop(self.txn(txn).await);
    }
}

fn own_revision(reply: &TxnReply) -> i64 {
    let ranges = reply.answers.iter().filter_map(|answer| match answer {
        TxnAnswer::Range(keys) => keys.first(),
        _ => None,
    });
    ranges.map(|kv| kv.create_revision).next().unwrap_or(reply.revision)
}
