//! How hard the machine was pressed: shown beside a run, never judged by.

use std::{collections::BTreeMap, fs, time::Duration};

use serde_json::{Map, Value, json};

/// What the kernel tells now: for each resource the microseconds since boot in which `some` or all (`full`) tasks
/// waited for it, and the load averages. What it does not tell is absent.
///
/// See <https://docs.kernel.org/accounting/psi.html> and proc_loadavg(5).
pub fn read() -> Map<String, Value> {
    let mut told = Map::new();
    for resource in ["cpu", "memory", "io"] {
        let text = fs::read_to_string(format!("/proc/pressure/{resource}")).unwrap_or_default();
        let totals: Map<String, Value> = text.lines().filter_map(total).collect();
        if !totals.is_empty() {
            told.insert(resource.into(), totals.into());
        }
    }
    let load: Vec<f64> = fs::read_to_string("/proc/loadavg")
        .unwrap_or_default()
        .split_whitespace()
        .take(3)
        .filter_map(|average| average.parse().ok())
        .collect();
    if load.len() == 3 {
        told.insert("load".into(), json!(load));
    }
    told
}

/// The share of the time between two readings, in percent, in which tasks waited for each resource, such as
/// `cpu_some_percent`; and the load averages over one minute at both ends.
pub fn between(
    begin: &Map<String, Value>,
    end: &Map<String, Value>,
    length: Duration,
) -> BTreeMap<String, f64> {
    let mut over = BTreeMap::new();
    for (resource, totals) in end {
        for (who, total) in totals.as_object().into_iter().flatten() {
            let before = begin.get(resource).and_then(|totals| totals.get(who)).and_then(Value::as_u64);
            let (Some(before), Some(total), false) = (before, total.as_u64(), length.is_zero()) else {
                continue;
            };
            let share = total.saturating_sub(before) as f64 / length.as_micros() as f64;
            let name = format!("{resource}_{}_percent", who.trim_end_matches("_us"));
            over.insert(name, (share * 1000.0).round() / 10.0);
        }
    }
    for (name, reading) in [("load_begin", begin), ("load_end", end)] {
        let minute = reading.get("load").and_then(|averages| averages.get(0)).and_then(Value::as_f64);
        over.extend(minute.map(|average| (name.to_string(), average)));
    }
    over
}

/// `some tasks waited for cpu 12.4 %, memory 0 %, io 1.2 % of the time; load 3.06 at the begin, 4.1 at the end`; empty
/// where nothing is told.
pub fn in_words(over: &BTreeMap<String, f64>) -> String {
    let figure = |name: &str| over.get(name).copied();
    let share =
        |resource: &&str| Some(format!("{resource} {} %", figure(&format!("{resource}_some_percent"))?));
    let shares: Vec<String> = ["cpu", "memory", "io"].iter().filter_map(share).collect();
    let waited = Some(format!("some tasks waited for {} of the time", shares.join(", ")));
    let load = figure("load_begin").zip(figure("load_end"));
    let load = load.map(|(begin, end)| format!("load {begin} at the begin, {end} at the end"));
    waited.filter(|_| !shares.is_empty()).into_iter().chain(load).collect::<Vec<_>>().join("; ")
}

/// `some avg10=0.12 avg60=0.05 avg300=0.01 total=8296424`
fn total(line: &str) -> Option<(String, Value)> {
    let (who, figures) = line.split_once(' ')?;
    let total: u64 = figures.rsplit_once("total=")?.1.parse().ok()?;
    Some((format!("{who}_us"), total.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_nonsense_is_not() {
        let line = "some avg10=10.79 avg60=12.48 avg300=9.72 total=63344155";
        assert_eq!(total(line), Some(("some_us".into(), json!(63_344_155))));
        assert_eq!(total("some"), None);
        assert_eq!(total("full avg10=0.00 total=many"), None);
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let reading = |cpu: u64, load: f64| {
            let reading = json!({ "cpu": { "some_us": cpu }, "memory": { "some_us": 5, "full_us": 5 }, "load": [load, 1.0, 1.0] });
            reading.as_object().cloned().unwrap()
        };
        let over = between(&reading(1_000, 0.5), &reading(1_251_000, 2.25), Duration::from_secs(10));
        let expected = json!({
            "cpu_some_percent": 12.5, "memory_some_percent": 0.0, "memory_full_percent": 0.0, "load_begin": 0.5, "load_end": 2.25,
        });
        assert_eq!(json!(over), expected);
        let words = "some tasks waited for cpu 12.5 %, memory 0 % of the time; load 0.5 at the begin, 2.25 at the end";
        assert_eq!(in_words(&over), words);
        assert_eq!(in_words(&between(&Map::new(), &Map::new(), Duration::from_secs(1))), "");
    }

    #[test]
    fn this_machine_tells_at_least_its_load() {
        assert_eq!(read()["load"].as_array().map(Vec::len), Some(3));
    }
}
