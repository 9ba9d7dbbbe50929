//! Where a packet bears what rules and queues look at: offsets in the headers of IPv4 (RFC 791) and TCP (RFC 9293), in
//! bytes.

/// In the IPv4 header: the protocol of what it carries.
pub const PROTOCOL: u32 = 9;
/// The address that it comes from.
pub const SOURCE: u32 = 12;
/// The address that it goes to.
pub const DESTINATION: u32 = 16;
/// The number of TCP among protocols.
pub const TCP: u8 = 6;
/// In the TCP header: the port that it comes from, and the one that it goes to.
pub const PORTS: [u32; 2] = [0, 2];
