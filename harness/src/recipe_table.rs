//! The README's table of recipes, made from what their own tables say: `cargo run -p fencepost --example recipe_table`.

use std::collections::{BTreeMap, BTreeSet};

use checkers::rank;
use workloads::recipes::{self, RecipeInfo};

/// In Markdown: every recipe that is not wrong by design.
pub fn markdown() -> String {
    let mut text = String::from(
        "| recipe | looks at its clock | what it does | what it promises | what may break, and under which faults |\n|---|---|---|---|---|\n",
    );
    for recipe in recipes::all().filter(|recipe| recipe.broken.is_none()) {
        text.push_str(&row([
            format!("`{}`", recipe.name),
            if recipe.aware { "yes" } else { "no" }.to_owned(),
            recipe.summary.to_owned(),
            recipe.promise(),
            may_break(recipe),
        ]));
    }
    text
}

fn row<const N: usize>(cells: [String; N]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Faults with the same checks together: ``exclusion, damage: `pause:` holder, client``.
fn may_break(recipe: &RecipeInfo) -> String {
    let mut by_checks: BTreeMap<Vec<&str>, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for (fault, checks) in recipe.may_break() {
        let (kind, target) = fault.split_once(':').unwrap_or((&fault, ""));
        by_checks
            .entry(in_order(checks))
            .or_default()
            .entry(kind.to_owned())
            .or_default()
            .push(target.to_owned());
    }
    let mut groups: Vec<_> = by_checks.into_iter().collect();
    groups.sort_by_key(|(checks, _)| checks.iter().map(|check| rank(check)).collect::<Vec<_>>());
    let told = groups.into_iter().map(|(checks, kinds)| {
        let kinds: Vec<String> = kinds.into_iter().map(|(kind, targets)| faults(&kind, &targets)).collect();
        format!("{}: {}", checks.join(", "), kinds.join("; "))
    });
    told.collect::<Vec<_>>().join(". ")
}

fn faults(kind: &str, targets: &[String]) -> String {
    match targets {
        [nothing] if nothing.is_empty() => "without any fault".to_owned(),
        targets => format!("`{kind}:` {}", targets.join(", ")),
    }
}

/// Checks in the order of reports.
pub fn in_order(checks: BTreeSet<&str>) -> Vec<&str> {
    let mut checks: Vec<&str> = checks.into_iter().collect();
    checks.sort_by_key(|check| rank(check));
    checks
}
