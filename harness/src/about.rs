//! What reports are told of checks and faults, which they do not know.

use checkers::Check;
use history::{
    judgement::FaultRecord,
    verdict::{About, CheckResults},
};
use nemesis::kind::FaultKind;

/// Each check that is told nothing of yet, what it says of itself now.
pub fn of_checks(checks: &mut CheckResults) {
    for (name, result) in checks {
        let known = Check::named(name).filter(|_| result.about == About::default());
        result.about = known.map_or_else(|| result.about.clone(), Check::told);
    }
}

/// Each fault of a kind that is known and that is told nothing of yet, its phrase and what its nodes showed.
pub fn of_faults(faults: &mut [FaultRecord]) {
    for fault in faults.iter_mut().filter(|fault| fault.phrase.is_empty()) {
        if let Ok(kind) = fault.kind.parse::<FaultKind>() {
            fault.phrase = kind.phrase(&fault.targets);
            fault.shown = kind.shown(&fault.evidence);
        }
    }
}
