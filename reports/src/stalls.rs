//! What stood still though no fault of the run did that, in words.

use history::stalls::{HARNESS, Stalls};

use crate::words;

/// `stalls: 3, 212 ms in all, longest 140 ms on c2`; none where nothing stood still.
pub fn in_words(stalls: &Stalls) -> Option<String> {
    let longest = stalls.nodes.iter().find(|(_, of)| of.longest_ms >= stalls.longest_ms);
    let (node, _) = longest.filter(|_| stalls.count > 0)?;
    let on = if node == HARNESS { "of the harness".to_owned() } else { format!("on {node}") };
    let [total, longest] = [stalls.total_ms, stalls.longest_ms].map(words::ms);
    Some(format!("stalls: {}, {total} in all, longest {longest} {on}", stalls.count))
}

#[cfg(test)]
mod tests {
    use history::stalls::Stall;

    use super::*;

    const MS: u64 = 1_000_000;

    fn stall(node: &str, from_ms: u64, to_ms: u64) -> Stall {
        Stall { node: node.into(), from_ns: from_ms * MS, to_ns: to_ms * MS }
    }

    #[test]
    fn the_longest_is_named() {
        let stalls = [stall("c2", 100, 240), stall("s1", 200, 300), stall("c2", 1000, 1012)];
        let told = |stalls: &[Stall]| in_words(&Stalls::new(stalls));
        assert_eq!(told(&stalls).as_deref(), Some("stalls: 3, 212 ms in all, longest 140 ms on c2"));
        assert_eq!(
            told(&[stall(HARNESS, 0, 30_000)]).as_deref(),
            Some("stalls: 1, 30.0 s in all, longest 30.0 s of the harness")
        );
        assert_eq!(in_words(&Stalls::default()), None);
    }
}
