//! All checks.

use super::{
    availability, check::Check, crash, damage, deadline, exclusion, fencing, liveness, promise, token,
};

/// Every check, as they are listed.
pub static CHECKS: [&Check; 9] = [
    &exclusion::CHECK,
    &promise::CHECK,
    &deadline::CHECK,
    &token::CHECK,
    &fencing::CHECK,
    &damage::CHECK,
    &liveness::CHECK,
    &crash::CHECK,
    &availability::CHECK,
];

impl Check {
    /// The check with this name.
    pub fn named(name: &str) -> Option<&'static Check> {
        CHECKS.into_iter().find(|check| check.name == name)
    }
}

/// The place in reports of the check with this name; of one that is not known, after all others.
pub fn rank(name: &str) -> u32 {
    Check::named(name).map_or(u32::MAX, |check| check.rank)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_ranks_are_each_given_once() {
        let distinct = |of: fn(&Check) -> String| CHECKS.into_iter().map(of).collect::<BTreeSet<_>>().len();
        assert_eq!(distinct(|check| check.name.to_owned()), CHECKS.len());
        assert_eq!(distinct(|check| check.rank.to_string()), CHECKS.len());
    }
}
