//! A resource that takes requests only with the highest token so far.

/// A request to a fenced resource that was answered between `call` and `at`. Leave indeterminate ones out only if they
/// were refused or never sent; give those that may have been taken as [`Answer::Maybe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its token.
    pub token: i128,
    /// When it was invoked.
    pub call: u64,
    /// When it returned; `u64::MAX` if it did not.
    pub at: u64,
    /// What the resource did.
    pub answer: Answer,
}

/// What a fenced resource does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Took it.
    Accepted,
    /// Refused it: its token was too low.
    Rejected,
    /// Nobody knows.
    Maybe,
}

/// How the guard failed; numbers are positions in the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// A lower token was taken although a higher one certainly had been before.
    TookStale {
        /// The request with the lower token.
        stale: u32,
        /// The one with the higher token.
        newer: u32,
    },
    /// A token was refused before any higher one can have been taken.
    RefusedCurrent {
        /// The request.
        refused: u32,
    },
}

/// Finds the first breach in O(n log n), or none exactly if the answers can come from a guard that takes a request
/// exactly if no higher token was taken before.
pub fn breach(requests: &[Request]) -> Option<Breach> {
    breaches(requests).into_iter().next()
}

/// Finds every request that was wrongly taken, in order of invocation, then every one that was wrongly refused. In
/// O(n log n).
pub fn breaches(requests: &[Request]) -> Vec<Breach> {
    let mut breaches = took_stale(requests);
    breaches.extend(refused_current(requests));
    breaches
}

fn took_stale(requests: &[Request]) -> Vec<Breach> {
    let accepted = || (0..requests.len()).filter(|&request| requests[request].answer == Answer::Accepted);
    let mut by_return: Vec<usize> = accepted().collect();
    by_return.sort_by_key(|&request| requests[request].at);
    let mut by_call: Vec<usize> = accepted().collect();
    by_call.sort_by_key(|&request| requests[request].call);
    let mut over = by_return.into_iter().peekable();
    let mut highest: Option<usize> = None;
    let mut stale = Vec::new();
    for request in by_call {
        while let Some(before) = over.next_if(|&before| requests[before].at < requests[request].call) {
            if highest.is_none_or(|highest| requests[highest].token < requests[before].token) {
                highest = Some(before);
            }
        }
        if let Some(newer) = highest.filter(|&newer| requests[newer].token > requests[request].token) {
            stale.push(Breach::TookStale { stale: request as u32, newer: newer as u32 });
        }
    }
    stale
}

/// Accepts act as early as order permits: at the latest invocation among those of lower tokens and its own.
fn refused_current(requests: &[Request]) -> Vec<Breach> {
    let mut by_token: Vec<usize> = (0..requests.len()).collect();
    by_token.sort_by_key(|&request| requests[request].token);
    // From the highest token down: the earliest instant at which any higher token can have been taken.
    let mut earliest = vec![0; requests.len()];
    let mut latest_call = 0;
    for group in by_token.chunk_by(|&a, &b| requests[a].token == requests[b].token) {
        let calls = group.iter().filter(|&&request| requests[request].answer == Answer::Accepted);
        for &request in group {
            earliest[request] = latest_call.max(requests[request].call);
        }
        latest_call = calls.map(|&request| requests[request].call).max().unwrap_or(0).max(latest_call);
    }
    let mut higher = None;
    let mut refused = Vec::new();
    for group in by_token.chunk_by(|&a, &b| requests[a].token == requests[b].token).rev() {
        let too_early = |&&request: &&usize| {
            requests[request].answer == Answer::Rejected
                && higher.is_none_or(|higher| requests[request].at < higher)
        };
        let breach = |&request: &usize| Breach::RefusedCurrent { refused: request as u32 };
        refused.extend(group.iter().filter(too_early).map(breach));
        let taken = group.iter().filter(|&&request| requests[request].answer != Answer::Rejected);
        higher = taken.map(|&request| earliest[request]).chain(higher).min();
    }
    refused
}
