use serde_json::Value as Json;

use super::names::NameCache;

/// First byte of a packed value. Whatever is not listed: `0x40..=0x7f` a string of 0 to 63 bytes, `0x80..=0xff`
/// a whole number from 0 to 127.
pub(super) mod tag {
    pub const END: u8 = 0;
    pub const NULL: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const TRUE: u8 = 3;
    /// Zigzag varint.
    pub const INT: u8 = 4;
    /// Varint, above `i64::MAX`.
    pub const UINT: u8 = 5;
    pub const FLOAT: u8 = 6;
    pub const STRING: u8 = 7;
    pub const KEYWORD: u8 = 8;
    pub const SYMBOL: u8 = 9;
    pub const CHAR: u8 = 10;
    /// A number beyond the machine's, as text: whole beyond 64 bits, ratio, decimal.
    pub const NUMBER: u8 = 11;
    pub const ARRAY: u8 = 12;
    pub const LIST: u8 = 13;
    pub const SET: u8 = 14;
    pub const OBJECT: u8 = 15;
    /// The tag's name as a string, then the tagged value.
    pub const TAGGED: u8 = 16;
    pub const SHORT_STRING: u8 = 0x40;
    pub const SMALL_INT: u8 = 0x80;
}

/// How an object's key is written, before its value.
pub(super) mod key {
    pub const END: u64 = 0;
    pub const INLINE: u64 = 1;
    /// A key that is no plain name: a packed value follows.
    pub const VALUE: u64 = 2;
    pub const FIRST_NAME: u64 = 3;
}

/// Writes packed values at the end of an arena.
pub(crate) struct Encoder<'a> {
    pub(super) arena: &'a mut Vec<u8>,
    pub(super) names: &'a mut NameCache,
}

impl Encoder<'_> {
    /// Where the next value begins.
    pub(crate) fn mark(&self) -> usize {
        self.arena.len()
    }

    /// Forgets what was written since the mark.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.arena.truncate(mark);
    }

    pub(crate) fn null(&mut self) {
        self.arena.push(tag::NULL);
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.arena.push(if value { tag::TRUE } else { tag::FALSE });
    }

    pub(crate) fn int(&mut self, value: i64) {
        if (0..128).contains(&value) {
            self.arena.push(tag::SMALL_INT | value as u8);
        } else {
            self.arena.push(tag::INT);
            self.varint(((value << 1) ^ (value >> 63)) as u64);
        }
    }

    pub(crate) fn uint(&mut self, value: u64) {
        if let Ok(value) = i64::try_from(value) {
            self.int(value);
        } else {
            self.arena.push(tag::UINT);
            self.varint(value);
        }
    }

    pub(crate) fn float(&mut self, value: f64) {
        self.arena.push(tag::FLOAT);
        self.arena.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn string(&mut self, text: &str) {
        if text.len() < 64 {
            self.arena.push(tag::SHORT_STRING | text.len() as u8);
            self.arena.extend_from_slice(text.as_bytes());
        } else {
            self.text(tag::STRING, text);
        }
    }

    /// The string that the bytes begin with, so long; they are copied as a whole, which costs less than to copy so many.
    pub(crate) fn brief(&mut self, bytes: &[u8; 15], length: usize) {
        let mut packed = [tag::SHORT_STRING | length as u8; 16];
        packed[1..].copy_from_slice(bytes);
        self.padded(packed, 1 + length);
    }

    pub(crate) fn keyword(&mut self, name: &str) {
        self.text(tag::KEYWORD, name);
    }

    pub(crate) fn symbol(&mut self, name: &str) {
        self.text(tag::SYMBOL, name);
    }

    pub(crate) fn char(&mut self, value: char) {
        self.text(tag::CHAR, value.encode_utf8(&mut [0; 4]));
    }

    /// A number that no machine number holds, such as `1/3` or `123456789012345678901234567890`.
    pub(crate) fn number(&mut self, text: &str) {
        self.text(tag::NUMBER, text);
    }

    pub(crate) fn begin_array(&mut self) {
        self.arena.push(tag::ARRAY);
    }

    pub(crate) fn begin_list(&mut self) {
        self.arena.push(tag::LIST);
    }

    pub(crate) fn begin_set(&mut self) {
        self.arena.push(tag::SET);
    }

    /// Ends an array, a list or a set.
    pub(crate) fn end(&mut self) {
        self.arena.push(tag::END);
    }

    pub(crate) fn begin_object(&mut self) {
        self.arena.push(tag::OBJECT);
    }

    /// A plain key of an object; its value follows.
    pub(crate) fn key(&mut self, key: &str) {
        if let Some(id) = self.names.key(key) {
            self.varint(u64::from(id) + key::FIRST_NAME);
        } else {
            self.varint(key::INLINE);
            self.varint(key.len() as u64);
            self.arena.extend_from_slice(key.as_bytes());
        }
    }

    /// Announces a key that is itself a value; that value follows, then the value it leads to.
    pub(crate) fn value_key(&mut self) {
        self.varint(key::VALUE);
    }

    pub(crate) fn end_object(&mut self) {
        self.varint(key::END);
    }

    /// Announces a tagged value, which follows.
    pub(crate) fn tagged(&mut self, name: &str) {
        self.text(tag::TAGGED, name);
    }

    /// A value that is packed already, with the same names.
    pub(super) fn packed(&mut self, bytes: &[u8]) {
        self.arena.extend_from_slice(bytes);
    }

    pub(super) fn packed_or_null(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.packed(bytes),
            None => self.null(),
        }
    }

    pub(crate) fn json(&mut self, value: &Json) {
        match value {
            Json::Null => self.null(),
            Json::Bool(value) => self.bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(value), ..) => self.int(value),
                (_, Some(value), _) => self.uint(value),
                (.., value) => self.float(value.unwrap_or(f64::NAN)),
            },
            Json::String(text) => self.string(text),
            Json::Array(items) => {
                self.begin_array();
                items.iter().for_each(|item| self.json(item));
                self.end();
            }
            Json::Object(entries) => {
                self.begin_object();
                for (key, value) in entries {
                    self.key(key);
                    self.json(value);
                }
                self.end_object();
            }
        }
    }

    fn text(&mut self, tag: u8, text: &str) {
        self.arena.push(tag);
        self.varint(text.len() as u64);
        self.arena.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn varint(&mut self, value: u64) {
        if value < 128 { self.arena.push(value as u8) } else { self.wide_varint(value) }
    }

    fn wide_varint(&mut self, value: u64) {
        if value >> 56 == 0 {
            let (bytes, length) = spread(value);
            self.padded(bytes, length);
        } else {
            self.long_varint(value);
        }
    }

    fn long_varint(&mut self, mut value: u64) {
        while value >= 128 {
            self.arena.push(value as u8 | 128);
            value >>= 7;
        }
        self.arena.push(value as u8);
    }

    /// The first so many of the bytes.
    fn padded<const N: usize>(&mut self, bytes: [u8; N], length: usize) {
        let end = self.arena.len() + length;
        self.arena.extend_from_slice(&bytes);
        self.arena.truncate(end);
    }
}

/// A number below 2⁵⁶ as a varint, and the length of that: its seven bits a byte are parted in three halvings.
fn spread(value: u64) -> ([u8; 8], usize) {
    let fours = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let pairs = fours & 0x0000_3fff_0000_3fff | (fours & 0x0fff_c000_0fff_c000) << 2;
    let ones = pairs & 0x007f_007f_007f_007f | (pairs & 0x3f80_3f80_3f80_3f80) << 1;
    let last = (63 - (ones | 1).leading_zeros()) / 8;
    let more = 0x8080_8080_8080_8080 & ((1 << (8 * last)) - 1);
    ((ones | more).to_le_bytes(), last as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::super::names::SharedNames;
    use super::*;

    #[test]
    fn a_varint_is_the_same_whichever_way_it_is_written() {
        let around = |power: u32| [(1_u64 << power) - 1, 1 << power, (1 << power) | 0x55];
        for value in (0..64).flat_map(around).chain([u64::MAX, 0x0123_4567_89ab_cdef]) {
            let mut names = NameCache::new(&SharedNames::default());
            let (mut quick, mut slow) = (vec![7], vec![7]);
            Encoder { arena: &mut quick, names: &mut names }.varint(value);
            Encoder { arena: &mut slow, names: &mut names }.long_varint(value);
            assert_eq!(quick, slow, "{value}");
        }
    }
}
