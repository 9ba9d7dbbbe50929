/// Whether the indexes that the source gave are dense.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Indexes {
    /// Index that row 0 would have.
    base: Option<i128>,
    /// Whether any index is other than 0: a recorder that has not yet numbered its events writes 0.
    numbered: bool,
    /// First row that does not fit, and its index.
    broken: Option<(u64, u64)>,
    /// Those of the first and of the last row that had any.
    ends: Option<(u64, u64)>,
    /// First row whose index is not above that of the row before, and its index.
    backwards: Option<(u64, u64)>,
}

impl Indexes {
    /// Takes up the index that the source gave a row.
    pub(super) fn add(&mut self, row: u64, index: u64) {
        self.numbered |= index != 0;
        let (first, last) = self.ends.unwrap_or((index, index));
        if self.ends.is_some() && index <= last && self.backwards.is_none() {
            self.backwards = Some((row, index));
        }
        self.ends = Some((first, index));
        let base = i128::from(index) - i128::from(row);
        if *self.base.get_or_insert(base) != base && self.broken.is_none() {
            self.broken = Some((row, index));
        }
    }

    /// Takes up the indexes of the rows that follow the first `rows`.
    pub(super) fn append(&mut self, rows: u64, next: Indexes) {
        self.numbered |= next.numbered;
        let Some(base) = next.base.map(|base| base - i128::from(rows)) else { return };
        if let Some((first, last)) = next.ends {
            let at_seam = self.ends.filter(|(_, before)| first <= *before).map(|_| (rows, first));
            let within = next.backwards.map(|(row, index)| (row + rows, index));
            self.backwards = self.backwards.or(at_seam).or(within);
            self.ends = Some((self.ends.map_or(first, |(first, _)| first), last));
        }
        let broken = next.broken.map(|(row, index)| (row + rows, index));
        let fits = *self.base.get_or_insert(base) == base;
        self.broken =
            self.broken.or(if fits { broken } else { Some((rows, (base + i128::from(rows)) as u64)) });
    }

    pub(super) fn numbered(&self) -> bool {
        self.numbered
    }

    /// The first row whose index is not above that of the row before, with that index.
    pub(crate) fn backwards(&self) -> Option<(u64, u64)> {
        self.backwards.filter(|_| self.numbered)
    }

    /// The first row whose index is not its position, with that index.
    pub(crate) fn broken(&self) -> Option<(u64, u64)> {
        if !self.numbered {
            return None;
        }
        match self.base {
            Some(base) if base != 0 => Some((0, u64::try_from(base).unwrap_or(0))),
            _ => self.broken,
        }
    }
}
