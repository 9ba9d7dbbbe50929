//! What a replica's clients see: reads hide what has expired, writes are refused.
//!
//! Source: `db.c` of Redis 7.0 (`expireIfNeeded`: on a replica an expired key is reported absent and not deleted),
//! `server.c` (`processCommand`) and `script.c` (`scriptVerifyWriteCommandAllow`: a script runs up to its first write).

use std::time::Duration;

use workloads::api::redis::{Keys, Value};

use super::{
    keyspace::Keyspace,
    server::{Answer, Command, eval},
};

const READONLY: &str = "READONLY You can't write against a read only replica.";
const NO_WAIT: &str = "ERR WAIT cannot be used with replica instances";

/// A command on a replica, whose wall clock reads `wall` nanoseconds.
pub(super) fn run(keys: &Keyspace, command: &Command, wall: i64) -> Answer {
    let found = |key: &str| keys.peek(key);
    match command {
        Command::SetNxPx(..) | Command::Del(_) => Err(READONLY),
        Command::Get(key) => Ok(found(key).map_or(Value::Nil, |(value, _)| Value::Text(value.to_owned()))),
        Command::Pttl(key) => Ok(found(key).and_then(|(_, left)| left).map_or(Value::Nil, Value::Integer)),
        Command::Time => Ok(Value::Integer(wall.div_euclid(1000))),
        Command::Wait(..) => Err(NO_WAIT),
        Command::Role => Ok(Value::Array(vec![Value::Text("slave".into())])),
        Command::Eval(script, words) => {
            let mut seen = Seen { keys, refused: false };
            let answer = eval(&mut seen, script, words);
            if seen.refused { Err(READONLY) } else { Ok(answer) }
        }
    }
}

/// A script's view. After its first write the script has failed: what it then does is of no effect.
struct Seen<'a> {
    keys: &'a Keyspace,
    refused: bool,
}

impl Keys for Seen<'_> {
    fn get(&mut self, key: &str) -> Option<&str> {
        self.keys.peek(key).map(|(value, _)| value)
    }

    fn set(&mut self, _: &str, _: &str, _: Option<Duration>) {
        self.refused = true;
    }

    fn set_nx(&mut self, _: &str, _: &str, _: Duration) -> bool {
        self.refused = true;
        false
    }

    fn del(&mut self, _: &str) -> bool {
        self.refused = true;
        false
    }

    fn pexpire(&mut self, _: &str, _: Duration) -> bool {
        self.refused = true;
        false
    }

    fn incr(&mut self, _: &str) -> i64 {
        self.refused = true;
        0
    }
}

#[cfg(test)]
mod tests {
    use workloads::api::redis::Script;

    use super::*;
    use crate::redis::words::Words;

    static TOUCH: Script = Script {
        name: "touch",
        lua: "if redis.call('get', KEYS[1]) then return redis.call('incr', KEYS[1]) else return 7 end",
        rust: |keys, names, _| match keys.get(names[0]) {
            Some(_) => Value::Integer(keys.incr(names[0])),
            None => Value::Integer(7),
        },
    };

    #[test]
    fn expired_keys_are_hidden_and_kept_and_writes_are_refused() {
        let mut keys = Keyspace::default();
        keys.set_time(0);
        keys.set("a", "1", Some(Duration::from_millis(100)));
        let get = Command::Get("a".into());
        assert_eq!(run(&keys, &get, 0), Ok(Value::Text("1".into())));
        let touch = || Command::Eval(&TOUCH, Words::new(&["a"], &[]));
        assert_eq!(run(&keys, &touch(), 0), Err(READONLY));
        assert_eq!(run(&keys, &Command::Del("a".into()), 0), Err(READONLY));
        keys.set_time(101_000_000);
        assert_eq!(run(&keys, &get, 0), Ok(Value::Nil));
        assert_eq!(run(&keys, &touch(), 0), Ok(Value::Integer(7)), "a script that writes nothing runs");
        assert_eq!(keys.snapshot().len(), 1);
    }
}
