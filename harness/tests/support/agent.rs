//! An agent that is no container's first process but works all the same.

use std::{
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::Value;

use super::fencepost;

/// One at work; it ends with the test.
pub struct Agent {
    /// Its process.
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    /// What it told beside answers, without the greeting.
    pub told: Vec<Value>,
    asked: u64,
}

impl Agent {
    /// Starts one.
    pub fn start() -> Agent {
        Agent::start_by(fencepost())
    }

    /// Starts one by this command, which lacks the word `agent` and what follows it.
    pub fn start_by(mut command: std::process::Command) -> Agent {
        command.arg("agent");
        Agent::of(command)
    }

    /// Starts one by this command.
    pub fn of(mut command: std::process::Command) -> Agent {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary runs");
        let lines = BufReader::new(child.stdout.take().expect("it has a stdout")).lines();
        Agent { stdin: child.stdin.take(), child, lines, told: Vec::new(), asked: 0 }
    }

    /// Writes a line to its stdin.
    pub fn say(&mut self, line: &str) -> std::io::Result<()> {
        writeln!(self.stdin.as_mut().expect("it has a stdin"), "{line}")
    }

    /// Gives a command, and waits for its answer. What it tells before that is kept.
    pub fn asked(&mut self, command: &str) -> Result<Value, String> {
        self.asked += 1;
        self.say(&format!("{{\"id\":{},\"command\":{command}}}", self.asked)).expect("it listens");
        loop {
            let mut told = self.next().expect("it answers");
            let result = &mut told["reply"]["result"];
            match (result["Ok"].take(), result["Err"].as_str()) {
                (Value::Null, Some(why)) => return Err(why.to_string()),
                (Value::Null, None) => self.told.push(told),
                (answer, _) => return Ok(answer),
            }
        }
    }

    /// The same, of a command that must not fail.
    pub fn ask(&mut self, command: &str) -> Value {
        self.asked(command).unwrap_or_else(|why| panic!("{command}: {why}"))
    }

    /// The next message; `None` when there is none more.
    pub fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.lines.next()?.expect("it is read");
            let told = line.strip_prefix('A').map(serde_json::from_str::<Value>);
            match told.map(|told| told.expect("a message")) {
                Some(told) if told["hello"].is_null() => return Some(told),
                _ => {}
            }
        }
    }

    /// The next line, whatever it is.
    pub fn line(&mut self) -> Option<String> {
        self.lines.next().map(|line| line.expect("it is read"))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It ends by itself then.
        let _ = self.child.wait();
    }
}

/// The command that starts a program of the node.
pub fn start(program: &str, args: &[&str]) -> String {
    start_with(program, args, &Value::Null)
}

/// The same, with a first line for its stdin.
pub fn start_with(program: &str, args: &[&str], input: &Value) -> String {
    let program = serde_json::json!({
        "when": null, "candidates": [program], "args": args, "classpath": null, "env": [], "cwd": null,
        "tagged": false, "input": input,
    });
    serde_json::json!({ "start": [[program]] }).to_string()
}
