//! ZooKeeper's encoding (`zookeeper-jute/src/main/resources/zookeeper.jute` of 3.8): big-endian numbers, lengths before strings and buffers.

use crate::api::zookeeper::Stat;

/// A record being written.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn int(mut self, value: i32) -> Writer {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(super) fn long(mut self, value: i64) -> Writer {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(super) fn bool(mut self, value: bool) -> Writer {
        self.0.push(value.into());
        self
    }

    pub(super) fn buffer(self, value: &[u8]) -> Writer {
        let mut with_length = self.int(value.len() as i32);
        with_length.0.extend(value);
        with_length
    }

    pub(super) fn string(self, value: &str) -> Writer {
        self.buffer(value.as_bytes())
    }

    /// A packet: the record after its length.
    pub(super) fn packet(self) -> Vec<u8> {
        Writer::default().buffer(&self.0).0
    }
}

/// A record being read. Errors say what was missing.
pub(super) struct Reader<'a>(&'a [u8]);

/// A record is shorter than it should be, or a string in it is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed record: no {0}")]
pub(super) struct Malformed(&'static str);

impl<'a> Reader<'a> {
    pub(super) fn new(record: &'a [u8]) -> Reader<'a> {
        Reader(record)
    }

    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Malformed(what))?;
        self.0 = rest;
        Ok(*head)
    }

    pub(super) fn int(&mut self) -> Result<i32, Malformed> {
        self.take("int").map(i32::from_be_bytes)
    }

    pub(super) fn long(&mut self) -> Result<i64, Malformed> {
        self.take("long").map(i64::from_be_bytes)
    }

    /// A buffer; null reads as empty.
    pub(super) fn buffer(&mut self) -> Result<Vec<u8>, Malformed> {
        let length = usize::try_from(self.int()?).unwrap_or(0);
        let (content, rest) = self.0.split_at_checked(length).ok_or(Malformed("whole buffer"))?;
        self.0 = rest;
        Ok(content.to_vec())
    }

    pub(super) fn string(&mut self) -> Result<String, Malformed> {
        String::from_utf8(self.buffer()?).map_err(|_| Malformed("UTF-8 string"))
    }

    pub(super) fn strings(&mut self) -> Result<Vec<String>, Malformed> {
        (0..self.int()?).map(|_| self.string()).collect()
    }

    pub(super) fn stat(&mut self) -> Result<Stat, Malformed> {
        let (czxid, mzxid) = (self.long()?, self.long()?);
        let (_ctime, _mtime) = (self.long()?, self.long()?);
        let version = self.int()?;
        let (_cversion, _aversion) = (self.int()?, self.int()?);
        let ephemeral_owner = self.long()?;
        let (_data_length, _num_children, _pzxid) = (self.int()?, self.int()?, self.long()?);
        Ok(Stat { czxid, mzxid, version, ephemeral_owner })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_packet_of_a_delete() {
        // xid 3, type 2 (delete), path "/a", version -1.
        let packet = Writer::default().int(3).int(2).string("/a").int(-1).packet();
        let expected = [0, 0, 0, 18, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 2, b'/', b'a', 255, 255, 255, 255];
        assert_eq!(packet, expected);
    }

    #[test]
    fn reads_what_it_writes() {
        let packet = Writer::default().long(-5).bool(true).buffer(b"xy").string("é").int(7).packet();
        let mut reader = Reader::new(&packet[4..]);
        assert_eq!(reader.long(), Ok(-5));
        assert_eq!(reader.take::<1>("bool"), Ok([1]));
        assert_eq!(reader.buffer(), Ok(b"xy".to_vec()));
        assert_eq!(reader.string(), Ok("é".into()));
        assert_eq!(reader.int(), Ok(7));
        assert_eq!(reader.int(), Err(Malformed("int")));
    }

    #[test]
    fn reads_a_stat() {
        let mut record = Vec::new();
        for long in [1_i64, 2, 3, 4] {
            record.extend(long.to_be_bytes());
        }
        for int in [5_i32, 6, 7] {
            record.extend(int.to_be_bytes());
        }
        record.extend(8_i64.to_be_bytes());
        record.extend([0; 16]);
        let stat = Stat { czxid: 1, mzxid: 2, version: 5, ephemeral_owner: 8 };
        assert_eq!(Reader::new(&record).stat(), Ok(stat));
        assert!(Reader::new(&record[..record.len() - 1]).stat().is_err());
    }

    #[test]
    fn null_and_malformed() {
        assert_eq!(Reader::new(&[255; 4]).buffer(), Ok(vec![]));
        assert_eq!(Reader::new(&[0, 0, 0, 2, 1]).buffer(), Err(Malformed("whole buffer")));
        assert_eq!(Reader::new(&[0, 0, 0, 1, 255]).string(), Err(Malformed("UTF-8 string")));
        assert_eq!(Reader::new(&[127, 255, 255, 255]).strings(), Err(Malformed("int")));
    }
}
