use rustc_hash::FxHashSet;

use super::{At, LockTable};

/// Something was done under a grant that no answer had given: the history does not tell of every grant.
#[derive(Clone, Copy, Debug)]
pub struct Ungiven {
    /// The lock.
    pub lock: u32,
    /// Who.
    pub process: u32,
    /// The event that tells of it.
    pub at: At,
    /// The token that was used, where it is one that nobody was given.
    pub token: Option<i128>,
}

impl LockTable<'_> {
    /// Whether the grant, or its last renewal, came with this token.
    pub(super) fn has_token(&self, grant: u32, token: Option<i128>) -> bool {
        let record = &self.grants[grant as usize];
        self.given(record).token() == token || self.promises[record.promise as usize].token() == token
    }

    /// The first of these uses whose token its client was given by no answer of the whole history. O(n) in the promises,
    /// and only where there is a doubt.
    pub(super) fn first_ungiven(&self, uses: &[Ungiven]) -> Option<Ungiven> {
        if uses.is_empty() {
            return None;
        }
        let given = |promise: &super::Promise| {
            let grant = &self.grants[promise.grant as usize];
            Some((grant.client, grant.lock, promise.token()?))
        };
        let given: FxHashSet<_> = self.promises.iter().filter_map(given).collect();
        let is_given = |it: &Ungiven| {
            it.token.is_some_and(|token| given.contains(&(self.client(it.process), it.lock, token)))
        };
        uses.iter().find(|it| !is_given(it)).copied()
    }
}
