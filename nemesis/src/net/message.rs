//! Netlink messages, byte by byte: `struct nlmsghdr` and `struct nlattr` of <linux/netlink.h>, `struct nfgenmsg` of
//! <linux/netfilter/nfnetlink.h>. Headers are in the machine's byte order, nf_tables' numbers in the network's.

use super::NetError;

/// Bytes of a `struct nlmsghdr`.
pub const HEADER: usize = 16;
/// Bytes of a `struct nfgenmsg`, which follows it in every message of netfilter.
const FAMILY_HEADER: usize = 4;
/// Bytes of a `struct nlattr`.
const ATTRIBUTE: usize = 4;
const NLA_F_NESTED: u16 = 0x8000;

/// In the header of a request: that it is one.
pub const NLM_F_REQUEST: u16 = 0x1;
/// That it is to be acknowledged.
pub const NLM_F_ACK: u16 = 0x4;
/// The type of an answer that is an error, or an acknowledgement.
pub const NLMSG_ERROR: u16 = 2;

/// A message under construction.
pub struct Message(Vec<u8>);

/// The attributes of a message, or nested in an attribute.
#[derive(Default)]
pub struct Attributes(Vec<u8>);

impl Message {
    /// `kind` and `flags` as in the header; `family` and `resource` as in `struct nfgenmsg`.
    pub fn new(kind: u16, flags: u16, family: u8, resource: u16, attributes: Attributes) -> Message {
        let length = (HEADER + FAMILY_HEADER + attributes.0.len()) as u32;
        let mut bytes = Vec::with_capacity(length as usize);
        bytes.extend(length.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(flags.to_ne_bytes());
        bytes.extend([0; 8]); // sequence number (set when sent) and port
        bytes.extend([family, 0]); // NFNETLINK_V0
        bytes.extend(resource.to_be_bytes());
        bytes.extend(attributes.0);
        Message(bytes)
    }

    /// Sets further flags in the header.
    pub fn add_flags(&mut self, flags: u16) {
        let flags = u16::from_ne_bytes([self.0[6], self.0[7]]) | flags;
        self.0[6..8].copy_from_slice(&flags.to_ne_bytes());
    }

    /// The bytes to send under this sequence number.
    pub fn numbered(mut self, sequence: u32) -> Vec<u8> {
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.0
    }
}

impl Attributes {
    /// Adds raw bytes, padded to four.
    pub fn bytes(self, kind: u16, value: &[u8]) -> Attributes {
        self.push(kind, value)
    }

    /// Adds a string and its final zero.
    pub fn text(self, kind: u16, value: &str) -> Attributes {
        self.push(kind, &[value.as_bytes(), &[0]].concat())
    }

    /// Adds a number in network order.
    pub fn number(self, kind: u16, value: u32) -> Attributes {
        self.push(kind, &value.to_be_bytes())
    }

    /// Adds attributes within an attribute.
    pub fn nested(self, kind: u16, inner: Attributes) -> Attributes {
        self.push(kind | NLA_F_NESTED, &inner.0)
    }

    fn push(mut self, kind: u16, value: &[u8]) -> Attributes {
        let length = (ATTRIBUTE + value.len()) as u16;
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
}

/// A message received, without its header.
pub struct Received {
    /// `nlmsg_type`.
    pub kind: u16,
    /// What follows the header.
    pub body: Vec<u8>,
}

impl Received {
    /// Takes apart what one read returned.
    pub fn split(mut bytes: &[u8]) -> Result<Vec<Received>, NetError> {
        let mut messages = Vec::new();
        while !bytes.is_empty() {
            let length = u32_at(bytes, 0)? as usize;
            let body = bytes.get(HEADER..length).ok_or(NetError::Malformed)?.to_vec();
            messages.push(Received { kind: u16_at(bytes, 4)?, body });
            bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(messages)
    }

    /// The `errno` of an error message; 0 is an acknowledgement.
    pub fn errno(&self) -> Result<i32, NetError> {
        Ok((u32_at(&self.body, 0)? as i32).wrapping_neg())
    }

    /// The attributes of a message of netfilter.
    pub fn attributes(&self) -> Result<Vec<(u16, &[u8])>, NetError> {
        attributes(self.body.get(FAMILY_HEADER..).ok_or(NetError::Malformed)?)
    }
}

/// Takes apart attributes: kind without the nesting flag, and value.
pub fn attributes(mut bytes: &[u8]) -> Result<Vec<(u16, &[u8])>, NetError> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = usize::from(u16_at(bytes, 0)?);
        let value = bytes.get(ATTRIBUTE..length).ok_or(NetError::Malformed)?;
        found.push((u16_at(bytes, 2)? & !NLA_F_NESTED, value));
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(found)
}

/// The value of the attribute of this kind.
pub fn find<'a>(attributes: &[(u16, &'a [u8])], kind: u16) -> Result<&'a [u8], NetError> {
    attributes.iter().find(|(found, _)| *found == kind).map(|(_, value)| *value).ok_or(NetError::Malformed)
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, NetError> {
    let bytes = bytes.get(at..at + 2).ok_or(NetError::Malformed)?;
    Ok(u16::from_ne_bytes([bytes[0], bytes[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, NetError> {
    let bytes = bytes.get(at..at + 4).ok_or(NetError::Malformed)?;
    Ok(u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let inner = Attributes::default().number(1, 7).text(2, "abc");
        let message = Message::new(0x0a06, 5, 2, 0, Attributes::default().nested(4, inner).bytes(7, &[1]));
        let bytes = message.numbered(9);
        let received = Received::split(&[bytes.clone(), bytes].concat()).unwrap();
        assert_eq!((received.len(), received[1].kind), (2, 0x0a06));
        let outer = received[0].attributes().unwrap();
        assert_eq!(outer[1], (7, &[1][..]));
        assert_eq!(attributes(outer[0].1).unwrap(), [(1, &[0, 0, 0, 7][..]), (2, &b"abc\0"[..])]);
    }

    #[test]
    fn short_answers_are_errors() {
        assert!(Received::split(&[40, 0, 0, 0, 1]).is_err());
        assert!(attributes(&[2, 0, 1, 0]).is_err(), "an attribute shorter than its header");
        assert!(Received { kind: 2, body: vec![1] }.errno().is_err());
    }
}
