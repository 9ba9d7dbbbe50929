//! Applies one mechanism by hand, on the machine or in the container it runs in.
//!
//! ```text
//! fault pause|resume|kill PID
//! fault clock PID MS | clock-set PID MS | clock-read PID | clock-restore PID | clock-run MS PROGRAM ARGUMENT…
//! fault cut ID in|out|both ADDRESS… | counters ID | heal ID
//! ```

use std::{env, error::Error, process::exit};

#[cfg(target_os = "linux")]
use {
    nemesis::{clock, net, process, verbs::Direction},
    std::{net::Ipv4Addr, process::Command},
};

#[cfg(target_os = "linux")]
fn run(words: &[&str]) -> Result<String, Box<dyn Error>> {
    let ns = |ms: &str| -> Result<i64, Box<dyn Error>> { Ok(ms.parse::<i64>()? * 1_000_000) };
    let json = |value| serde_json::Value::Object(value).to_string();
    Ok(match words {
        ["pause", pid] => json(process::pause(pid.parse()?)?),
        ["resume", pid] => json(process::resume(pid.parse()?)?),
        ["kill", pid] => json(process::kill(pid.parse()?)?),
        ["clock", pid, ms] => json(clock::move_tree(pid.parse()?, ns(ms)?)?),
        ["clock-set", pid, ms] => format!("{:?}", clock::set(pid.parse()?, ns(ms)?)?),
        ["clock-read", pid] => format!("{:?}", clock::read_back(pid.parse()?)?),
        ["clock-restore", pid] => json(clock::restore_tree(pid.parse()?)?),
        ["clock-run", ms, program, arguments @ ..] => {
            let mut command = Command::new(program);
            command.args(arguments);
            clock::spawn(command, ns(ms)?)?.wait()?.to_string()
        }
        ["cut", id, direction, peers @ ..] => {
            let direction: Direction = serde_json::from_value((*direction).into())?;
            let peers = peers.iter().map(|peer| peer.parse()).collect::<Result<Vec<Ipv4Addr>, _>>()?;
            format!("{:?}", net::cut(id.parse()?, &peers, direction)?)
        }
        ["counters", id] => serde_json::to_string(&net::counters(id.parse()?)?)?,
        ["heal", id] => serde_json::to_string(&net::heal(id.parse()?)?)?,
        _ => return Err("unknown words: see the head of this example".into()),
    })
}

#[cfg(not(target_os = "linux"))]
fn run(_words: &[&str]) -> Result<String, Box<dyn Error>> {
    Err("faults are applied on Linux only".into())
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    match run(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(said) => println!("{said}"),
        Err(error) => {
            eprintln!("{error}");
            exit(1);
        }
    }
}
