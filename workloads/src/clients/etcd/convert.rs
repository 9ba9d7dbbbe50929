//! Between the API's types and the messages on the wire.

use super::messages as m;
use crate::{
    api::etcd::{Compare, KeyValue, LeaderKey, Range, Txn, TxnAnswer, TxnOp, TxnReply, WatchEvent},
    error::{OpError, OpResult},
};

/// The store's revision in a response's header.
pub(super) fn revision(header: Option<m::Header>) -> i64 {
    header.map_or(0, |header| header.revision)
}

/// The events of a watch's answer; `Definite` if the server ended the watch.
pub(super) fn events(response: m::WatchResponse) -> OpResult<Vec<WatchEvent>> {
    if response.canceled {
        let why = match response.compact_revision {
            0 => response.cancel_reason,
            revision => format!("revision {revision} is the oldest that is left"),
        };
        return Err(OpError::Definite(format!("the watch ended: {why}")));
    }
    let event = |event: m::Event| {
        let kv = KeyValue::from(event.kv?);
        Some(match event.kind {
            m::DELETE => WatchEvent::Delete { key: kv.key, mod_revision: kv.mod_revision },
            _ => WatchEvent::Put(kv),
        })
    };
    Ok(response.events.into_iter().filter_map(event).collect())
}

impl From<m::Kv> for KeyValue {
    fn from(kv: m::Kv) -> KeyValue {
        let m::Kv { key, value, create_revision, mod_revision, version, lease } = kv;
        KeyValue { key, value, create_revision, mod_revision, version, lease }
    }
}

impl From<Range> for m::RangeRequest {
    fn from(range: Range) -> m::RangeRequest {
        let range_end = if range.prefix { after(&range.key) } else { String::new() };
        m::RangeRequest {
            key: range.key,
            range_end,
            sort_order: m::ASCEND,
            sort_target: m::BY_CREATE_REVISION,
        }
    }
}

/// The first key after all with this prefix, whose last character must be ASCII.
fn after(prefix: &str) -> String {
    let mut end = prefix.to_string();
    match end.pop() {
        Some(last) if (' '..'~').contains(&last) => end.push(char::from(last as u8 + 1)),
        // "\0" stands for the end of all keys.
        _ => end = "\0".into(),
    }
    end
}

impl From<Compare> for m::Compare {
    fn from(compare: Compare) -> m::Compare {
        let (target, key, operand) = match compare {
            Compare::CreateRevision(key, revision) => {
                (m::Target::Create, key, m::Operand::CreateRevision(revision))
            }
            Compare::ModRevision(key, revision) => (m::Target::Mod, key, m::Operand::ModRevision(revision)),
            Compare::Value(key, value) => (m::Target::Value, key, m::Operand::Value(value)),
        };
        m::Compare { target: target as i32, key, operand: Some(operand) }
    }
}

impl From<TxnOp> for m::RequestOp {
    fn from(op: TxnOp) -> m::RequestOp {
        let request = match op {
            TxnOp::Put { key, value, lease } => m::Request::Put(m::PutRequest { key, value, lease }),
            TxnOp::Range(range) => m::Request::Range(range.into()),
            TxnOp::Delete(key) => m::Request::DeleteRange(m::DeleteRangeRequest { key }),
        };
        m::RequestOp { request: Some(request) }
    }
}

impl From<Txn> for m::TxnRequest {
    fn from(txn: Txn) -> m::TxnRequest {
        let ops = |ops: Vec<TxnOp>| ops.into_iter().map(m::RequestOp::from).collect();
        m::TxnRequest {
            compare: txn.compares.into_iter().map(m::Compare::from).collect(),
            success: ops(txn.success),
            failure: ops(txn.failure),
        }
    }
}

impl From<m::TxnResponse> for TxnReply {
    fn from(response: m::TxnResponse) -> TxnReply {
        let answer = |op: m::ResponseOp| match op.response {
            Some(m::Response::Range(range)) => {
                TxnAnswer::Range(range.kvs.into_iter().map(KeyValue::from).collect())
            }
            Some(m::Response::DeleteRange(deleted)) => TxnAnswer::Deleted(deleted.deleted),
            Some(m::Response::Put(_)) | None => TxnAnswer::Put,
        };
        TxnReply {
            revision: revision(response.header),
            succeeded: response.succeeded,
            answers: response.responses.into_iter().map(answer).collect(),
        }
    }
}

impl From<m::LeaderKey> for LeaderKey {
    fn from(key: m::LeaderKey) -> LeaderKey {
        let m::LeaderKey { name, key, rev, lease } = key;
        LeaderKey { name, key, rev, lease }
    }
}

impl From<LeaderKey> for m::LeaderKey {
    fn from(key: LeaderKey) -> m::LeaderKey {
        let LeaderKey { name, key, rev, lease } = key;
        m::LeaderKey { name, key, rev, lease }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_letter() {
        assert_eq!(after("election/"), "election0");
        assert_eq!(after("é"), "\0");
        assert_eq!(after(""), "\0");
    }

    #[test]
    fn a_cancelled_watch_says_why() {
        let compacted = m::WatchResponse { canceled: true, compact_revision: 7, ..Default::default() };
        let error = OpError::Definite("the watch ended: revision 7 is the oldest that is left".into());
        assert_eq!(events(compacted), Err(error));
        assert_eq!(events(m::WatchResponse { created: true, ..Default::default() }), Ok(vec![]));
    }
}
