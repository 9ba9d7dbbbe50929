//! The messages of etcd's v3 API that are used here, by field number (`api/etcdserverpb/rpc.proto`, `api/mvccpb/kv.proto`,
//! `server/etcdserver/api/v3lock/v3lockpb/v3lock.proto`, `…/v3election/v3electionpb/v3election.proto` of etcd 3.5).
//!
//! Keys and values are `bytes` there and `string` here: the same on the wire, as long as they are UTF-8, which ours are.

use prost::{Enumeration, Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub struct Header {
    #[prost(int64, tag = "3")]
    pub revision: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct Kv {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(int64, tag = "2")]
    pub create_revision: i64,
    #[prost(int64, tag = "3")]
    pub mod_revision: i64,
    #[prost(int64, tag = "4")]
    pub version: i64,
    #[prost(string, tag = "5")]
    pub value: String,
    #[prost(int64, tag = "6")]
    pub lease: i64,
}

/// `RangeRequest.SortOrder`
pub const ASCEND: i32 = 1;
/// `RangeRequest.SortTarget`
pub const BY_CREATE_REVISION: i32 = 2;

#[derive(Clone, PartialEq, Message)]
pub struct RangeRequest {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub range_end: String,
    #[prost(int32, tag = "5")]
    pub sort_order: i32,
    #[prost(int32, tag = "6")]
    pub sort_target: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct RangeResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(message, repeated, tag = "2")]
    pub kvs: Vec<Kv>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PutRequest {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
    #[prost(int64, tag = "3")]
    pub lease: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct PutResponse {}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeRequest {
    #[prost(string, tag = "1")]
    pub key: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeResponse {
    #[prost(int64, tag = "2")]
    pub deleted: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct RequestOp {
    #[prost(oneof = "Request", tags = "1, 2, 3")]
    pub request: Option<Request>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Request {
    #[prost(message, tag = "1")]
    Range(RangeRequest),
    #[prost(message, tag = "2")]
    Put(PutRequest),
    #[prost(message, tag = "3")]
    DeleteRange(DeleteRangeRequest),
}

#[derive(Clone, PartialEq, Message)]
pub struct ResponseOp {
    #[prost(oneof = "Response", tags = "1, 2, 3")]
    pub response: Option<Response>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Response {
    #[prost(message, tag = "1")]
    Range(RangeResponse),
    #[prost(message, tag = "2")]
    Put(PutResponse),
    #[prost(message, tag = "3")]
    DeleteRange(DeleteRangeResponse),
}

/// `Compare.CompareTarget`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum Target {
    Version = 0,
    Create = 1,
    Mod = 2,
    Value = 3,
}

/// Its field 1, the relation, is left at its default, "equal".
#[derive(Clone, PartialEq, Message)]
pub struct Compare {
    #[prost(enumeration = "Target", tag = "2")]
    pub target: i32,
    #[prost(string, tag = "3")]
    pub key: String,
    #[prost(oneof = "Operand", tags = "5, 6, 7")]
    pub operand: Option<Operand>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Operand {
    #[prost(int64, tag = "5")]
    CreateRevision(i64),
    #[prost(int64, tag = "6")]
    ModRevision(i64),
    #[prost(string, tag = "7")]
    Value(String),
}

#[derive(Clone, PartialEq, Message)]
pub struct TxnRequest {
    #[prost(message, repeated, tag = "1")]
    pub compare: Vec<Compare>,
    #[prost(message, repeated, tag = "2")]
    pub success: Vec<RequestOp>,
    #[prost(message, repeated, tag = "3")]
    pub failure: Vec<RequestOp>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TxnResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(bool, tag = "2")]
    pub succeeded: bool,
    #[prost(message, repeated, tag = "3")]
    pub responses: Vec<ResponseOp>,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaseGrantRequest {
    #[prost(int64, tag = "1")]
    pub ttl: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaseGrantResponse {
    #[prost(int64, tag = "2")]
    pub id: i64,
    #[prost(int64, tag = "3")]
    pub ttl: i64,
    #[prost(string, tag = "4")]
    pub error: String,
}

/// `LeaseRevokeRequest` and `LeaseKeepAliveRequest`
#[derive(Clone, PartialEq, Message)]
pub struct LeaseId {
    #[prost(int64, tag = "1")]
    pub id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaseKeepAliveResponse {
    #[prost(int64, tag = "2")]
    pub id: i64,
    #[prost(int64, tag = "3")]
    pub ttl: i64,
}

/// Of the union's cases only the one used here.
#[derive(Clone, PartialEq, Message)]
pub struct WatchRequest {
    #[prost(message, optional, tag = "1")]
    pub create: Option<WatchCreateRequest>,
}

#[derive(Clone, PartialEq, Message)]
pub struct WatchCreateRequest {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(int64, tag = "3")]
    pub start_revision: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct WatchResponse {
    #[prost(bool, tag = "3")]
    pub created: bool,
    #[prost(bool, tag = "4")]
    pub canceled: bool,
    #[prost(int64, tag = "5")]
    pub compact_revision: i64,
    #[prost(string, tag = "6")]
    pub cancel_reason: String,
    #[prost(message, repeated, tag = "11")]
    pub events: Vec<Event>,
}

/// `Event.EventType`
pub const DELETE: i32 = 1;

#[derive(Clone, PartialEq, Message)]
pub struct Event {
    #[prost(int32, tag = "1")]
    pub kind: i32,
    #[prost(message, optional, tag = "2")]
    pub kv: Option<Kv>,
}

#[derive(Clone, PartialEq, Message)]
pub struct LockRequest {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, tag = "2")]
    pub lease: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct LockResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(string, tag = "2")]
    pub key: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct UnlockRequest {
    #[prost(string, tag = "1")]
    pub key: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct CampaignRequest {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, tag = "2")]
    pub lease: i64,
    #[prost(string, tag = "3")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaderKey {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub key: String,
    #[prost(int64, tag = "3")]
    pub rev: i64,
    #[prost(int64, tag = "4")]
    pub lease: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct CampaignResponse {
    #[prost(message, optional, tag = "2")]
    pub leader: Option<LeaderKey>,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaderRequest {
    #[prost(string, tag = "1")]
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaderResponse {
    #[prost(message, optional, tag = "2")]
    pub kv: Option<Kv>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ResignRequest {
    #[prost(message, optional, tag = "1")]
    pub leader: Option<LeaderKey>,
}

/// A response of which nothing is needed.
#[derive(Clone, PartialEq, Message)]
pub struct Done {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compare_reads_as_the_protocol_defines() {
        let operand = Some(Operand::CreateRevision(0));
        let compare = Compare { target: Target::Create as i32, key: "k".into(), operand };
        // Field 2 varint 1; field 3 "k"; field 5 varint 0, present though zero because it is in a union.
        assert_eq!(compare.encode_to_vec(), [0x10, 1, 0x1a, 1, b'k', 0x28, 0]);
    }

    #[test]
    fn put_with_lease_reads_as_the_protocol_defines() {
        let put = PutRequest { key: "k".into(), value: "v".into(), lease: 300 };
        let op = RequestOp { request: Some(Request::Put(put)) };
        assert_eq!(op.encode_to_vec(), [0x12, 9, 0x0a, 1, b'k', 0x12, 1, b'v', 0x18, 0xac, 2]);
    }

    #[test]
    fn reads_a_response_with_fields_it_does_not_know() {
        // cluster_id 7 (field 1) and revision 5 (field 3) in the header; count 1 (field 4) after the pairs.
        let bytes = [0x0a, 4, 0x08, 7, 0x18, 5, 0x12, 3, 0x0a, 1, b'k', 0x20, 1];
        let response = RangeResponse::decode(&bytes[..]).unwrap();
        assert_eq!((response.header.unwrap().revision, response.kvs[0].key.as_str()), (5, "k"));
    }
}
