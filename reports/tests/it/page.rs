use history::verdict::Verdict;
use reports::{html, plots, run::RunData};
use serde_json::Value;

use crate::sample;

fn page(run: &RunData) -> String {
    html::render(run).unwrap()
}

/// The data that the page's script reads.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="run-data">"#).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn attribute(page: &str, name: &str) -> usize {
    let (_, rest) = page.split_once(&format!("{name}=\"")).unwrap();
    rest.split_once('"').unwrap().0.parse().unwrap()
}

#[test]
fn counts_are_those_of_the_judgement() {
    for run in [
        sample::broken(),
        sample::valid(),
        sample::election(),
        sample::lease(),
        sample::stalled(),
        sample::crashed(),
        sample::empty(),
        sample::large(),
    ] {
        let (page, judgement) = (page(&run), &run.judgement);
        let data = data(&page);
        let length = |field: &str| data[field].as_array().unwrap().len();
        let overlaps = judgement.checks["exclusion"].violations.len();
        let listed: usize = judgement.checks.values().map(|check| check.violations.len()).sum();
        assert_eq!(
            (attribute(&page, "data-holds"), length("holds")),
            (judgement.grants.total as usize, judgement.grants.total as usize)
        );
        assert_eq!(
            (attribute(&page, "data-faults"), length("faults")),
            (judgement.faults.len(), judgement.faults.len())
        );
        assert_eq!(
            (page.matches("data-exit=\"").count(), length("exits")),
            (judgement.exits.len(), judgement.exits.len())
        );
        let stalls = judgement.stalls.count as usize;
        assert_eq!((attribute(&page, "data-stalls"), length("stalls")), (stalls, stalls));
        assert_eq!((attribute(&page, "data-overlaps"), length("violations")), (overlaps, listed));
        assert_eq!(page.matches("<li id=\"v").count(), listed);
        assert_eq!(page.matches("data-check=\"").count(), judgement.checks.len());
        let operations: u64 = judgement.operations.values().map(|of| of.ok + of.fail + of.info).sum();
        assert_eq!(
            (attribute(&page, "data-operations"), length("ops")),
            (operations as usize, operations as usize)
        );
        assert_eq!(attribute(&page, "data-lanes") + attribute(&page, "data-server-lanes"), length("lanes"));
    }
}

#[test]
fn a_broken_run_says_so_in_plain_words() {
    let page = page(&sample::broken());
    let headline =
        "Two clients (c1, c2) believed they held lock &quot;a&quot; at once for 272 ms while c1 was paused.";
    assert!(page.contains(headline));
    assert!(page.contains("fencepost run redis/set-nx --on docker"));
    assert_eq!(sample::broken().judgement.verdict, Verdict::Invalid);
}

#[test]
fn nothing_in_it_leads_outside() {
    let page = page(&sample::broken());
    for outside in ["http://", "https://", "//cdn", "@import", "url(\"", " src="] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(outside), "{outside}");
    }
}

#[test]
fn strangers_cannot_write_markup() {
    let page = page(&sample::hostile());
    assert_eq!(page.matches("<img").count(), 0);
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(page.matches("<!--").count(), 0);
    assert!(
        data(&page)["locks"][0].as_str().unwrap().starts_with("</script>"),
        "the data keeps what was said"
    );
}

#[test]
fn a_minute_of_many_operations_stays_small() {
    let run = sample::large();
    let operations: u64 = run.judgement.operations.values().map(|of| of.ok + of.fail + of.info).sum();
    let size = page(&run).len();
    assert!(operations >= 20_000, "only {operations} operations");
    assert!(size <= 5_000_000, "{size} bytes");
    eprintln!("{operations} operations in {size} bytes");
}

#[test]
fn plots_are_pictures_of_their_own() {
    let plots = plots::render(&sample::broken()).unwrap();
    assert_eq!(plots.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["latency", "rate"]);
    let faults = sample::broken().judgement.faults.len();
    for (name, svg) in &plots {
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
        assert_eq!(svg.matches("opacity=\"0.16\"").count(), faults, "{name} has a band for each fault");
    }
    assert!(plots::render(&sample::empty()).unwrap().is_empty());
}
