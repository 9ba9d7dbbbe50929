use std::{cell::RefCell, io, rc::Rc, time::Duration};

use history::ResourceEntry;
use tokio::{
    io::{AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use super::Registers;
use crate::{api::resource::Request, env::Env, lines::next_line};

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
    let mut reader = BufReader::new(reader);
    loop {
        let request = match next_line(&mut reader).await {
            Ok(None) => return Ok(()),
            Ok(Some(line)) => serde_json::from_str::<Request>(&line).map_err(|error| error.to_string()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        let request = match request {
            Ok(request) => request,
            Err(why) => {
                let refusal = serde_json::json!({ "error": format!("not a request: {why}") });
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
}
