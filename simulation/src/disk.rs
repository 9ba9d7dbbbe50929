//! A disk: what was written, and how much of it would survive a power cut.

use std::{cell::RefCell, rc::Rc};

/// An append-only file of records with a mark: what lies before the mark is synced.
#[derive(Debug)]
pub struct Disk<T>(Rc<RefCell<File<T>>>);

#[derive(Debug)]
struct File<T> {
    records: Vec<T>,
    synced: usize,
}

impl<T> Clone for Disk<T> {
    fn clone(&self) -> Self {
        Disk(self.0.clone())
    }
}

impl<T> Default for Disk<T> {
    fn default() -> Self {
        Disk(Rc::new(RefCell::new(File { records: Vec::new(), synced: 0 })))
    }
}

impl<T: Clone> Disk<T> {
    /// Appends a record; it is in the kernel's cache, so it survives the process, not the machine.
    pub fn append(&self, record: T) {
        let mut file = self.0.borrow_mut();
        file.records.push(record);
        assert!(file.synced < file.records.len(), "what was just written is not synced");
    }

    /// Replaces everything with `records`, unsynced.
    pub fn replace(&self, records: Vec<T>) {
        *self.0.borrow_mut() = File { records, synced: 0 };
    }

    /// Cuts the file to its first `len` records.
    pub fn truncate(&self, len: usize) {
        let mut file = self.0.borrow_mut();
        file.records.truncate(len);
        file.synced = file.synced.min(len);
        assert!(file.synced <= file.records.len(), "no more is synced than was written");
    }

    /// Everything written so far is safe.
    pub fn sync(&self) {
        let mut file = self.0.borrow_mut();
        file.synced = file.records.len();
    }

    /// Loses what was not synced; returns how many records that were.
    pub fn lose_unsynced(&self) -> usize {
        let mut file = self.0.borrow_mut();
        assert!(file.synced <= file.records.len(), "no more is synced than was written");
        let lost = file.records.len() - file.synced;
        let synced = file.synced;
        file.records.truncate(synced);
        lost
    }

    /// Everything, as a starting process reads it.
    pub fn read(&self) -> Vec<T> {
        self.0.borrow().records.clone()
    }

    /// Records not yet synced.
    pub fn unsynced(&self) -> usize {
        let file = self.0.borrow();
        assert!(file.synced <= file.records.len(), "no more is synced than was written");
        file.records.len() - file.synced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_synced_records_survive() {
        let disk = Disk::default();
        disk.append(1);
        disk.sync();
        disk.append(2);
        assert_eq!((disk.unsynced(), disk.lose_unsynced(), disk.read()), (1, 1, vec![1]));
        disk.append(3);
        disk.truncate(1);
        assert_eq!((disk.unsynced(), disk.read()), (0, vec![1]));
    }
}
