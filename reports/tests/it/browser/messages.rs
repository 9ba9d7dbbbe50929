//! The diagram of messages of a simulated run.

use reports::run::RunData;

use super::{Opened, open};
use crate::sample;

impl Opened {
    fn told(&mut self, what: &str) -> u64 {
        self.number(&format!("Number(document.getElementById('messages').dataset.{what})"))
    }

    fn drawn(&mut self, what: &str) -> u64 {
        self.number(&format!("document.querySelectorAll('#messages {what}').length"))
    }
}

#[test]
fn every_message_chosen_is_an_arrow() {
    let run = sample::with_messages(sample::broken());
    for scheme in ["light", "dark"] {
        let Some(mut page) = open("messages", &run, scheme) else { return };
        assert_eq!(page.told("messages"), 200, "of {}", run.messages.len());
        assert_eq!(page.told("all"), run.messages.len() as u64);
        assert_eq!(page.drawn("g.message line"), 200);
        for what in ["lost", "late"] {
            let told = page.told(what);
            assert_eq!(page.drawn(&format!("g.{what}")), told, "{what}");
            assert!(told > 0, "the sample has some that are {what}");
        }
        assert_eq!(page.drawn("path.cross"), page.told("lost"));
        assert!(
            page.drawn("rect.hold") > 0 && page.drawn("rect.violation") == 1 && page.drawn("rect.fault") > 0
        );
        assert!(page.number("document.querySelector('#messages .diagram').scrollTop") > 0, "it opens there");
        let upward = "[...document.querySelectorAll('#messages g.message line')].filter(line => +line.getAttribute('y2') < +line.getAttribute('y1')).length";
        assert_eq!(page.number(upward), 0, "no message arrives before it was sent");
        let colour = "getComputedStyle(document.querySelector('#messages g[class=message] line')).stroke";
        let ink = if scheme == "dark" { "rgb(231, 235, 240)" } else { "rgb(23, 28, 34)" };
        assert_eq!(page.browser.evaluate(colour), ink);
        page.assert_quiet();
    }
}

#[test]
fn a_short_run_shows_all_its_messages() {
    let whole = sample::with_messages(sample::valid());
    let run = RunData { messages: whole.messages[..150].to_vec(), ..whole };
    let Some(mut page) = open("few-messages", &run, "light") else { return };
    assert_eq!((page.told("messages"), page.drawn("g.message")), (150, 150));
    assert_eq!(page.drawn("rect.violation"), 0);
    page.assert_quiet();
}

#[test]
fn a_run_without_messages_has_no_diagram() {
    let Some(mut page) = open("no-messages", &sample::valid(), "light") else { return };
    assert_eq!(page.number("document.querySelectorAll('#messages').length"), 0);
}
