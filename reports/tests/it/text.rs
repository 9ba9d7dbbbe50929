use reports::{json, judgement::Judgement, markdown, table, table::Options};

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
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "a control character came through");
    assert!(text.contains("\\u{1b}[31m"), "it is shown instead");
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
    let (text, repeat) = text.split_once("\nRepeat: ").unwrap();
    assert!(
        repeat.starts_with("`` ") && repeat.ends_with(" ``\n"),
        "a backtick cannot end the code span: {repeat}"
    );
    assert!(!text.contains("<img") && !text.contains("</script>") && !text.contains("<!--"));
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(rows.clone().count() > 5 && rows.map(bars).all(|bars| bars == 6), "{text}");
}

#[test]
fn verdict_json_reads_back() {
    let judgement = sample::broken().judgement;
    let text = json::render(&judgement).unwrap();
    let again: Judgement = serde_json::from_str(&text).unwrap();
    assert_eq!(json::render(&again).unwrap(), text);
    insta::assert_snapshot!(text.lines().take(60).collect::<Vec<_>>().join("\n"));
}

#[test]
fn every_field_of_verdict_json_is_documented() {
    let page = include_str!("../../VERDICT.md");
    let mut keys = Vec::new();
    for run in [sample::broken(), sample::election()] {
        let judgement = serde_json::to_value(&run.judgement).unwrap();
        let objects = judgement["checks"].as_object().unwrap().values();
        let violations = objects.clone().flat_map(|check| check["violations"].as_array().unwrap());
        let faults = judgement["faults"].as_array().unwrap();
        for object in
            [&judgement, &judgement["grants"]].into_iter().chain(objects).chain(violations).chain(faults)
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
