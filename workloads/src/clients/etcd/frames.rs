//! gRPC's framing: a message is a flag byte, its length in four bytes, its bytes.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::HeaderMap;
use prost::Message;

/// Longer messages are malformed (gRPC's own limit where none is set).
const LENGTH_MAX: usize = 4 << 20;

/// One message in its frame.
pub(super) fn encode(message: &impl Message) -> Bytes {
    let mut frame = BytesMut::with_capacity(5 + message.encoded_len());
    frame.put_u8(0);
    frame.put_u32(message.encoded_len() as u32);
    frame.extend_from_slice(&message.encode_to_vec());
    frame.freeze()
}

/// Takes the next whole message off `received`; `None` while it is incomplete.
pub(super) fn decode<M: Message + Default>(received: &mut BytesMut) -> Result<Option<M>, String> {
    let Some((head, rest)) = received.split_at_checked(5) else { return Ok(None) };
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    if head[0] != 0 || length > LENGTH_MAX {
        return Err("malformed answer: a compressed or oversized message".into());
    }
    if rest.len() < length {
        return Ok(None);
    }
    received.advance(5);
    let message = received.split_to(length);
    M::decode(message).map(Some).map_err(|error| format!("malformed answer: {error}"))
}

/// The status in headers or trailers, if it is there: its code and message.
pub(super) fn status(headers: &HeaderMap) -> Option<(u32, String)> {
    let code = headers.get("grpc-status")?.to_str().ok()?.parse().ok()?;
    let message = headers.get("grpc-message").map(|message| percent_decoded(message.as_bytes()));
    Some((code, message.unwrap_or_default()))
}

fn percent_decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = (byte == b'%').then(|| after.get(..2)).flatten();
        let escaped =
            escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::messages::LeaseId;
    use super::*;

    #[test]
    fn a_message_goes_through_its_frame() {
        let frame = encode(&LeaseId { id: 5 });
        assert_eq!(&frame[..], [0, 0, 0, 0, 2, 0x08, 5]);
        for end in 0..frame.len() {
            assert_eq!(decode::<LeaseId>(&mut BytesMut::from(&frame[..end])), Ok(None));
        }
        let mut two = BytesMut::from(&[&frame[..], &frame[..]].concat()[..]);
        assert_eq!(decode(&mut two), Ok(Some(LeaseId { id: 5 })));
        assert_eq!(decode(&mut two), Ok(Some(LeaseId { id: 5 })));
        assert!(two.is_empty());
    }

    #[test]
    fn refuses_what_is_malformed() {
        assert!(decode::<LeaseId>(&mut BytesMut::from(&[1, 0, 0, 0, 0][..])).is_err());
        assert!(decode::<LeaseId>(&mut BytesMut::from(&[0, 255, 255, 255, 255][..])).is_err());
        let claims = |length: u32| [&[0][..], &length.to_be_bytes()].concat();
        assert!(decode::<LeaseId>(&mut BytesMut::from(&claims((4 << 20) + 1)[..])).is_err());
        assert_eq!(decode::<LeaseId>(&mut BytesMut::from(&claims(4 << 20)[..])), Ok(None), "may still come");
        assert!(decode::<LeaseId>(&mut BytesMut::from(&[0, 0, 0, 0, 1, 0x08][..])).is_err());
    }

    #[test]
    fn reads_a_status() {
        let mut headers = HeaderMap::new();
        assert_eq!(status(&headers), None);
        headers.insert("grpc-status", "14".parse().unwrap());
        headers.insert("grpc-message", "no%20leader %zz%".parse().unwrap());
        assert_eq!(status(&headers), Some((14, "no leader %zz%".into())));
    }
}
