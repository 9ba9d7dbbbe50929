//! Rows of words, as many as memory permits, by number.

use crate::limits::Guard;

/// Rows never move: a full chunk is followed by the next.
pub(super) struct Entries<'g> {
    guard: &'g Guard,
    /// Words of a row.
    stride: usize,
    chunks: Vec<Vec<u64>>,
    len: u32,
    reserved_bytes: usize,
}

const CHUNK_BITS: u32 = 10;

impl<'g> Entries<'g> {
    pub fn new(guard: &'g Guard, stride: usize) -> Entries<'g> {
        Entries { guard, stride, chunks: Vec::new(), len: 0, reserved_bytes: 0 }
    }

    pub fn get(&self, entry: u32) -> &[u64] {
        debug_assert!(entry < self.len, "only a row that was added is looked at");
        let start = self.start(entry);
        &self.chunks[entry as usize >> CHUNK_BITS][start..start + self.stride]
    }

    pub fn get_mut(&mut self, entry: u32) -> &mut [u64] {
        let start = self.start(entry);
        &mut self.chunks[entry as usize >> CHUNK_BITS][start..start + self.stride]
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.len).map(|entry| self.get(entry))
    }

    /// Adds `row` and a last word; its number, or `None` if no memory is left.
    pub fn push(&mut self, row: &[u64], last: u64) -> Option<u32> {
        let entry = self.len;
        if entry as usize >> CHUNK_BITS == self.chunks.len() {
            let words = self.stride << CHUNK_BITS;
            if entry == u32::MAX - 1 || !self.guard.reserve(words * 8) {
                return None;
            }
            self.reserved_bytes += words * 8;
            self.chunks.push(Vec::with_capacity(words));
        }
        debug_assert!(row.len() + 1 == self.stride, "rows are of one length");
        let chunk = self.chunks.last_mut().expect("a chunk was just made sure of");
        chunk.extend_from_slice(row);
        chunk.push(last);
        self.len += 1;
        Some(entry)
    }

    pub fn bytes(&self) -> usize {
        self.reserved_bytes
    }

    /// Forgets everything and gives the memory back.
    pub fn clear(&mut self) {
        self.chunks = Vec::new();
        self.len = 0;
        self.guard.release(self.reserved_bytes);
        self.reserved_bytes = 0;
    }

    fn start(&self, entry: u32) -> usize {
        (entry as usize & ((1 << CHUNK_BITS) - 1)) * self.stride
    }
}

impl Drop for Entries<'_> {
    fn drop(&mut self) {
        self.guard.release(self.reserved_bytes);
    }
}
