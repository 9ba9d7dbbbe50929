//! Elections: one leader a term, and terms that observers never see go back.

use rustc_hash::FxHashMap;

/// Someone saw, between `call` and `at`, that `leader` led in `term`: the leader itself when it was elected, or an
/// observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The term.
    pub term: u64,
    /// Who led.
    pub leader: u32,
    /// When the operation was invoked.
    pub call: u64,
    /// When it returned.
    pub at: u64,
}

/// What is wrong with an election; numbers are positions in the sightings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Two leaders in one term.
    TwoLeaders {
        /// A sighting of one.
        first: u32,
        /// A sighting of the other.
        second: u32,
    },
    /// A term was seen after a later one had been.
    WentBack {
        /// The sighting of the later term, which was over first.
        later: u32,
        /// The sighting of the earlier term.
        earlier: u32,
    },
}

/// Finds the first fault in O(n log n), or none exactly if every term has one leader and some order of the sightings
/// within their intervals has terms that never decrease. Whether two leaders believed at once is
/// [`super::belief::overlaps`]'s to say.
pub fn fault(sightings: &[Sighting]) -> Option<Fault> {
    two_leaders(sightings).or_else(|| went_back(sightings))
}

fn two_leaders(sightings: &[Sighting]) -> Option<Fault> {
    let mut first_of = FxHashMap::default();
    (0..).zip(sightings).find_map(|(second, sighting)| {
        let first = *first_of.entry(sighting.term).or_insert(second);
        (sightings[first as usize].leader != sighting.leader).then_some(Fault::TwoLeaders { first, second })
    })
}

fn went_back(sightings: &[Sighting]) -> Option<Fault> {
    let mut by_return: Vec<usize> = (0..sightings.len()).collect();
    by_return.sort_by_key(|&sighting| sightings[sighting].at);
    let mut by_call: Vec<usize> = (0..sightings.len()).collect();
    by_call.sort_by_key(|&sighting| sightings[sighting].call);
    let mut over = by_return.into_iter().peekable();
    let mut highest: Option<usize> = None;
    for sighting in by_call {
        while let Some(before) = over.next_if(|&before| sightings[before].at < sightings[sighting].call) {
            if highest.is_none_or(|highest| sightings[highest].term < sightings[before].term) {
                highest = Some(before);
            }
        }
        if let Some(later) = highest.filter(|&later| sightings[later].term > sightings[sighting].term) {
            return Some(Fault::WentBack { later: later as u32, earlier: sighting as u32 });
        }
    }
    None
}
