//! The protected resource over TCP. Needs no container.

use std::{cell::RefCell, rc::Rc, time::Duration};

use history::ResourceOp;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use workloads::{
    api::resource::{Op, Request},
    error::OpError,
};

use crate::{
    support::{LIMIT, assert_definite, on_node, stores},
    workload::serve,
};

fn write(id: &str, token: Option<u64>) -> Request {
    let op = Op::Write { id: id.into(), unfenced_base: None, fenced_base: None };
    Request { lock: "a".into(), process: 3, token, op }
}

#[test]
fn serves_reads_and_writes_in_order() {
    on_node(async |env| {
        let entries = Rc::new(RefCell::new(Vec::new()));
        let endpoint = serve(&env, entries.clone()).await;
        let resource = stores(&env).resource(&endpoint, LIMIT).await.unwrap();
        let written = resource.request(write("3-1", Some(7))).await.unwrap();
        assert_eq!((written.seq, written.fenced_refused), (1, false));
        let read = Request { lock: "a".into(), process: 4, token: None, op: Op::Read };
        let seen = resource.request(read).await.unwrap();
        assert_eq!(
            (seen.seq, seen.unfenced.as_deref(), seen.fenced.as_deref()),
            (2, Some("3-1"), Some("3-1"))
        );
        assert!(resource.request(write("3-2", Some(6))).await.unwrap().fenced_refused);
        let log: Vec<_> = entries.borrow().iter().map(|entry| (entry.seq, entry.op, entry.fenced)).collect();
        assert_eq!(
            log,
            [
                (1, ResourceOp::Write, Some(true)),
                (2, ResourceOp::Read, None),
                (3, ResourceOp::Write, Some(false))
            ]
        );
    });
}

#[test]
fn serves_a_request_whose_client_has_gone() {
    on_node(async |env| {
        let entries = Rc::new(RefCell::new(Vec::new()));
        let endpoint = serve(&env, entries.clone()).await;
        let mut stream = TcpStream::connect(&endpoint.addr).await.unwrap();
        let line = serde_json::to_string(&write("3-1", None)).unwrap();
        stream.write_all(format!("{line}\n{line}\n").as_bytes()).await.unwrap();
        drop(stream);
        env.sleep(Duration::from_millis(200)).await;
        assert_eq!(entries.borrow().len(), 2);
    });
}

#[test]
fn says_what_is_no_request() {
    on_node(async |env| {
        let endpoint = serve(&env, Rc::default()).await;
        let mut stream = TcpStream::connect(&endpoint.addr).await.unwrap();
        stream.write_all(b"{\"op\":\"erase\"}\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(r#"{"error":"not a request: "#), "{answer}");
        let nobody = workloads::api::Endpoint { node: "resource".into(), addr: "127.0.0.1:1".into() };
        assert_definite(stores(&env).resource(&nobody, LIMIT).await.map(|_| ()));
    });
}

#[test]
fn an_endless_request_is_refused_and_others_are_served() {
    on_node(async |env| {
        let endpoint = serve(&env, Rc::default()).await;
        let mut stream = TcpStream::connect(&endpoint.addr).await.unwrap();
        let mut answer = [0; 9];
        let chunk = [b' '; 4096];
        let flooded = async {
            // It ends the connection; what is still on its way then is nobody's.
            while stream.write_all(&chunk).await.is_ok() {
                if let Ok(Ok(_)) = env.timeout(Duration::ZERO, stream.peek(&mut answer)).await {
                    return;
                }
            }
        };
        assert!(env.timeout(Duration::from_secs(10), flooded).await.is_ok(), "it reads on and on");
        let resource = stores(&env).resource(&endpoint, LIMIT).await.unwrap();
        assert_eq!(resource.request(write("3-1", None)).await.unwrap().seq, 1);
    });
}

#[test]
fn an_endless_answer_is_given_up() {
    on_node(async |env| {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap().to_string();
        let flood = env.spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        });
        let endpoint = workloads::api::Endpoint { node: "resource".into(), addr };
        let resource = stores(&env).resource(&endpoint, Duration::from_secs(3600)).await.unwrap();
        let answered = env.timeout(Duration::from_secs(10), resource.request(write("3-1", None))).await;
        let error = answered.expect("it reads on and on").expect_err("that is no answer");
        let OpError::Indeterminate(why) = error else { panic!("{error:?} says too much") };
        assert!(why.contains("longer than"), "{why}");
        drop(flood);
    });
}
