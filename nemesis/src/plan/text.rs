//! Plans on the command line: `pause:holder,clock:server`, `partition`.

use std::{fmt, str::FromStr};

use super::{FaultSpec, Plan, PlanError};
use crate::{kind::FaultKind, target::Target};

impl FromStr for Plan {
    type Err = PlanError;

    /// `kind[:target]`, separated by commas. Empty text and `none` mean no faults.
    fn from_str(text: &str) -> Result<Plan, PlanError> {
        if matches!(text.trim(), "" | "none") {
            return Ok(Plan::default());
        }
        Ok(Plan { faults: text.split(',').map(FaultSpec::from_str).collect::<Result<_, _>>()? })
    }
}

impl FromStr for FaultSpec {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<FaultSpec, PlanError> {
        let (kind, target) = match text.split_once(':') {
            Some((kind, target)) => (kind.parse::<FaultKind>()?, Some(target)),
            None => (text.parse::<FaultKind>()?, None),
        };
        let target = target.map_or_else(|| Ok(kind.info().default_target.clone()), Target::from_str)?;
        let spec = FaultSpec::new(kind, target);
        spec.check()?;
        Ok(spec)
    }
}

impl fmt::Display for Plan {
    /// As on the command line, with what that form cannot say in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.faults.is_empty() {
            return f.write_str("none");
        }
        for (index, spec) in self.faults.iter().enumerate() {
            write!(f, "{}{spec}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for FaultSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind(), self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        text.parse::<Plan>().unwrap_err().to_string()
    }

    #[test]
    fn reads_kinds_and_targets() {
        let plan: Plan = "pause:holder, clock:majority,partition,kill:s2".parse().unwrap();
        assert_eq!(plan.to_string(), "pause:holder,clock:majority,partition:server,kill:s2");
        assert_eq!("none".parse::<Plan>(), Ok(Plan::default()));
        assert_eq!(Plan::default().to_string(), "none");
        for alias in
            ["partition:leader", "partition:client", "partition:halves", "partition:one", "clock:all"]
        {
            assert!(alias.parse::<Plan>().is_ok(), "{alias}");
        }
    }

    #[test]
    fn errors_say_what_would_be_right() {
        assert!(said("pauze:holder").ends_with("did you mean `pause`?"));
        assert!(said("pause:holdr").ends_with("did you mean `holder`?"));
        assert!(
            said("pause:halves")
                .starts_with("`pause` cannot hit `halves`: use one of server, leader, holder")
        );
        assert!(said("pause,,kill").starts_with("unknown fault ``"));
        assert!(said("partition:groups").contains("at least two"));
    }
}
