//! How a command ends, as its process tells it.

use crate::{judgement::Judgement, verdict::Verdict};

/// A process' exit code. The first three speak of verdicts, the others follow `sysexits.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything as expected.
    Ok = 0,
    /// A violation, or an expectation not met.
    Invalid = 1,
    /// Nothing certain can be said.
    Unknown = 2,
    /// `EX_USAGE`: the command line makes no sense.
    Usage = 64,
    /// `EX_DATAERR`: an experiment, history or stored run cannot be read.
    Data = 65,
    /// `EX_UNAVAILABLE`: the world cannot be had.
    Unavailable = 69,
    /// `EX_SOFTWARE`: the harness failed.
    Harness = 70,
    /// 128 + SIGINT.
    Interrupted = 130,
}

impl ExitCode {
    /// What a judgement asks for: whether what was expected came, and where nothing was, the verdict.
    pub fn of(judgement: &Judgement) -> ExitCode {
        match (judgement.as_expected, judgement.verdict) {
            (Some(true), _) | (None, Verdict::Valid) => ExitCode::Ok,
            (_, Verdict::Unknown) => ExitCode::Unknown,
            (Some(false), _) | (None, Verdict::Invalid) => ExitCode::Invalid,
        }
    }
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> u8 {
        code as u8
    }
}

impl From<ExitCode> for i32 {
    fn from(code: ExitCode) -> i32 {
        i32::from(code as u8)
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        std::process::ExitCode::from(code as u8)
    }
}
