use std::{cell::RefCell, io, rc::Rc, time::Duration};

use checkers::history::ResourceEntry;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use super::Registers;
use crate::{api::resource::Request, env::Env};

/// Serves until dropped: a line of JSON a request, a line a reply. Every request served is handed to `log`, in order.
///
/// A request is served when it arrives, however late, and whether or not its client still waits: that is the point.
pub async fn serve(env: Env, listener: TcpListener, log: Rc<dyn Fn(&ResourceEntry)>) {
    let registers = Rc::new(RefCell::new(Registers::default()));
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (clock, registers, log) = (env.clone(), registers.clone(), log.clone());
                env.spawn(async move {
                    // A connection that breaks is its client's concern; what it sent before has been served.
                    let _ = converse(clock, stream, registers, log).await;
                })
                .detach();
            }
            // Out of descriptors, or a connection that ended before it was accepted: others may still come.
            Err(_) => env.sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn converse(
    env: Env,
    stream: TcpStream,
    registers: Rc<RefCell<Registers>>,
    log: Rc<dyn Fn(&ResourceEntry)>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await? {
        let request: Request = match serde_json::from_str(&line) {
            Ok(request) => request,
            Err(error) => {
                let refusal = serde_json::json!({ "error": format!("not a request: {error}") });
                return writer.write_all(format!("{refusal}\n").as_bytes()).await;
            }
        };
        let (reply, entry) = registers.borrow_mut().apply(env.now(), &request);
        log(&entry);
        let mut answer = serde_json::to_vec(&reply).map_err(io::Error::other)?;
        answer.push(b'\n');
        // The client may be gone, while more of its requests are still to be read.
        let _ = writer.write_all(&answer).await;
    }
    Ok(())
}
