use std::collections::BTreeMap;

use history::{ResourceEntry, ResourceOp};

use crate::api::resource::{Op, Reply, Request};

/// For each lock an unfenced and a fenced register. Pure: the same requests in the same order give the same log.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    seq: u64,
    locks: BTreeMap<String, Pair>,
}

#[derive(Clone, Debug, Default)]
struct Pair {
    unfenced: Option<String>,
    fenced: Option<String>,
    token_max: u64,
}

impl Registers {
    /// Serves one request at `time` (nanoseconds since the run began).
    ///
    /// The fenced register refuses a token lower than the highest it has seen, in reads as in writes;
    /// a request without token leaves it alone. [`Op::Set`] is taken unseen, and its token with it.
    pub fn apply(&mut self, time: u64, request: &Request) -> (Reply, ResourceEntry) {
        self.seq += 1;
        let pair = self.locks.entry(request.lock.clone()).or_default();
        let unseen = matches!(request.op, Op::Set { .. });
        let accepted = request.token.map(|token| unseen || token >= pair.token_max);
        if let (Some(true), Some(token)) = (accepted, request.token) {
            pair.token_max = token;
        }
        let (op, id, unfenced_base, fenced_base) = match &request.op {
            Op::Read => (ResourceOp::Read, None, None, None),
            Op::Write { id, unfenced_base, fenced_base } | Op::Set { id, unfenced_base, fenced_base } => {
                pair.unfenced = Some(id.clone());
                if accepted == Some(true) {
                    pair.fenced = Some(id.clone());
                }
                (ResourceOp::Write, Some(id.clone()), unfenced_base.clone(), fenced_base.clone())
            }
        };
        let entry = ResourceEntry {
            seq: self.seq,
            time,
            lock: request.lock.clone(),
            op,
            process: request.process,
            id,
            token: request.token,
            unfenced_base,
            unfenced: true,
            fenced_base,
            fenced: accepted,
        };
        let reply = Reply {
            seq: self.seq,
            unfenced: pair.unfenced.clone(),
            fenced: pair.fenced.clone(),
            fenced_refused: accepted == Some(false),
        };
        (reply, entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(token: Option<u64>) -> Request {
        Request { lock: "a".into(), process: 0, token, op: Op::Read }
    }

    fn write(token: Option<u64>, id: &str) -> Request {
        let op = Op::Write { id: id.into(), unfenced_base: None, fenced_base: None };
        Request { lock: "a".into(), process: 0, token, op }
    }

    #[test]
    fn fenced_register_refuses_lower_tokens_only() {
        let mut registers = Registers::default();
        assert!(!registers.apply(1, &write(Some(2), "0-1")).0.fenced_refused);
        let (reply, entry) = registers.apply(2, &write(Some(1), "1-1"));
        assert!(reply.fenced_refused);
        assert_eq!((reply.unfenced.as_deref(), reply.fenced.as_deref()), (Some("1-1"), Some("0-1")));
        assert_eq!((entry.seq, entry.unfenced, entry.fenced), (2, true, Some(false)));
        assert!(!registers.apply(3, &write(Some(2), "0-2")).0.fenced_refused, "the same token again");
    }

    #[test]
    fn a_read_raises_the_highest_token() {
        let mut registers = Registers::default();
        registers.apply(1, &read(Some(5)));
        assert!(registers.apply(2, &write(Some(4), "0-1")).0.fenced_refused);
        assert!(registers.apply(3, &read(Some(4))).0.fenced_refused);
    }

    #[test]
    fn without_token_the_fenced_register_is_left_alone() {
        let mut registers = Registers::default();
        registers.apply(1, &write(Some(5), "0-1"));
        let (reply, entry) = registers.apply(2, &write(None, "0-2"));
        assert_eq!((reply.fenced.as_deref(), reply.fenced_refused, entry.fenced), (Some("0-1"), false, None));
    }

    #[test]
    fn a_set_is_not_compared_and_lowers_the_token() {
        let mut registers = Registers::default();
        let set = |token: u64, id: &str| Request {
            op: Op::Set { id: id.into(), unfenced_base: None, fenced_base: None },
            ..write(Some(token), id)
        };
        assert!(!registers.apply(1, &read(Some(1))).0.fenced_refused, "the stale writer's check passes");
        registers.apply(2, &set(2, "1-1"));
        let (reply, entry) = registers.apply(3, &set(1, "0-1"));
        assert_eq!(
            (reply.fenced.as_deref(), entry.fenced, entry.op),
            (Some("0-1"), Some(true), ResourceOp::Write)
        );
        assert!(!registers.apply(4, &read(Some(1))).0.fenced_refused, "it has the lower token now");
    }

    #[test]
    fn locks_do_not_share_tokens() {
        let mut registers = Registers::default();
        registers.apply(1, &write(Some(5), "0-1"));
        let other = Request { lock: "b".into(), ..write(Some(1), "0-2") };
        assert!(!registers.apply(2, &other).0.fenced_refused);
    }

    #[test]
    fn log_line_reads_as_documented() {
        let mut registers = Registers::default();
        let line = serde_json::to_string(&registers.apply(9, &write(Some(7), "3-4")).1).unwrap();
        assert_eq!(
            line,
            r#"{"seq":1,"time":9,"lock":"a","op":"write","process":0,"id":"3-4","token":7,"unfenced_base":null,"unfenced":true,"fenced_base":null,"fenced":true}"#
        );
    }
}
