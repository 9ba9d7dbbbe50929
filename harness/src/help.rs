//! What helps against what was broken, in the words of the recipe's own table. It decides nothing.

use checkers::{Check, rank};
use history::{
    judgement::{Help, Judgement},
    node::Role,
    verdict::{CheckResults, Verdict},
};
use nemesis::{schedule::Schedule, target::Target};
use workloads::recipes::{Gap, RecipeInfo};

use crate::experiment::Experiment;

/// Of a run: what its recipe never promised that the run's faults bring about; else what is true of every recipe.
pub fn of_run(experiment: &Experiment, judgement: &Judgement) -> Vec<Help> {
    let broken = broken(&judgement.checks);
    if broken.is_empty() {
        return Vec::new();
    }
    let mut gaps = experiment.recipe.gaps();
    gaps.retain(|gap| gap.before.is_none_or(|version| is_before(judgement.version.as_deref(), version)));
    let explained = |gap: &Gap| -> Vec<String> {
        let by = |check: &String| {
            gap.breaks().any(|(fault, breaks)| breaks == check && hits(&fault, &experiment.schedule))
        };
        broken.iter().filter(|check| by(check)).cloned().collect()
    };
    let told = gaps.into_iter().map(|gap| Help {
        checks: explained(&gap),
        never_promised: Some(gap.never_promised.to_owned()),
        prevented_by: gap.prevented_by,
    });
    let mut told: Vec<Help> = told.filter(|help| !help.checks.is_empty()).collect();
    let left: Vec<&String> =
        broken.iter().filter(|check| !told.iter().any(|help| help.checks.contains(check))).collect();
    told.extend(left.into_iter().map(|check| not_known(experiment.recipe, check)));
    told
}

/// Of a history from elsewhere.
pub fn of_history(checks: &CheckResults) -> Vec<Help> {
    let general = |check: String| {
        let prevented_by = in_general(&check).to_owned();
        Help { checks: vec![check], never_promised: None, prevented_by }
    };
    broken(checks).into_iter().map(general).collect()
}

/// In the order of reports.
fn broken(checks: &CheckResults) -> Vec<String> {
    let broken = checks.iter().filter(|(_, check)| check.verdict == Verdict::Invalid);
    let mut names: Vec<String> = broken.map(|(name, _)| name.clone()).collect();
    names.sort_by_key(|name| rank(name));
    names
}

/// Where the table has no excuse.
fn not_known(recipe: &RecipeInfo, check: &str) -> Help {
    let prevented_by = match Check::named(check) {
        // No recipe does that.
        Some(check) if check.on_occasion => check.prevented_by.to_owned(),
        _ => format!(
            "{} is not known to break this under these faults: what the check blames is where to look. {}",
            recipe.name,
            in_general(check)
        ),
    };
    Help { checks: vec![check.to_owned()], never_promised: None, prevented_by }
}

/// Whether a fault such as `pause:holder` is among those of a run. A node by name is taken for each that it may be.
fn hits(fault: &str, schedule: &Schedule) -> bool {
    let Some((kind, target)) = fault.split_once(':') else { return schedule.faults.is_empty() };
    let Ok(target) = target.parse::<Target>() else { return false };
    let may_be = |node: &str| match Role::of(node) {
        Some(Role::Server) => target.may_be_server(),
        Some(Role::Client) => {
            matches!(target, Target::Holder | Target::Waiter | Target::Client | Target::Any)
        }
        _ => target == Target::Resource,
    };
    schedule.faults.iter().any(|fault| {
        let named = fault.target.named().is_some_and(|node| may_be(node));
        let does = [Some(fault.kind()), fault.kind().info().akin];
        let does_it = does.into_iter().flatten().any(|does| does.name() == kind);
        does_it && (fault.target == target || named || fault.target == Target::Groups)
    })
}

/// Whether a version, such as `3.4.23`, is known to be older than another.
fn is_before(version: Option<&str>, than: &str) -> bool {
    let numbers = |text: &str| -> Vec<u32> { text.split('.').map_while(|part| part.parse().ok()).collect() };
    version.map(numbers).is_some_and(|version| !version.is_empty() && version < numbers(than))
}

/// What prevents it, whatever the recipe.
fn in_general(check: &str) -> &'static str {
    let unknown = "What the violation names shows who acted when, and under which fault.";
    Check::named(check).map_or(unknown, |check| check.prevented_by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(is_before(Some("3.4.23"), "3.5.0") && is_before(Some("3.4"), "3.4.31"));
        assert!(
            !is_before(Some("3.5.16"), "3.5.0") && !is_before(Some("3.10"), "3.5") && !is_before(None, "9")
        );
        assert!(!is_before(Some("any:image"), "9"));
    }
}
