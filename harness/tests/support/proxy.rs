//! Stands before the engine's socket and misbehaves when told to.
use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    thread::{sleep, spawn},
    time::Duration,
};

/// What it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// All that is said goes through.
    Pass,
    /// It takes a while.
    Slow,
    /// Connections stay, and nothing goes through.
    Silent,
    /// Connections break, and new ones are ended at once.
    Cut,
    /// Connections break, and nobody listens.
    Refuse,
    /// Connections break, and new ones are answered in no language.
    Garbage,
}

const ALL: [Mode; 6] = [Mode::Pass, Mode::Slow, Mode::Silent, Mode::Cut, Mode::Refuse, Mode::Garbage];
const ENGINE: &str = "/var/run/docker.sock";
const LOOK: Duration = Duration::from_millis(5);

/// The proxy; it goes on until the test's process ends.
pub struct Proxy {
    folder: tempfile::TempDir,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    mode: AtomicU8,
    open: Mutex<Vec<UnixStream>>,
    /// Once a client says this, the mode changes.
    trigger: Mutex<Option<(&'static str, Mode)>>,
}

impl Proxy {
    /// One that begins so.
    pub fn start(mode: Mode) -> Proxy {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let state = Arc::new(State::default());
        state.set(mode);
        let (path, serving) = (folder.path().join("docker.sock"), state.clone());
        // It is there once this returns.
        let listener = if mode == Mode::Refuse { None } else { listen(&path) };
        spawn(move || serve(&path, &serving, listener));
        Proxy { folder, state }
    }

    /// What `DOCKER_HOST` is to be.
    pub fn host(&self) -> String {
        format!("unix://{}", self.folder.path().join("docker.sock").display())
    }

    /// From now on it does that.
    pub fn set(&self, mode: Mode) {
        self.state.set(mode);
    }

    /// What it does now.
    pub fn mode(&self) -> Mode {
        self.state.mode()
    }

    /// It changes once somebody says this to the engine.
    pub fn set_when(&self, said: &'static str, mode: Mode) {
        *self.state.trigger.lock().expect("no panic") = Some((said, mode));
    }
}

impl State {
    fn mode(&self) -> Mode {
        ALL[usize::from(self.mode.load(Ordering::SeqCst))]
    }

    fn set(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
        if matches!(mode, Mode::Cut | Mode::Refuse | Mode::Garbage) {
            for stream in self.open.lock().expect("no panic").drain(..) {
                // It may be closed already.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }

    fn hear(&self, said: &[u8]) {
        let mut trigger = self.trigger.lock().expect("no panic");
        if let Some((words, mode)) = *trigger
            && String::from_utf8_lossy(said).contains(words)
        {
            *trigger = None;
            drop(trigger);
            self.set(mode);
        }
    }
}

fn listen(path: &PathBuf) -> Option<UnixListener> {
    let _ = std::fs::remove_file(path);
    let listener = UnixListener::bind(path).expect("a socket");
    listener.set_nonblocking(true).expect("it can be polled");
    Some(listener)
}

fn serve(path: &PathBuf, state: &Arc<State>, mut listener: Option<UnixListener>) {
    loop {
        match (&listener, state.mode()) {
            (Some(_), Mode::Refuse) => listener = None,
            (None, Mode::Refuse) => sleep(LOOK),
            (None, _) if path.parent().is_none_or(|folder| !folder.exists()) => return,
            (None, _) => listener = listen(path),
            (Some(waiting), mode) => match waiting.accept() {
                Ok((stream, _)) => accepted(state, stream, mode),
                Err(_) => sleep(LOOK),
            },
        }
    }
}

fn accepted(state: &Arc<State>, mut client: UnixStream, mode: Mode) {
    client.set_nonblocking(false).expect("it can be waited for");
    match mode {
        Mode::Cut => {}
        // Whoever is gone has heard enough.
        Mode::Garbage => _ = client.write_all(b"\x01\xff\x00 what?\r\n\r\n"),
        _ => {
            let engine = UnixStream::connect(ENGINE).expect("the engine listens");
            let copy = |stream: &UnixStream| stream.try_clone().expect("a descriptor");
            state.open.lock().expect("no panic").extend([copy(&client), copy(&engine)]);
            let (from_client, to_engine) = (copy(&client), copy(&engine));
            let (up, down) = (state.clone(), state.clone());
            spawn(move || pump(from_client, to_engine, |said| up.hear(said), &up));
            spawn(move || pump(engine, client, |_| {}, &down));
        }
    }
}

fn pump(mut from: UnixStream, mut to: UnixStream, hear: impl Fn(&[u8]), state: &State) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        hear(&bytes[..read]);
        while state.mode() == Mode::Silent {
            sleep(LOOK);
        }
        if state.mode() == Mode::Slow {
            sleep(Duration::from_millis(100));
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
