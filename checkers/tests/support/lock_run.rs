//! The history of a sound run: locks with tokens, held under leases, and what is done under them.

use std::fmt::Write as _;

/// Clients, each on a node of its own; the locks are in use all the time.
const CLIENTS: u64 = 10;
const LOCKS: u64 = 5;
const TTL_NS: u64 = 2_000_000_000;
/// Events from one grant of a lock to the next.
const ROUND: u64 = 12;

/// So many events in JSON Lines, as a run records them, rounded down to whole rounds.
pub fn history(events: u64) -> String {
    let mut run = Run { text: String::with_capacity(events as usize * 150), events: 0, seq: 0 };
    (0..LOCKS).for_each(|lock| run.event(lock, lock, 0, "invoke", "acquire", ""));
    for round in 0..events.saturating_sub(LOCKS) / (ROUND * LOCKS) {
        (0..LOCKS).for_each(|lock| run.round(lock, round));
    }
    run.text
}

struct Run {
    text: String,
    events: u64,
    seq: u64,
}

impl Run {
    /// The next client waits while this one reads, writes, renews and releases.
    fn round(&mut self, lock: u64, round: u64) {
        let client = |round: u64| (lock + LOCKS * (round % 2)) % CLIENTS;
        let (holder, waiter, token) = (client(round), client(round + 1), round + 1);
        let asked_ns = self.time();
        let promise = format!(r#""asked_ns":{asked_ns},"deadline_ns":{},"ttl_ms":2000,"#, asked_ns + TTL_NS);
        let base = if round == 0 { "null".to_string() } else { format!(r#""{lock}-{round}""#) };
        let id = format!(r#""id":"{lock}-{token}","#);
        self.event(holder, lock, token, "ok", "acquire", &promise);
        self.event(waiter, lock, 0, "invoke", "acquire", "");
        self.event(holder, lock, token, "invoke", "read", "");
        self.seq += 1;
        let read = format!(r#""fenced":{base},"seq":{},"unfenced":{base},"#, self.seq);
        self.event(holder, lock, token, "ok", "read", &read);
        self.event(holder, lock, token, "invoke", "write", &id);
        self.seq += 1;
        let written = format!(r#"{id}"seq":{},"#, self.seq);
        self.event(holder, lock, token, "ok", "write", &written);
        for _ in 0..2 {
            self.event(holder, lock, token, "invoke", "renew", "");
            self.event(holder, lock, token, "ok", "renew", &promise);
        }
        self.event(holder, lock, token, "invoke", "release", "");
        self.event(holder, lock, token, "ok", "release", "");
    }

    fn time(&self) -> u64 {
        1_000_000 + self.events * 10_007
    }

    fn event(&mut self, client: u64, lock: u64, token: u64, kind: &str, f: &str, more: &str) {
        let (index, time, node) = (self.events, self.time(), client + 1);
        _ = write!(
            self.text,
            r#"{{"index":{index},"time":{time},"process":{client},"node":"c{node}","type":"{kind}","f":"{f}","value":{{{more}"lock":"l{lock}""#
        );
        // Who asks for a lock has no token yet.
        if token > 0 {
            _ = write!(self.text, r#","token":{token}"#);
        }
        self.text.push_str("}}\n");
        self.events += 1;
    }
}
