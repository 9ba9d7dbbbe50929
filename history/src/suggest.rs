//! "Did you mean …?"

/// Bytes of what may be a name misspelt; likening longer texts takes for ever.
const NAME_MAX: usize = 100;

/// The candidate closest to what was written, if any is close enough to be meant.
pub fn closest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter(|_| written.len() <= NAME_MAX)
        .map(|candidate| (strsim::jaro_winkler(written, candidate), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// `; did you mean …?` or nothing, to end an error with.
pub fn hint<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest(written, candidates).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_close() {
        assert_eq!(closest("pasue", ["kill", "pause"]), Some("pause"));
        assert_eq!(closest(&"pause".repeat(1_000_000), ["pause"]), None);
        assert_eq!(hint("xyz", ["kill", "pause"]), "");
    }
}
