use history::judgement::Judgement;
use reports::{html, json, markdown, table, table::Options};

use crate::sample;

fn plain(width: usize) -> Options {
    Options { width, color: false }
}

#[test]
fn terminal_at_80_columns() {
    insta::assert_snapshot!(table::render(&sample::broken(), plain(80)));
}

#[test]
fn terminal_at_120_columns() {
    insta::assert_snapshot!(table::render(&sample::broken(), plain(120)));
}

#[test]
fn terminal_in_color() {
    let colored = table::render(&sample::broken(), Options { width: 80, color: true });
    insta::assert_snapshot!(colored.replace('\u{1b}', "␛"));
}

#[test]
fn terminal_of_a_valid_run() {
    insta::assert_snapshot!(table::render(&sample::valid(), plain(80)));
}

#[test]
fn terminal_of_an_unknown_run() {
    insta::assert_snapshot!(table::render(&sample::unknown(), plain(80)));
}

#[test]
fn terminal_of_an_election() {
    insta::assert_snapshot!(table::render(&sample::election(), plain(100)));
}

#[test]
fn terminal_of_a_run_in_which_nothing_happened() {
    insta::assert_snapshot!(table::render(&sample::empty(), plain(80)));
}

#[test]
fn terminal_of_a_machine_that_stood_still() {
    insta::assert_snapshot!(table::render(&sample::stalled(), plain(80)));
}

#[test]
fn terminal_of_a_crashed_server() {
    insta::assert_snapshot!(table::render(&sample::crashed(), plain(80)));
}

#[test]
fn a_crash_is_named_beside_what_else_was_broken() {
    let said = "n1 ended by itself at 9.500 s (signal: 11 (SIGSEGV))";
    let mut run = sample::broken();
    run.judgement.exits = sample::crashed().judgement.exits;
    for told in [
        reports::headline::headline(&run),
        table::render(&run, plain(200)),
        markdown::render(&run),
        reports::html::render(&run).unwrap(),
        reports::junit::render(&run).unwrap(),
    ] {
        assert!(told.contains(said), "{told}");
    }
    let crashed = sample::crashed();
    let headline = reports::headline::headline(&crashed);
    assert_eq!(headline.matches("ended by itself").count(), 1, "{headline}");
    assert!(!headline.contains("without faults"), "{headline}");
}

#[test]
fn what_was_set_aside_is_said_once() {
    let said = "2 violations set aside: what stood still explains them";
    let mut run = sample::stalled();
    for told in
        [table::render(&run, plain(200)), markdown::render(&run), reports::html::render(&run).unwrap()]
    {
        assert_eq!(told.matches(said).count(), 1, "{told}");
        assert!(told.contains("stalls: 7, 3640 ms in all, longest 3500 ms on c1"), "{told}");
    }
    let exclusion = run.judgement.checks.get_mut("exclusion").unwrap();
    exclusion.reason = Some("2 overlaps were set aside".into());
    assert!(!table::render(&run, plain(200)).contains(said), "the reason says so");
}

#[test]
fn terminal_keeps_its_width() {
    for (run, width) in [(sample::broken(), 80), (sample::broken(), 60), (sample::election(), 100)] {
        let text = table::render(&run, plain(width));
        let wide = |line: &&str| line.chars().count() > width && !line.starts_with("Repeat");
        assert_eq!(text.lines().find(wide), None, "wider than {width} columns");
    }
}

#[test]
fn terminal_obeys_no_stranger() {
    let text = table::render(&sample::hostile(), plain(80));
    assert!(text.contains("\\u{1b}[31m"), "it is shown instead");
}

/// Whatever reaches a terminal, a browser or an XML parser.
fn shown(run: &reports::run::RunData) -> Vec<(&'static str, String)> {
    let plots = reports::plots::render(run).unwrap().into_iter().map(|(_, svg)| ("svg", svg));
    let narrow = ("narrow table", table::render(run, plain(40)));
    [
        ("table", table::render(run, plain(80))),
        narrow,
        ("markdown", markdown::render(run).replace("@\u{200b}", "@")),
        ("junit", reports::junit::render(run).unwrap()),
        ("json", json::render(&run.judgement).unwrap()),
        ("html", html::render(run).unwrap()),
    ]
    .into_iter()
    .chain(plots)
    .collect()
}

#[test]
fn nothing_shown_moves_who_shows_it() {
    let moves = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{fffe}')
    };
    for (what, text) in shown(&sample::hostile()) {
        let found = text.find(moves).map(|at| text[at..].chars().take(9).collect::<String>());
        assert_eq!(found, None, "{what}");
        assert!(what == "svg" || text.contains("fffe"), "{what} shows it instead");
    }
}

/// Keys may be of any length.
#[test]
fn no_line_is_without_end() {
    let run = sample::hostile_with(&"k".repeat(20_000));
    for (what, text) in shown(&run).into_iter().filter(|(what, _)| !matches!(*what, "json" | "html")) {
        let longest = text.lines().map(str::len).max().unwrap_or_default();
        // A line of XML or of a table in Markdown holds several texts.
        assert!(longest < 3 * 4096 && text.len() < 1_000_000, "{what}: {longest} of {}", text.len());
    }
}

#[test]
fn a_narrow_terminal_is_kept_to() {
    for (run, width) in [(sample::broken(), 40), (sample::election(), 20), (sample::empty(), 30)] {
        let text = table::render(&run, plain(width));
        let wide = |line: &&str| {
            line.chars().count() > width && !line.starts_with("Repeat") && !line.starts_with("Report")
        };
        assert_eq!(text.lines().find(wide), None, "wider than {width} columns:\n{text}");
    }
}

/// A long run has thousands of faults, and a foreign history may have as many names of operations.
#[test]
fn a_terminal_is_not_flooded() {
    let mut run = sample::broken();
    let fault = run.judgement.faults[0].clone();
    run.judgement.faults =
        (1..=10_000).map(|id| history::judgement::FaultRecord { id, ..fault.clone() }).collect();
    let of_one = run.judgement.operations["write"];
    run.judgement.operations = (0..10_000).map(|n| (format!("f{n}"), of_one)).collect();
    let text = table::render(&run, plain(100));
    assert!(text.lines().count() < 200, "{} lines", text.lines().count());
    assert_eq!(text.matches("and 9950 more").count(), 2, "{text}");
}

#[test]
fn markdown_of_a_broken_run() {
    insta::assert_snapshot!(markdown::render(&sample::broken()));
}

#[test]
fn markdown_of_a_valid_run() {
    insta::assert_snapshot!(markdown::render(&sample::valid()));
}

#[test]
fn markdown_keeps_strangers_in_their_cells() {
    let text = markdown::render(&sample::hostile());
    let (text, end) = text.split_once("\nRepeat: ").unwrap();
    let repeat = end.lines().next().unwrap();
    assert!(
        repeat.starts_with("`` ") && repeat.ends_with(" ``"),
        "a backtick cannot end the code span: {repeat}"
    );
    assert!(!text.contains("<img") && !text.contains("</script>") && !text.contains("<!--"));
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(rows.clone().count() > 5 && rows.map(bars).all(|bars| bars == 6), "{text}");
}

/// Whatever shows an invalid run tells what helps, and where it has an end, there.
#[test]
fn an_invalid_run_ends_with_what_helps() {
    let end = "(exclusion, damage). A resource that refuses a lower token than the highest it has seen would have \
               prevented the damage.\n";
    let broken = sample::broken();
    let terminal = table::render(&broken, plain(1000));
    assert!(terminal.ends_with(end), "{terminal}");
    assert!(terminal.contains("redis/set-nx never promised that a client that stood still"), "{terminal}");
    assert!(markdown::render(&broken).ends_with(end));
    assert!(html::render(&broken).unwrap().contains(end.trim_end()));
    let mut nameless = broken.clone();
    nameless.judgement.help[0].never_promised = None;
    assert!(table::render(&nameless, plain(1000)).contains("exclusion, damage: A resource"));
    for silent in [sample::valid(), sample::unknown()] {
        let shown = [table::render(&silent, plain(1000)), markdown::render(&silent)];
        assert!(shown.iter().all(|text| !text.contains("promised that") && !text.contains("Help")));
    }
}

#[test]
fn verdict_json_reads_back() {
    let judgement = sample::broken().judgement;
    let text = json::render(&judgement).unwrap();
    let again: Judgement = serde_json::from_str(&text).unwrap();
    assert_eq!(json::render(&again).unwrap(), text);
    insta::assert_snapshot!(text.lines().take(60).collect::<Vec<_>>().join("\n"));
}

/// They do not tell the rank of their checks: among equals these come by name.
#[test]
fn verdicts_of_older_builds_are_shown() {
    let mut run = sample::broken();
    let mut older = serde_json::to_value(&run.judgement).unwrap();
    for check in older["checks"].as_object_mut().unwrap().values_mut() {
        for field in ["rank", "promise", "informs", "stalls_excuse"] {
            assert!(check.as_object_mut().unwrap().remove(field).is_some(), "{field}");
        }
    }
    run.judgement = serde_json::from_value(older).unwrap();
    let order: Vec<&str> =
        reports::words::checks_in_order(&run.judgement).into_iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(order, ["damage", "exclusion", "liveness", "availability", "fencing", "promise", "token"]);
    for (what, text) in shown(&run) {
        assert!(what == "svg" || text.contains("availability"), "{what}");
    }
}

#[test]
fn every_field_of_verdict_json_is_documented() {
    let page = include_str!("../../VERDICT.md");
    let mut keys = Vec::new();
    for run in [sample::broken(), sample::election(), sample::stalled()] {
        let judgement = serde_json::to_value(&run.judgement).unwrap();
        let objects = judgement["checks"].as_object().unwrap().values();
        let violations = objects.clone().flat_map(|check| check["violations"].as_array().unwrap());
        let faults = judgement["faults"].as_array().unwrap();
        let helps = judgement["help"].as_array().unwrap();
        for object in [&judgement, &judgement["grants"], &judgement["stalls"]]
            .into_iter()
            .chain(helps)
            .chain(objects)
            .chain(violations)
            .chain(faults)
        {
            keys.extend(object.as_object().unwrap().keys().cloned());
        }
    }
    keys.sort();
    keys.dedup();
    assert!(keys.len() > 30, "{keys:?}");
    let missing: Vec<_> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "not in VERDICT.md: {missing:?}");
}
