//! Time from top to bottom. Silence is shortened, so that a pause of seconds does not hide messages of microseconds.

/// Pixels for a millisecond.
const SCALE: f64 = 40.0;
/// Pixels between two moments at the most: longer silence is shortened to this.
const GAP_MAX: f64 = 34.0;
/// Pixels from one sending to what comes before it, so that its words can be read.
const ROW: f64 = 13.0;
/// Pixels between other moments at the least.
const GAP_MIN: f64 = 2.0;

/// Heights of moments.
pub struct Axis {
    /// Ascending: nanoseconds since the run began, pixels from the top, whether silence before it was shortened.
    marks: Vec<(u64, f64, bool)>,
}

impl Axis {
    /// An axis that begins at `top` pixels and has room for every one of `sent` to be read, and for `others` to be
    /// told apart.
    pub fn new(top: f64, sent: impl Iterator<Item = u64>, others: impl Iterator<Item = u64>) -> Axis {
        let mut moments: Vec<(u64, f64)> =
            sent.map(|at| (at, ROW)).chain(others.map(|at| (at, GAP_MIN))).collect();
        moments.sort_by(|a, b| (a.0, b.1).partial_cmp(&(b.0, a.1)).unwrap_or(std::cmp::Ordering::Equal));
        // What happens at one instant stands at one height, with the room that the neediest of it takes.
        moments.dedup_by_key(|(at, _)| *at);
        let mut marks: Vec<(u64, f64, bool)> = Vec::with_capacity(moments.len());
        for (at, room) in moments {
            match marks.last().copied() {
                None => marks.push((at, top, false)),
                Some((before, y, _)) => {
                    let due = (at - before) as f64 * SCALE / 1e6;
                    marks.push((at, y + due.clamp(room, GAP_MAX), due > GAP_MAX));
                }
            }
        }
        Axis { marks }
    }

    /// The height of a moment; between two marks by share.
    pub fn y(&self, at: u64) -> f64 {
        let next = self.marks.partition_point(|(mark, ..)| *mark < at);
        match (next.checked_sub(1).and_then(|i| self.marks.get(i)), self.marks.get(next)) {
            (_, Some((mark, y, _))) if *mark == at => *y,
            (Some((t0, y0, _)), Some((t1, y1, _))) => {
                y0 + (y1 - y0) * ((at - t0) as f64 / (t1 - t0).max(1) as f64)
            }
            (Some((_, y, _)), None) | (None, Some((_, y, _))) => *y,
            (None, None) => 0.0,
        }
    }

    /// The lowest moment's height.
    pub fn bottom(&self) -> f64 {
        self.marks.last().map_or(0.0, |(_, y, _)| *y)
    }

    /// Moments to write the time at, about `every` pixels apart, and behind each shortened silence.
    pub fn ticks(&self, every: f64) -> Vec<(u64, f64, bool)> {
        let mut ticks: Vec<(u64, f64, bool)> = Vec::new();
        for &(at, y, shortened) in &self.marks {
            let room =
                ticks.last().is_none_or(|(_, last, _)| y - last >= if shortened { ROW } else { every });
            if room {
                ticks.push((at, y, shortened));
            }
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_runs_backwards_and_silence_is_shortened() {
        let sent = [0, 100_000, 100_000, 5_000_000_000];
        let axis = Axis::new(10.0, sent.into_iter(), [150_000].into_iter());
        let heights: Vec<f64> = [0, 100_000, 150_000, 5_000_000_000].map(|at| axis.y(at)).into();
        assert!(heights.is_sorted(), "{heights:?}");
        assert!((axis.y(0) - 10.0).abs() < 1e-9);
        let replied = Axis::new(0.0, [0, 50_000].into_iter(), [50_000].into_iter());
        assert!(replied.y(50_000) >= ROW, "an answer at the instant of the question's arrival has room");
        assert!(axis.bottom() < 100.0, "five seconds of silence take {}", axis.bottom());
        assert!(axis.ticks(60.0).iter().any(|(at, _, shortened)| *at == 5_000_000_000 && *shortened));
        assert!(axis.y(2_000_000_000) > axis.y(150_000) && axis.y(2_000_000_000) < axis.bottom());
    }
}
