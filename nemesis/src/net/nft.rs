//! The few words of nf_tables that cuts and delays need. Names and numbers are those of <linux/netfilter/nf_tables.h>,
//! <linux/netfilter/nfnetlink.h>, <linux/netfilter.h> and <linux/netlink.h>.

use std::net::Ipv4Addr;

use super::{
    Counters, NetError, headers,
    message::{Attributes, Message, NLM_F_ACK, NLM_F_REQUEST, Received, attributes, find},
    round_trip,
};
use crate::verbs::Direction;

const NLM_F_DUMP: u16 = 0x300;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;
const NLM_F_APPEND: u16 = 0x800;

const NFNL_MSG_BATCH_BEGIN: u16 = 0x10;
const NFNL_MSG_BATCH_END: u16 = 0x11;
const NFNL_SUBSYS_NFTABLES: u16 = 10;
const NFPROTO_IPV4: u8 = 2;

const NFT_MSG_NEWTABLE: u16 = 0;
const NFT_MSG_GETTABLE: u16 = 1;
const NFT_MSG_DELTABLE: u16 = 2;
const NFT_MSG_NEWCHAIN: u16 = 3;
const NFT_MSG_NEWRULE: u16 = 6;
const NFT_MSG_GETRULE: u16 = 7;
const NFT_MSG_DELRULE: u16 = 8;

const NFTA_TABLE_NAME: u16 = 1;
const NFTA_CHAIN_TABLE: u16 = 1;
const NFTA_CHAIN_NAME: u16 = 3;
const NFTA_CHAIN_HOOK: u16 = 4;
const NFTA_CHAIN_TYPE: u16 = 7;
const NFTA_HOOK_HOOKNUM: u16 = 1;
const NFTA_HOOK_PRIORITY: u16 = 2;
const NF_INET_LOCAL_IN: u32 = 1;
const NF_INET_LOCAL_OUT: u32 = 3;
/// NF_IP_PRI_RAW of <linux/netfilter_ipv4.h>: before connection tracking and translation of addresses.
const PRIORITY_OF_CUTS: i32 = -300;
/// Before cuts, each queue behind those that were made before it. A packet that was let go goes on at the place in the
/// row of chains that it came from: a chain that came before it meanwhile would send it through its own once more.
const PRIORITY_OF_QUEUES: i32 = -1_000_000_000;

const NFTA_RULE_TABLE: u16 = 1;
const NFTA_RULE_CHAIN: u16 = 2;
const NFTA_RULE_EXPRESSIONS: u16 = 4;
const NFTA_RULE_USERDATA: u16 = 7;
const NFTA_LIST_ELEM: u16 = 1;
const NFTA_EXPR_NAME: u16 = 1;
const NFTA_EXPR_DATA: u16 = 2;
const NFTA_PAYLOAD_DREG: u16 = 1;
const NFTA_PAYLOAD_BASE: u16 = 2;
const NFTA_PAYLOAD_OFFSET: u16 = 3;
const NFTA_PAYLOAD_LEN: u16 = 4;
const NFT_PAYLOAD_NETWORK_HEADER: u32 = 1;
const NFT_PAYLOAD_TRANSPORT_HEADER: u32 = 2;
const NFTA_CMP_SREG: u16 = 1;
const NFTA_CMP_OP: u16 = 2;
const NFTA_CMP_DATA: u16 = 3;
const NFT_CMP_EQ: u32 = 0;
const NFTA_COUNTER_BYTES: u16 = 1;
const NFTA_COUNTER_PACKETS: u16 = 2;
const NFTA_IMMEDIATE_DREG: u16 = 1;
const NFTA_IMMEDIATE_DATA: u16 = 2;
const NFTA_DATA_VALUE: u16 = 1;
const NFTA_DATA_VERDICT: u16 = 2;
const NFTA_VERDICT_CODE: u16 = 1;
const NFT_REG_VERDICT: u32 = 0;
const NFT_REG_1: u32 = 1;
const NF_DROP: u32 = 0;
const NFTA_QUEUE_NUM: u16 = 1;
const NFTA_QUEUE_FLAGS: u16 = 3;
const NFT_QUEUE_FLAG_BYPASS: u16 = 1;
const NFTA_TARGET_NAME: u16 = 1;
const NFTA_TARGET_REV: u16 = 2;
const NFTA_TARGET_INFO: u16 = 3;
/// `struct xt_NFQ_info_v3` of <linux/netfilter/xt_NFQUEUE.h>, whose flag has the same meaning and number.
const NFQUEUE_REVISION: u32 = 3;

/// What becomes of the packets that meet a rule.
#[derive(Clone, Copy)]
pub enum Action {
    /// They are dropped.
    Drop,
    /// They wait in the queue of this number for their verdict. Without anybody at the queue, they pass: when the
    /// process at it dies, what waits is dropped once, and nothing is held any more.
    Queue(u16, QueueWords),
}

/// How a kernel is told of a queue; many know one of them only.
#[derive(Clone, Copy)]
pub enum QueueWords {
    /// An expression of nf_tables (`CONFIG_NFT_QUEUE`).
    Expression,
    /// A target of iptables, by way of `CONFIG_NFT_COMPAT`.
    Target,
}

/// One of the two chains of a table.
struct Hook {
    chain: &'static str,
    number: u32,
    /// Where the peer's address is in the IPv4 header.
    address_offset: u32,
}

const IN: Hook = Hook { chain: "in", number: NF_INET_LOCAL_IN, address_offset: headers::SOURCE };
const OUT: Hook = Hook { chain: "out", number: NF_INET_LOCAL_OUT, address_offset: headers::DESTINATION };

/// A table with a chain a direction and a rule a peer in each.
pub fn add(table: &str, peers: &[Ipv4Addr], direction: Direction, action: Action) -> Vec<Message> {
    let hooks: &[Hook] = match direction {
        Direction::In => &[IN],
        Direction::Out => &[OUT],
        Direction::Both => &[IN, OUT],
    };
    let create = NLM_F_CREATE | NLM_F_EXCL;
    let mut changes =
        vec![change(NFT_MSG_NEWTABLE, create, Attributes::default().text(NFTA_TABLE_NAME, table))];
    for hook in hooks {
        changes.push(change(NFT_MSG_NEWCHAIN, create, chain(table, hook, action)));
        let rules = peers.iter().flat_map(|peer| rules(table, hook, *peer, action));
        changes.extend(rules.map(|rule| change(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND, rule)));
    }
    batch(changes)
}

/// Removes all rules of a table, and leaves its chains: when one of those goes, the kernel drops what waits in queues.
pub fn remove_rules(table: &str) -> Vec<Message> {
    batch(vec![change(NFT_MSG_DELRULE, 0, Attributes::default().text(NFTA_RULE_TABLE, table))])
}

/// Removes a table and all in it.
pub fn remove(table: &str) -> Vec<Message> {
    batch(vec![change(NFT_MSG_DELTABLE, 0, Attributes::default().text(NFTA_TABLE_NAME, table))])
}

/// Asks whether a table is there.
pub fn find_table(table: &str) -> Vec<Message> {
    vec![change(NFT_MSG_GETTABLE, NLM_F_ACK, Attributes::default().text(NFTA_TABLE_NAME, table))]
}

/// Asks for the rules of a table, with their counters.
pub fn list_rules(table: &str) -> Message {
    let attributes = Attributes::default().text(NFTA_RULE_TABLE, table);
    Message::new(nft(NFT_MSG_GETRULE), NLM_F_REQUEST | NLM_F_DUMP, NFPROTO_IPV4, 0, attributes)
}

/// Reads the counters in the answers to [`list_rules`].
pub fn counters(answers: &[Received]) -> Result<Counters, NetError> {
    let mut counters = Counters::new();
    for answer in answers {
        let rule = answer.attributes()?;
        // Rules that count nothing name no peer.
        let Ok(peer) = find(&rule, NFTA_RULE_USERDATA) else { continue };
        let peer: [u8; 4] = peer.try_into().map_err(|_| NetError::Malformed)?;
        let (bytes, packets) = counter(find(&rule, NFTA_RULE_EXPRESSIONS)?)?;
        let dropped = counters.entry(Ipv4Addr::from(peer)).or_default();
        match find(&rule, NFTA_RULE_CHAIN)? {
            b"in\0" => (dropped.bytes_in, dropped.packets_in) = (bytes, packets),
            _ => (dropped.bytes_out, dropped.packets_out) = (bytes, packets),
        }
    }
    Ok(counters)
}

fn chain(table: &str, hook: &Hook, action: Action) -> Attributes {
    let priority = match action {
        Action::Drop => PRIORITY_OF_CUTS,
        Action::Queue(number, _) => PRIORITY_OF_QUEUES + i32::from(number),
    };
    let at = Attributes::default()
        .number(NFTA_HOOK_HOOKNUM, hook.number)
        .number(NFTA_HOOK_PRIORITY, priority.cast_unsigned());
    Attributes::default()
        .text(NFTA_CHAIN_TABLE, table)
        .text(NFTA_CHAIN_NAME, hook.chain)
        .nested(NFTA_CHAIN_HOOK, at)
        .text(NFTA_CHAIN_TYPE, "filter")
}

/// Packets of a peer are counted, and acted on. The peer stands in the rule's user data, to be read back.
///
/// A cut drops a measured round trip too and does not count it: it shows what it took from those under test, and is
/// without effect where it took nothing from them. A queue knows such packets by itself.
fn rules(table: &str, hook: &Hook, peer: Ipv4Addr, action: Action) -> Vec<Attributes> {
    let is_of_peer = || equals(NFT_PAYLOAD_NETWORK_HEADER, hook.address_offset, &peer.octets());
    let mut rules = Vec::new();
    if let Action::Drop = action {
        for port_offset in headers::PORTS {
            let is_tcp = equals(NFT_PAYLOAD_NETWORK_HEADER, headers::PROTOCOL, &[headers::TCP]);
            let is_measured =
                equals(NFT_PAYLOAD_TRANSPORT_HEADER, port_offset, &round_trip::PORT.to_be_bytes());
            let expressions = [is_of_peer(), is_tcp, is_measured].into_iter().flatten().chain([act(action)]);
            rules.push(rule(table, hook, expressions));
        }
    }
    let expressions = is_of_peer().into_iter().chain([("counter", Attributes::default()), act(action)]);
    rules.push(rule(table, hook, expressions).bytes(NFTA_RULE_USERDATA, &peer.octets()));
    rules
}

fn rule(
    table: &str,
    hook: &Hook,
    expressions: impl Iterator<Item = (&'static str, Attributes)>,
) -> Attributes {
    let list = expressions.fold(Attributes::default(), |list, (name, data)| {
        let expression = Attributes::default().text(NFTA_EXPR_NAME, name).nested(NFTA_EXPR_DATA, data);
        list.nested(NFTA_LIST_ELEM, expression)
    });
    Attributes::default()
        .text(NFTA_RULE_TABLE, table)
        .text(NFTA_RULE_CHAIN, hook.chain)
        .nested(NFTA_RULE_EXPRESSIONS, list)
}

/// Load bytes of a header, and go on if they are these.
fn equals(header: u32, offset: u32, bytes: &[u8]) -> [(&'static str, Attributes); 2] {
    let load = Attributes::default()
        .number(NFTA_PAYLOAD_DREG, NFT_REG_1)
        .number(NFTA_PAYLOAD_BASE, header)
        .number(NFTA_PAYLOAD_OFFSET, offset)
        .number(NFTA_PAYLOAD_LEN, bytes.len() as u32);
    let compare = Attributes::default()
        .number(NFTA_CMP_SREG, NFT_REG_1)
        .number(NFTA_CMP_OP, NFT_CMP_EQ)
        .nested(NFTA_CMP_DATA, Attributes::default().bytes(NFTA_DATA_VALUE, bytes));
    [("payload", load), ("cmp", compare)]
}

/// A rule's last expression.
fn act(action: Action) -> (&'static str, Attributes) {
    match action {
        Action::Drop => {
            let verdict = Attributes::default().number(NFTA_VERDICT_CODE, NF_DROP);
            let drop = Attributes::default()
                .number(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT)
                .nested(NFTA_IMMEDIATE_DATA, Attributes::default().nested(NFTA_DATA_VERDICT, verdict));
            ("immediate", drop)
        }
        Action::Queue(number, QueueWords::Expression) => {
            let queue = Attributes::default()
                .bytes(NFTA_QUEUE_NUM, &number.to_be_bytes())
                .bytes(NFTA_QUEUE_FLAGS, &NFT_QUEUE_FLAG_BYPASS.to_be_bytes());
            ("queue", queue)
        }
        Action::Queue(number, QueueWords::Target) => {
            let queues_total = 1_u16;
            let words = [number, queues_total, NFT_QUEUE_FLAG_BYPASS, 0].map(u16::to_ne_bytes);
            let target = Attributes::default()
                .text(NFTA_TARGET_NAME, "NFQUEUE")
                .number(NFTA_TARGET_REV, NFQUEUE_REVISION)
                .bytes(NFTA_TARGET_INFO, words.as_flattened());
            ("target", target)
        }
    }
}

/// The bytes and packets of the `counter` among a rule's expressions.
fn counter(expressions: &[u8]) -> Result<(u64, u64), NetError> {
    for (_, expression) in attributes(expressions)? {
        let expression = attributes(expression)?;
        if find(&expression, NFTA_EXPR_NAME)? == b"counter\0" {
            let data = attributes(find(&expression, NFTA_EXPR_DATA)?)?;
            let number = |kind| -> Result<u64, NetError> {
                find(&data, kind)?.try_into().map(u64::from_be_bytes).map_err(|_| NetError::Malformed)
            };
            return Ok((number(NFTA_COUNTER_BYTES)?, number(NFTA_COUNTER_PACKETS)?));
        }
    }
    Err(NetError::Malformed)
}

/// Changes take effect together, or none does. Only the last asks for an acknowledgement: the kernel
/// reports a change that failed before it, and one for each would overflow the socket's buffer when there are many.
fn batch(mut changes: Vec<Message>) -> Vec<Message> {
    let mark = |kind| Message::new(kind, NLM_F_REQUEST, 0, NFNL_SUBSYS_NFTABLES, Attributes::default());
    if let Some(last) = changes.last_mut() {
        last.add_flags(NLM_F_ACK);
    }
    changes.insert(0, mark(NFNL_MSG_BATCH_BEGIN));
    changes.push(mark(NFNL_MSG_BATCH_END));
    changes
}

fn change(kind: u16, flags: u16, attributes: Attributes) -> Message {
    Message::new(nft(kind), NLM_F_REQUEST | flags, NFPROTO_IPV4, 0, attributes)
}

fn nft(kind: u16) -> u16 {
    (NFNL_SUBSYS_NFTABLES << 8) | kind
}
