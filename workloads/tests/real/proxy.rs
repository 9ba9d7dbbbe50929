//! A proxy that loses the answer to one chosen request.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use workloads::{
    api::Endpoint,
    env::{Env, TaskHandle},
};

/// Passes everything on, until a request matches: it still passes that on, but nothing that comes back from then on.
pub struct Proxy {
    /// Where it listens.
    pub endpoint: Endpoint,
    swallowed: Rc<Cell<bool>>,
    listener: RefCell<Option<Box<dyn TaskHandle>>>,
}

impl Proxy {
    pub async fn start(env: &Env, to: &Endpoint, matches: impl Fn(&[u8]) -> bool + 'static) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = Endpoint { node: "proxy".into(), addr: listener.local_addr().unwrap().to_string() };
        let swallowed = Rc::new(Cell::new(false));
        let (matches, task_env, to, flag) =
            (Rc::new(matches), env.clone(), to.addr.clone(), swallowed.clone());
        let task = env.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&to).await.unwrap();
                task_env.spawn(pass(client, server, matches.clone(), flag.clone())).detach();
            }
        });
        Proxy { endpoint, swallowed, listener: RefCell::new(Some(task)) }
    }

    /// Whether the request was seen.
    pub fn swallowed(&self) -> bool {
        self.swallowed.get()
    }

    /// Lets nobody connect any more.
    pub fn refuse_new(&self) {
        self.listener.borrow_mut().take();
    }
}

/// Whether what was sent is the request whose answer is to be lost.
type Matches = Rc<dyn Fn(&[u8]) -> bool>;

async fn pass(mut client: TcpStream, mut server: TcpStream, matches: Matches, swallowed: Rc<Cell<bool>>) {
    let (mut sent, mut answered) = (vec![0; 65536], vec![0; 65536]);
    let mut swallow = false;
    loop {
        tokio::select! {
            read = client.read(&mut sent) => match read {
                Ok(length) if length > 0 => {
                    if !swallow && !swallowed.get() && matches(&sent[..length]) {
                        swallow = true;
                        swallowed.set(true);
                    }
                    server.write_all(&sent[..length]).await.unwrap();
                }
                _ => return,
            },
            read = server.read(&mut answered) => match read {
                Ok(length) if length > 0 && swallow => {}
                Ok(length) if length > 0 => client.write_all(&answered[..length]).await.unwrap(),
                _ => return,
            },
        }
    }
}
