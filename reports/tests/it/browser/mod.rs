//! The page in headless Chromium. Without a `chromium` on the path this says that it is skipped, and fails where
//! `FENCEPOST_REQUIRE_CHROMIUM=1` demands it.

mod chromium;
mod messages;

use std::{env, path::PathBuf, time::Instant};

use reports::{html, run::RunData};
use serde_json::Value;

use crate::sample;
use chromium::Chromium;

/// A page written to disk and opened.
struct Opened {
    browser: Chromium,
    path: PathBuf,
}

fn open(name: &str, run: &RunData, scheme: &str) -> Option<Opened> {
    let Some(mut browser) = Chromium::start() else {
        let required = env::var("FENCEPOST_REQUIRE_CHROMIUM").is_ok_and(|value| value == "1");
        assert!(!required, "FENCEPOST_REQUIRE_CHROMIUM is set, but no chromium could be started");
        eprintln!("SKIPPED: no chromium on the path, so {name} was not opened in a browser");
        return None;
    };
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{scheme}.html"));
    std::fs::write(&path, html::render(run).unwrap()).unwrap();
    browser.look((1280, 900), scheme);
    let started = Instant::now();
    browser.open(&format!("file://{}", path.display()));
    browser.wait_for("window.fencepost?.ready === true");
    let load = browser.evaluate("performance.getEntriesByType('navigation')[0].domComplete");
    eprintln!("{name} ({scheme}): ready after {:?}, document complete after {load} ms", started.elapsed());
    Some(Opened { browser, path })
}

impl Opened {
    /// Nothing complained, and nothing but the page itself was asked for.
    fn assert_quiet(&self) {
        assert_eq!(self.browser.complaints(), Vec::<String>::new());
        let page = format!("file://{}", self.path.display());
        let others: Vec<_> =
            self.browser.requests().into_iter().filter(|url| *url != page && url != "data:,").collect();
        assert_eq!(others, Vec::<String>::new(), "fetched something");
    }

    /// The page's model, its drawing at full width and its attributes all count as the judgement does.
    fn assert_counts(&mut self, run: &RunData) {
        let judgement = &run.judgement;
        let exclusion = judgement.checks.get("exclusion").map_or(0, |check| check.violations.len() as u64);
        let violations: usize = judgement.checks.values().map(|check| check.violations.len()).sum();
        let operations = self.number("fencepost.operations");
        assert_eq!(self.number("fencepost.lanes"), clients(run));
        for (what, expected) in [
            ("holds", judgement.grants.total),
            ("overlaps", exclusion),
            ("faults", judgement.faults.len() as u64),
            ("stalls", judgement.stalls.count),
            ("exits", judgement.exits.len() as u64),
        ] {
            assert_eq!(self.number(&format!("fencepost.{what}")), expected, "{what} of the model");
            assert_eq!(self.number(&format!("fencepost.drawn.{what}")), expected, "{what} drawn");
            assert_eq!(
                self.number(&format!("Number(document.getElementById('timeline').dataset.{what})")),
                expected,
                "{what} told"
            );
        }
        assert_eq!(self.number("fencepost.violations"), violations as u64);
        assert_eq!(self.number("document.querySelectorAll('#violations li').length"), violations as u64);
        let outcomes: u64 = judgement.operations.values().map(|of| of.ok + of.fail + of.info).sum();
        assert_eq!(operations, outcomes);
    }

    fn number(&mut self, expression: &str) -> u64 {
        let value = self.browser.evaluate(expression);
        value.as_u64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// After a jump: which violation, and what is in view.
    fn assert_focus(&mut self, run: &RunData, number: usize) {
        self.browser.wait_for(&format!("fencepost.focus?.violation === {number}"));
        let focus = self.browser.evaluate("fencepost.focus");
        let violations = reports::violations::numbered(&run.judgement);
        let expected = violations[number - 1];
        assert_eq!(focus["check"], expected.check);
        let (start, end) = (expected.violation.start_ns as f64, expected.violation.end_ns as f64);
        let view = [0, 1].map(|i| focus["view"][i].as_f64().unwrap());
        assert!(view[0] < start && end < view[1], "{focus} does not show {start} to {end}");
        let off_centre = ((view[0] + view[1]) / 2.0 - (start + end) / 2.0).abs() / (view[1] - view[0]);
        assert!(off_centre < 0.01, "off the centre by {off_centre} of the view");
        let marked = self.number("document.querySelectorAll('#marks .violation.now').length");
        assert_eq!(marked, 1, "exactly one violation is marked");
        let shown =
            self.browser.evaluate("document.querySelector('#marks .violation.now').dataset.violation");
        assert_eq!(shown, Value::String(number.to_string()));
    }
}

fn clients(run: &RunData) -> u64 {
    let mut nodes: Vec<_> = run.events.iter().filter_map(|event| event.node.as_deref()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.len() as u64
}

#[test]
fn a_broken_run_in_light_and_dark() {
    let run = sample::broken();
    for scheme in ["light", "dark"] {
        let Some(mut page) = open("broken", &run, scheme) else { return };
        page.assert_counts(&run);
        page.browser.evaluate("document.querySelector('#violations a').click()");
        page.assert_focus(&run, 1);
        page.browser.press("n");
        page.assert_focus(&run, 2);
        page.browser.evaluate("location.hash = '#v3'");
        page.assert_focus(&run, 3);
        page.browser.evaluate("document.getElementById('previous').click()");
        page.assert_focus(&run, 2);
        let dark =
            page.browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 21)";
        assert_eq!(dark, scheme == "dark");
        page.assert_quiet();
    }
}

#[test]
fn keys_wheel_and_details() {
    let run = sample::broken();
    let Some(mut page) = open("keys", &run, "light") else { return };
    let width = "fencepost.view[1] - fencepost.view[0]";
    let whole = page.browser.evaluate(width).as_f64().unwrap();
    page.browser.evaluate("document.getElementById('stage').focus()");
    page.browser.press("+");
    page.browser.wait_for(&format!("{width} < {whole}"));
    page.browser.press("0");
    page.browser.wait_for(&format!("{width} === {whole}"));
    page.browser.press(".");
    page.browser.wait_for("document.querySelector('#details h3')?.textContent.startsWith('c1 · ')");
    page.browser.press("0");
    page.browser.wait_for("document.querySelector('#marks .fault') !== null");
    page.browser.evaluate(
        "document.querySelector('#marks .fault').dispatchEvent(new MouseEvent('click', {bubbles: true}))",
    );
    page.browser.wait_for("document.querySelector('#details h3')?.textContent.startsWith('Fault ')");
    page.browser.evaluate("document.querySelector('#rows button').click()");
    page.browser.wait_for("document.querySelector('#details td')?.textContent !== undefined");
    page.assert_quiet();
}

#[test]
fn runs_without_violations() {
    for (name, run) in [
        ("valid", sample::valid()),
        ("unknown", sample::unknown()),
        ("stalled", sample::stalled()),
        ("crashed", sample::crashed()),
        ("lease", sample::lease()),
        ("empty", sample::empty()),
    ] {
        let Some(mut page) = open(name, &run, "light") else { return };
        page.assert_counts(&run);
        page.assert_quiet();
    }
}

#[test]
fn an_election() {
    let run = sample::election();
    let Some(mut page) = open("election", &run, "dark") else { return };
    page.assert_counts(&run);
    page.browser.press("n");
    page.assert_focus(&run, 1);
    page.assert_quiet();
}

#[test]
fn a_minute_of_many_operations() {
    let run = sample::large();
    let Some(mut page) = open("large", &run, "light") else { return };
    page.assert_counts(&run);
    page.browser.press("n");
    page.assert_focus(&run, 1);
    page.assert_quiet();
}

#[test]
fn hostile_strings_stay_text() {
    let run = sample::hostile();
    let Some(mut page) = open("hostile", &run, "light") else { return };
    page.browser.press("n");
    page.assert_focus(&run, 1);
    assert_eq!(page.number("document.images.length"), 0);
    assert_eq!(page.number("document.scripts.length"), 2);
    page.assert_quiet();
}

#[test]
fn a_run_behind_a_slow_start() {
    let run = sample::late();
    let Some(mut page) = open("late", &run, "light") else { return };
    page.assert_counts(&run);
    let begin = page.browser.evaluate("fencepost.view[0]").as_f64().unwrap();
    assert!(begin > 39e9, "the view begins {begin} ns after the run, long before anything happens");
    page.browser.press("n");
    page.assert_focus(&run, 1);
    page.assert_quiet();
}
