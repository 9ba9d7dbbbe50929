/// What a client does to a lock, a lease or an election, and to the resource behind it; in a history it goes by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Asks for a lock.
    Acquire,
    /// Asks to lead.
    Campaign,
    /// Asks for more time.
    Renew,
    /// A keepalive in the background was answered.
    Renewed,
    /// Gives a lock back.
    Release,
    /// Steps down.
    Resign,
    /// Stops believing that it holds or leads.
    Lapse,
    /// Looks who leads.
    Observe,
    /// Reads the resource.
    Read,
    /// Writes to the resource.
    Write,
}

impl Action {
    /// All of them.
    pub const ALL: [Action; 10] = [
        Action::Acquire,
        Action::Campaign,
        Action::Renew,
        Action::Renewed,
        Action::Release,
        Action::Resign,
        Action::Lapse,
        Action::Observe,
        Action::Read,
        Action::Write,
    ];

    /// Those that tell what happened beside whatever their process does. They may come while an operation is pending, as
    /// an invocation and its ok at one instant, or as one event alone, and they retire nobody.
    pub const NOTICES: [Action; 2] = [Action::Renewed, Action::Lapse];

    /// As it stands in a history.
    pub const fn name(self) -> &'static str {
        match self {
            Action::Acquire => "acquire",
            Action::Campaign => "campaign",
            Action::Renew => "renew",
            Action::Renewed => "renewed",
            Action::Release => "release",
            Action::Resign => "resign",
            Action::Lapse => "lapse",
            Action::Observe => "observe",
            Action::Read => "read",
            Action::Write => "write",
        }
    }

    /// By name.
    pub fn named(name: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.name() == name)
    }

    /// Whether it asks for a lock or a leadership: its ok is a grant.
    pub fn asks(self) -> bool {
        matches!(self, Action::Acquire | Action::Campaign)
    }

    /// Whether its client no longer believes from its invocation on.
    pub fn gives_up(self) -> bool {
        matches!(self, Action::Release | Action::Resign | Action::Lapse)
    }

    /// Whether it is done to the resource, not to a lock.
    pub fn is_access(self) -> bool {
        matches!(self, Action::Read | Action::Write)
    }

    /// Whether it is one of the [`NOTICES`](Self::NOTICES).
    pub fn is_notice(self) -> bool {
        Action::NOTICES.contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_known_by_its_name() {
        for action in Action::ALL {
            assert_eq!(Action::named(action.name()), Some(action));
        }
        assert_eq!(Action::named("acquired"), None);
    }
}
