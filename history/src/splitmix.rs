//! The step of the seeded generator that stands behind every choice: schedules, a node's chance, a simulation.
//!
//! SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014), with the constants
//! of Vigna's public-domain reference. Written out here so that no dependency's new version can change a draw.

/// What the state grows by.
pub const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The next 64 bits of the stream whose state this is.
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(GAMMA);
    mix(*state)
}

/// The finalizer: a bijection that scatters neighbouring numbers.
pub fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_splitmix64() {
        // First outputs of the reference implementation for seed 1234567.
        let mut state = 1_234_567;
        let drawn: Vec<u64> = (0..3).map(|_| next(&mut state)).collect();
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
