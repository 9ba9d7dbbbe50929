//! What can be set of a system's servers.

use history::suggest;

/// A setting of a system, given as `--set name=value` or under `[settings]`.
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its default, as it would be written.
    pub default: &'static str,
    /// What it does, with the unit.
    pub about: &'static str,
    /// What it can be.
    pub values: Values,
}

/// What a setting can be.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// A whole number from 1 on. Periods and limits all: the servers refuse 0 too, but later and in words of their own.
    Count,
    /// One of a few words.
    OneOf(&'static [&'static str]),
}

/// A setting cannot be what was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadValue {
    /// Something else than a number.
    #[error("{name} is a whole number, not {given:?}")]
    NoNumber {
        /// The setting.
        name: &'static str,
        /// As given.
        given: String,
    },
    /// Zero.
    #[error("{name} is at least 1")]
    Zero {
        /// The setting.
        name: &'static str,
    },
    /// Another word.
    #[error("{name} is one of {}, not {given:?}{}", .words.join(", "), suggest::hint(.given, .words.iter().copied()))]
    OtherWord {
        /// The setting.
        name: &'static str,
        /// What it can be.
        words: &'static [&'static str],
        /// As given.
        given: String,
    },
}

impl Setting {
    /// Whether it can be this.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self, given: &str) -> Result<(), BadValue> {
        let name = self.name;
        match self.values {
            Values::Count => match given.parse::<u32>() {
                Ok(0) => Err(BadValue::Zero { name }),
                Ok(_) => Ok(()),
                Err(_) => Err(BadValue::NoNumber { name, given: given.into() }),
            },
            Values::OneOf(words) if words.contains(&given) => Ok(()),
            Values::OneOf(words) => Err(BadValue::OtherWord { name, words, given: given.into() }),
        }
    }
}
