//! What states take, for the memory limit.

/// Bytes of one block of the allocator: a header of 8, in steps of 16, at least 32, as in the GNU C library.
pub fn block(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { (bytes + 8).next_multiple_of(16).max(32) }
}

/// Bytes of the nodes of a B-tree: room for 11 entries in each, about half of it used once there are several.
pub fn b_tree(entries: usize, entry_bytes: usize) -> usize {
    let nodes = if entries <= 11 { entries.min(1) } else { entries / 6 };
    nodes * block(11 * entry_bytes + 16)
}
