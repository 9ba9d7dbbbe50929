//! What the tests of the mechanisms share.

/// Whether this test may act: it needs root. Otherwise says so, and fails where skipping is not acceptable.
pub fn is_root() -> bool {
    if nix::unistd::geteuid().is_root() {
        return true;
    }
    eprintln!("SKIPPED: this test needs root (network namespaces, ptrace)");
    assert_ne!(
        std::env::var("FENCEPOST_REQUIRE_DOCKER").as_deref(),
        Ok("1"),
        "skipping is not acceptable here"
    );
    false
}
