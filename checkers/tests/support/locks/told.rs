//! What a history tells, put down plainly: grants, answers, and the moments that end beliefs.

use history::{Event, EventKind, History, Process};

pub struct Told {
    pub events: Vec<Event>,
    pub grants: Vec<Grant>,
    pub writes: Vec<Write>,
    /// Answers of unknown outcome.
    pub infos: Vec<usize>,
}

pub struct Grant {
    pub client: String,
    pub lock: String,
    /// The grant's own answer first, then renewals.
    pub answers: Vec<Answer>,
    /// Why and when the belief certainly ends, if it goes on until then, by the event that tells.
    pub ends: Vec<End>,
    pub releases: Vec<Release>,
    /// Given while the client still had an earlier one.
    pub again: bool,
}

#[derive(Clone)]
pub struct Answer {
    pub place: usize,
    pub invoke_ns: u64,
    pub asked_ns: Option<u64>,
    pub ok_ns: u64,
    pub ttl_ns: Option<u64>,
    pub deadline_ns: Option<u64>,
    pub token: Option<i64>,
}

pub struct End {
    pub place: usize,
    pub at_ns: u64,
    /// Whether a write after it is one without a grant.
    pub told: bool,
}

pub struct Release {
    pub place: usize,
    pub invoke_ns: u64,
    pub end_ns: u64,
    pub kind: EventKind,
}

pub struct Write {
    pub place: usize,
    pub at_ns: u64,
    pub client: String,
    pub lock: String,
    pub grant: Option<usize>,
    /// Whether it is known what the client had asked for.
    pub known: bool,
}

impl Told {
    pub fn of(history: &History) -> Told {
        let events: Vec<Event> = history.events().collect();
        let mut told = Told { events, grants: Vec::new(), writes: Vec::new(), infos: Vec::new() };
        for place in 0..told.events.len() {
            told.event(place);
        }
        told
    }

    pub fn client(&self, place: usize) -> String {
        let event = &self.events[place];
        let Process::Client(process) = event.process else { return String::new() };
        // A process is named once and for all by its first event.
        let first = self.events.iter().find(|it| it.process == event.process);
        first.and_then(|it| it.node.clone()).unwrap_or_else(|| format!("process {process}"))
    }

    fn event(&mut self, place: usize) {
        let event = self.events[place].clone();
        if event.process == Process::Nemesis {
            return;
        }
        let notice = matches!(event.f.as_str(), "renewed" | "lapse");
        let lock = event.value["lock"].as_str().unwrap().to_owned();
        let is_first = event.kind == EventKind::Invoke || notice && self.invoke_of(place).is_none();
        if is_first {
            self.begun(place, &event, &lock);
        }
        if event.kind == EventKind::Ok || notice && event.kind != EventKind::Invoke {
            self.succeeded(place, &event, &lock);
        }
        if event.kind == EventKind::Fail && event.f == "renew" {
            let invoke = self.invoke_of(place).unwrap();
            if let Some(grant) = self.named(invoke, &lock) {
                let end = End { place, at_ns: event.time, told: true };
                self.grants[grant].ends.push(end);
            }
        }
        if event.kind == EventKind::Info && !notice {
            self.infos.push(place);
        }
    }

    fn begun(&mut self, place: usize, event: &Event, lock: &str) {
        let grant = self.named(place, lock);
        match event.f.as_str() {
            "release" => {
                let Some(grant) = grant else { return };
                self.grants[grant].ends.push(End { place, at_ns: event.time, told: true });
                let end = self.completion_of(place);
                let (end_ns, kind) = end.map_or((u64::MAX, EventKind::Info), |end| {
                    (self.events[end].time, self.events[end].kind)
                });
                self.grants[grant].releases.push(Release { place, invoke_ns: event.time, end_ns, kind });
            }
            "lapse" => {
                let Some(grant) = grant else { return };
                self.grants[grant].ends.push(End { place, at_ns: event.time, told: true });
            }
            "write" => {
                let client = self.client(place);
                let asked = |other: &Event| {
                    matches!(other.f.as_str(), "acquire" | "campaign")
                        && other.process == event.process
                        && other.value["lock"] == lock
                };
                let known = event.node.is_some() || self.events[..place].iter().any(asked);
                let (at_ns, lock) = (event.time, lock.to_owned());
                self.writes.push(Write { place, at_ns, client, lock, grant, known });
            }
            _ => {}
        }
    }

    fn succeeded(&mut self, place: usize, event: &Event, lock: &str) {
        let begun = self.invoke_of(place).unwrap_or(place);
        let number = |key: &str| event.value[key].as_u64();
        let mut answer = Answer {
            place,
            invoke_ns: self.events[begun].time,
            asked_ns: number("asked_ns"),
            ok_ns: event.time,
            ttl_ns: number("ttl_ms").map(|ttl| ttl * 1_000_000),
            deadline_ns: number("deadline_ns"),
            token: event.value["token"].as_i64(),
        };
        match event.f.as_str() {
            "acquire" | "campaign" => self.granted(place, begun, lock, answer),
            "renew" => {
                if let Some(grant) = self.named(begun, lock) {
                    self.grants[grant].answers.push(answer);
                }
            }
            "renewed" => {
                if let Some(grant) = self.named(begun, lock) {
                    let answers = &self.grants[grant].answers;
                    let before = answers.iter().rfind(|answer| answer.place < begun).unwrap().ok_ns;
                    answer.invoke_ns = answer.asked_ns.unwrap_or(before).min(event.time);
                    self.grants[grant].answers.push(answer);
                }
            }
            _ => {}
        }
    }

    fn granted(&mut self, place: usize, begun: usize, lock: &str, answer: Answer) {
        let client = self.client(place);
        let last = (0..self.grants.len())
            .rev()
            .find(|&it| self.grants[it].client == client && self.grants[it].lock == lock);
        let mut again = false;
        if let Some(last) = last {
            let stands = super::beliefs::believes(self, last, place, answer.ok_ns);
            let before = &self.grants[last];
            let same = answer.token.is_some() && before.answers.last().unwrap().token == answer.token;
            let given_back = before.releases.iter().any(|release| {
                // Not failed, as far as is known now.
                let ended = self.completion_of(release.place).filter(|&end| end < place);
                ended.is_none_or(|end| self.events[end].kind != EventKind::Fail)
            });
            again = stands || (same && !given_back);
            if stands {
                let at_ns = self.events[begun].time;
                self.grants[last].ends.push(End { place, at_ns, told: false });
            }
        }
        let lock = lock.to_owned();
        self.grants.push(Grant {
            client,
            lock,
            answers: vec![answer],
            ends: Vec::new(),
            releases: Vec::new(),
            again,
        });
    }

    /// What ends the belief in a grant, in order of events, as far as it is known before the event at `by`.
    pub fn ends_of(&self, grant: usize, by: usize) -> Vec<(usize, u64, bool)> {
        let record = &self.grants[grant];
        let mut ends: Vec<_> = record.ends.iter().map(|end| (end.place, end.at_ns, end.told)).collect();
        let doubts = self.doubts(&record.client).into_iter().filter(|&(place, _)| place < by);
        let since = doubts.filter(|&(place, _)| place > record.answers[0].place);
        let given_up = since.filter(|&(place, _)| self.gives_up(grant, place, by));
        ends.extend(given_up.map(|(place, at_ns)| (place, at_ns, true)));
        ends.retain(|end| end.0 < by);
        ends.sort_unstable();
        ends
    }

    /// The client gives up unless it goes on under the grant before it asks for the lock again. While the events up to
    /// `by` do not tell, nobody knows: then it has not.
    fn gives_up(&self, grant: usize, info: usize, by: usize) -> bool {
        let Grant { client, lock, .. } = &self.grants[grant];
        let kills = self.kills(client);
        for place in info + 1..by {
            let it = &self.events[place];
            // What a client does after it was started anew tells nothing of what it believed before.
            if kills.iter().any(|&(kill, _)| kill == place) {
                return true;
            }
            if it.process == Process::Nemesis || self.client(place) != *client || it.value["lock"] != **lock {
                continue;
            }
            let begun = self.invoke_of(place);
            // A keepalive counts when its answer is told, all else when it is invoked, a renewal also when it is.
            let counts = match it.f.as_str() {
                "renewed" => it.kind != EventKind::Invoke,
                "renew" => it.kind != EventKind::Info,
                "lapse" => begun.is_none(),
                _ => it.kind == EventKind::Invoke,
            };
            if !counts {
                continue;
            }
            if matches!(it.f.as_str(), "acquire" | "campaign") {
                return true;
            }
            let named = self.named(begun.unwrap_or(place), lock);
            if named != Some(grant) {
                continue;
            }
            match it.f.as_str() {
                "read" | "write" | "renew" | "renewed" => return false,
                "lapse" => return it.value["cause"] == "killed",
                "release" => return true,
                _ => {}
            }
        }
        by == self.events.len()
    }

    /// What leaves it open whether the client still believes, and when it may have ceased to: an answer of unknown outcome,
    /// or a kill that failed, of which nobody knows whether it took effect all the same.
    pub fn doubts(&self, client: &str) -> Vec<(usize, u64)> {
        let infos = self.infos.iter().filter(|&&info| self.client(info) == client);
        let failed = self.kills_with(client, |result| result == "failed").into_iter();
        let failed = failed.map(|(kill, life)| (kill, self.events[life].time));
        let mut doubts: Vec<_> = infos.map(|&info| (info, self.events[info].time)).chain(failed).collect();
        doubts.sort_unstable();
        doubts
    }

    /// The latest grant of the client that an event names by its token, else its last.
    fn named(&self, place: usize, lock: &str) -> Option<usize> {
        let client = self.client(place);
        let own: Vec<usize> = (0..self.grants.len())
            .filter(|&it| {
                let grant = &self.grants[it];
                grant.client == client && grant.lock == lock && grant.answers[0].place < place
            })
            .collect();
        let token = self.events[place].value["token"].as_i64();
        let has = |it: &usize| {
            let answers = &self.grants[*it].answers;
            let last = answers.iter().rfind(|answer| answer.place < place).unwrap();
            token.is_some() && (answers[0].token == token || last.token == token)
        };
        own.iter().rev().copied().find(has).or(own.last().copied())
    }

    pub fn invoke_of(&self, place: usize) -> Option<usize> {
        let event = &self.events[place];
        if event.kind == EventKind::Invoke {
            return None;
        }
        let same = |it: &Event| it.process == event.process && it.f == event.f;
        let before = self.events[..place].iter().rposition(same)?;
        (self.events[before].kind == EventKind::Invoke).then_some(before)
    }

    pub fn completion_of(&self, place: usize) -> Option<usize> {
        let event = &self.events[place];
        let same = |it: &Event| it.process == event.process && it.f == event.f;
        self.events[place + 1..].iter().position(same).map(|after| place + 1 + after)
    }

    /// Kills of a client that took effect: the event, and when it was last heard of.
    pub fn kills(&self, client: &str) -> Vec<(usize, usize)> {
        self.kills_with(client, |result| result == "installed")
    }

    fn kills_with(&self, client: &str, counts: impl Fn(&str) -> bool) -> Vec<(usize, usize)> {
        let is_kill = |event: &Event| {
            event.f == "start-kill"
                && counts(event.value["result"].as_str().unwrap())
                && event.value["targets"].as_array().unwrap().iter().any(|it| it == client)
        };
        let places = (0..self.events.len()).filter(|&place| is_kill(&self.events[place]));
        places
            .filter_map(|place| {
                let own = |&it: &usize| {
                    let event = &self.events[it];
                    let notice = matches!(event.f.as_str(), "renewed" | "lapse");
                    let killed = event.f == "lapse" && event.value["cause"] == "killed";
                    event.process != Process::Nemesis
                        && !killed
                        && self.client(it) == client
                        && (event.kind != EventKind::Info || notice)
                };
                Some((place, (0..place).rev().find(own)?))
            })
            .collect()
    }
}
