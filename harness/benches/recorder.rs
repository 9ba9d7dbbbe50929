//! Operations a second from client processes in containers, through their agents, to the history file, none lost.
//!
//! `cargo bench -p fencepost --bench recorder [-- CLIENTS OPERATIONS]` (each client; default 4 and 250000).
//! The clients do nothing but record, so the figure is the recorder's path alone:
//! client → agent → attached stdout → link → recorder → `history.jsonl`.

use std::{
    cell::Cell,
    io::BufRead,
    rc::Rc,
    time::{Duration, Instant},
};

use harness::{
    agent::protocol::{Command, Program, Tag},
    engine::Engine,
    error::{Error, Result},
    own_ticks::OwnTicks,
    recorder::Recorder,
    store::HISTORY,
    world::{
        SHORT,
        docker::{
            clean,
            layer::Layer,
            link::Upward,
            loss::Loss,
            network::Network,
            node::{Node, NodeSpec, OTHER_MEMORY},
        },
    },
};

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let (clients, operations) = (numbers.next().unwrap_or(4), numbers.next().unwrap_or(250_000));
    // SAFETY: no other thread runs yet.
    unsafe { std::env::set_var("FENCEPOST_NODE_BINARY", env!("CARGO_BIN_EXE_fencepost")) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let run = format!("bench-{}", std::process::id());
    let done = tokio::task::LocalSet::new().block_on(&runtime, async {
        let engine = Engine::connect().await?;
        let measured = measure(&engine, &run, clients, operations).await;
        clean::remove_run(&engine, &run, Duration::ZERO).await?;
        measured
    });
    if let Err(error) = done {
        eprintln!("error: {error}");
        std::process::exit(error.exit_code().into());
    }
}

async fn measure(engine: &Engine, run: &str, clients: usize, operations: usize) -> Result<()> {
    let folder = std::env::temp_dir().join(run);
    std::fs::create_dir_all(&folder).map_err(|error| Error::Harness(error.to_string()))?;
    let recorder = Rc::new(Recorder::create(&folder)?);
    let image = Layer::of_this_binary()?.on(engine, None).await?;
    let network = Network::create(engine, run).await?;
    let seen = Rc::new(Cell::new(0usize));
    let mut nodes = Vec::new();
    for client in 0..clients {
        let node = format!("c{}", client + 1);
        let (recorder, seen) = (recorder.clone(), seen.clone());
        let upward = move |what: Upward| {
            if let Upward::Line(Tag::Event, line) = what
                && let Ok(event) = serde_json::from_slice(&line)
            {
                recorder.record(event);
                seen.set(seen.get() + 1);
            }
        };
        let address = network.address(100 + client as u8);
        let memory = OTHER_MEMORY;
        let spec = NodeSpec { run, node: &node, image: &image, network: &network.name, address, memory };
        nodes.push(Node::create(engine, spec, &OwnTicks::default(), &Loss::default(), upward).await?);
    }
    let begun = Instant::now();
    for (client, node) in nodes.iter().enumerate() {
        let program = Program {
            candidates: vec!["/fencepost".into()],
            args: vec!["flood".into(), client.to_string(), operations.to_string()],
            tagged: true,
            ..Program::default()
        };
        node.link.call(Command::Start(vec![vec![program]]), SHORT).await.map_err(Error::Harness)?;
    }
    let wanted = clients * operations * 2;
    while seen.get() < wanted && begun.elapsed().as_secs() < 120 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    recorder.flush();
    let seconds = begun.elapsed().as_secs_f64();
    let path = folder.join(HISTORY);
    let file = std::fs::File::open(&path).map_err(|error| Error::Harness(error.to_string()))?;
    let lines = std::io::BufReader::new(file).lines().count();
    println!(
        "{} operations of {clients} clients in {seconds:.2} s: {:.0} operations/s; {lines} events in the file, {} lost",
        lines / 2,
        lines as f64 / 2.0 / seconds,
        wanted - lines
    );
    std::fs::remove_dir_all(&folder).map_err(|error| Error::Harness(error.to_string()))
}
