//! `fencepost list`

use std::collections::{BTreeMap, BTreeSet};

use history::exit::ExitCode;
use nemesis::{kind::FaultKind, target::Target};
use serde_json::{Value, json};
use tabled::{
    builder::Builder,
    settings::{Style, Width, object::Columns},
};
use workloads::{
    recipes::{self, RecipeInfo},
    workload::Workload,
};

use super::output;
use crate::{catalog, error::Result, recipe_table::in_order, systems};

/// Prints what there is.
pub fn main(as_json: bool) -> Result<ExitCode> {
    if as_json {
        output::print(&format!("{:#}", everything()));
    } else {
        output::print(&tables());
    }
    Ok(ExitCode::Ok)
}

fn everything() -> Value {
    let recipes: Vec<Value> = recipes::all().map(recipe).collect();
    let systems: Vec<Value> = systems::ALL
        .iter()
        .map(|system| {
            let settings: Vec<Value> = system
                .settings
                .iter()
                .map(|setting| json!({ "name": setting.name, "default": setting.default, "about": setting.about }))
                .collect();
            json!({
                "name": system.name,
                "about": system.about,
                "default_nodes": system.default_nodes,
                "max_nodes": system.max_nodes,
                "versions": catalog::versions(system.images),
                "settings": settings,
            })
        })
        .collect();
    let faults: Vec<Value> = FaultKind::ALL
        .into_iter()
        .map(|kind| {
            let info = kind.info();
            let targets: Vec<String> = info.targets.iter().map(Target::to_string).collect();
            json!({ "name": info.name, "about": info.about, "default_target": info.default_target.to_string(), "targets": targets })
        })
        .collect();
    let checks: Vec<Value> =
        checkers::CHECKS.iter().map(|check| json!({ "name": check.name, "about": check.about })).collect();
    json!({ "recipes": recipes, "systems": systems, "faults": faults, "checks": checks })
}

/// Its row, and what it never promised.
fn recipe(recipe: &RecipeInfo) -> Value {
    let mut told = json!(recipe);
    told["workload"] = json!(Workload::usual_for(recipe.primitive));
    let gaps = recipe.gaps();
    let mut prevented_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for gap in &gaps {
        let checks: BTreeSet<&str> = gap.breaks().map(|(_, check)| check).collect();
        checks.into_iter().for_each(|check| prevented_by.entry(check).or_default().push(&gap.prevented_by));
    }
    let never: Vec<Value> = gaps.iter().map(|gap| json!(gap.never_promised)).collect();
    told["promise"] = json!(recipe.promise());
    let may_break = recipe.may_break().into_iter().map(|(fault, checks)| (fault, json!(in_order(checks))));
    told["may_break"] = may_break.collect::<serde_json::Map<_, _>>().into();
    told["never_promised"] = json!(never);
    told["prevented_by"] = json!(prevented_by);
    told
}

fn tables() -> String {
    let mut recipes = Builder::default();
    recipes.push_record([
        "recipe",
        "system",
        "offers",
        "looks at its clock",
        "token",
        "breaks",
        "what it does",
    ]);
    for recipe in recipes::all() {
        let offers = serde_json::to_value(recipe.primitive).ok();
        let broken = recipe.broken;
        recipes.push_record([
            recipe.name,
            recipe.system,
            offers.as_ref().and_then(Value::as_str).unwrap_or_default(),
            if recipe.aware { "yes" } else { "no" },
            if recipe.has_token { "yes" } else { "no" },
            recipe.breaks.unwrap_or_default(),
            &broken.map_or(recipe.summary.to_owned(), |why| format!("{}; broken: {why}", recipe.summary)),
        ]);
    }
    let mut systems = Builder::default();
    systems.push_record(["system", "servers", "versions (default first)", "what it is"]);
    for system in systems::ALL {
        systems.push_record([
            system.name.to_string(),
            format!("{} (up to {})", system.default_nodes, system.max_nodes),
            catalog::versions(system.images).join(", "),
            system.about.to_string(),
        ]);
    }
    let mut faults = Builder::default();
    faults.push_record(["fault", "targets (default first)", "what it does"]);
    for kind in FaultKind::ALL {
        let info = kind.info();
        let rest = info.targets.iter().filter(|target| **target != info.default_target);
        let targets: Vec<String> =
            std::iter::once(&info.default_target).chain(rest).map(Target::to_string).collect();
        faults.push_record([info.name.to_string(), targets.join(", "), info.about.to_string()]);
    }
    let mut checks = Builder::default();
    checks.push_record(["check", "broken when"]);
    checkers::CHECKS.iter().for_each(|check| checks.push_record([check.name, check.about]));
    [(recipes, 6), (systems, 3), (faults, 2), (checks, 1)]
        .into_iter()
        .map(|(builder, last)| {
            let mut table = builder.build();
            table.with(Style::blank()).modify(Columns::one(last), Width::wrap(60).keep_words(true));
            if last == 2 {
                table.modify(Columns::one(1), Width::wrap(36).keep_words(true));
            }
            table.to_string()
        })
        .collect::<Vec<_>>()
        .join("\n\n")
}
