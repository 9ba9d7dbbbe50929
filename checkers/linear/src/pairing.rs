//! From invocations and completions to operations.

use rustc_hash::FxHashMap;

use crate::op::{FailMeans, Op, Return};

/// Pairs events, fed in order of time, into operations.
///
/// ```
/// use linear::{op::FailMeans, pairing::Pairing};
///
/// let mut pairing = Pairing::new();
/// pairing.invoke(0, 0, "acquire")?;
/// pairing.invoke(1, 1, "acquire")?;
/// pairing.ok(0, 2, "granted")?;
/// pairing.fail(1, 3, FailMeans::Refused, "refused")?;
/// pairing.invoke(0, 4, "release")?;
/// let ops = pairing.finish();
/// assert_eq!(ops.len(), 3);
/// assert!(ops[2].is_info(), "what was never completed is indeterminate");
/// # Ok::<(), linear::pairing::PairingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pairing<I, O> {
    ops: Vec<Option<Op<I, O>>>,
    open: FxHashMap<u32, usize>,
}

/// Events that do not make a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PairingError {
    /// A process does one thing at a time.
    #[error("process {0} invoked an operation while another was under way")]
    Busy(u32),
    /// There is nothing to complete.
    #[error("process {0} completed an operation that it had not invoked")]
    Idle(u32),
}

impl<I, O> Default for Pairing<I, O> {
    fn default() -> Self {
        Pairing { ops: Vec::new(), open: FxHashMap::default() }
    }
}

impl<I, O> Pairing<I, O> {
    /// No events yet.
    pub fn new() -> Self {
        Pairing::default()
    }

    /// A process asks for something.
    pub fn invoke(&mut self, process: u32, at: u64, input: I) -> Result<(), PairingError> {
        if self.open.insert(process, self.ops.len()).is_some() {
            return Err(PairingError::Busy(process));
        }
        self.ops.push(Some(Op::info(process, at, input)));
        Ok(())
    }

    /// What the process asked for and has no answer to yet.
    pub fn asked(&self, process: u32) -> Option<&I> {
        self.ops[*self.open.get(&process)?].as_ref().map(|op| &op.input)
    }

    /// It happened.
    pub fn ok(&mut self, process: u32, at: u64, output: O) -> Result<(), PairingError> {
        let op = self.close(process)?;
        if let Some(op) = &mut self.ops[op] {
            op.returned = Some(Return { at, output });
        }
        Ok(())
    }

    /// It failed, which means nothing, or that it was answered with `refused`.
    pub fn fail(&mut self, process: u32, at: u64, means: FailMeans, refused: O) -> Result<(), PairingError> {
        match means {
            FailMeans::Refused => self.ok(process, at, refused),
            FailMeans::Nothing => self.drop(process),
        }
    }

    /// Nobody knows: the process can ask for something else, if the history permits it.
    pub fn info(&mut self, process: u32) -> Result<(), PairingError> {
        self.close(process).map(|_| ())
    }

    /// It says nothing: the operation is left out.
    pub fn drop(&mut self, process: u32) -> Result<(), PairingError> {
        let op = self.close(process)?;
        self.ops[op] = None;
        Ok(())
    }

    /// The operations in order of invocation; those under way are indeterminate.
    pub fn finish(self) -> Vec<Op<I, O>> {
        self.ops.into_iter().flatten().collect()
    }

    fn close(&mut self, process: u32) -> Result<usize, PairingError> {
        self.open.remove(&process).ok_or(PairingError::Idle(process))
    }
}
