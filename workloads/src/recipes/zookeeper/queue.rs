//! A directory of ephemeral sequential nodes as a queue: the first is the owner, each watches the one before it.

use std::rc::Rc;

use crate::{
    api::{
        ZkApi,
        zookeeper::{Answer, ZkEvent},
    },
    error::{OpError, OpResult},
};

/// Digits that the server appends to the name of a sequential node.
const DIGITS: usize = 10;

/// How a variant is broken by design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::recipes) enum Flaw {
    /// It waits for the deletion of a node that it does not know to exist any more.
    WatchAfterRead,
}

/// The children of `directory` in the order of their sequence numbers, whatever the beginnings of their names.
pub(super) async fn in_order(zk: &Rc<dyn ZkApi>, directory: &str) -> OpResult<Vec<String>> {
    match zk.get_children(directory, false).await? {
        Answer::Done(mut names) => {
            names.retain(|name| sequence(name).is_some());
            names.sort_by_key(|name| sequence(name));
            Ok(names)
        }
        Answer::NoNode => Ok(vec![]),
        other => Err(OpError::Indeterminate(format!("cannot list {directory}: {other:?}"))),
    }
}

fn sequence(name: &str) -> Option<u64> {
    name.get(name.len().checked_sub(DIGITS)?..)?.parse().ok()
}

/// Waits until `name` is the first of `directory`. The watch is set by the question whether the node before it exists,
/// so that no deletion is missed.
pub(super) async fn wait_for_turn(
    zk: &Rc<dyn ZkApi>,
    directory: &str,
    name: &str,
    flaw: Option<Flaw>,
) -> OpResult<()> {
    loop {
        let names = in_order(zk, directory).await?;
        let place = names.iter().position(|other| other == name);
        let place = place.ok_or_else(|| OpError::Definite("our node is gone".into()))?;
        let Some(before) = place.checked_sub(1) else { return Ok(()) };
        let before = format!("{directory}/{}", names[before]);
        let exists = zk.exists(&before, true).await?.is_some();
        if exists || flaw == Some(Flaw::WatchAfterRead) {
            wait_for_deletion(zk, &before).await?;
        }
    }
}

async fn wait_for_deletion(zk: &Rc<dyn ZkApi>, path: &str) -> OpResult<()> {
    loop {
        match zk.next_event().await {
            ZkEvent::Deleted(deleted) if deleted == path => return Ok(()),
            ZkEvent::Expired => return Err(OpError::Definite("the session has ended".into())),
            ZkEvent::Disconnected => return Err(OpError::Indeterminate("the connection broke".into())),
            // An earlier watch, of a node that was waited for before.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::Future, pin::pin, task::Context};

    use async_trait::async_trait;

    use super::*;
    use crate::api::zookeeper::{CreateMode, Session, Stat};

    #[test]
    fn sequence_numbers() {
        assert_eq!(sequence("_c_0123-lock-0000000042"), Some(42));
        assert_eq!(sequence("0000000042"), Some(42));
        assert_eq!(sequence("42"), None);
        assert_eq!(sequence("lock-00000000xy"), None);
        assert_eq!(sequence("éééééé"), None);
    }

    #[test]
    fn a_deletion_between_list_and_watch_is_seen_by_the_sound_and_missed_by_the_flawed() {
        assert!(turn_comes("b-0000000002", None));
        assert!(!turn_comes("b-0000000002", Some(Flaw::WatchAfterRead)));
        assert!(turn_comes("a-0000000001", Some(Flaw::WatchAfterRead)), "the first waits for nobody");
    }

    /// Whether the turn of `name` comes although nothing more happens.
    fn turn_comes(name: &str, flaw: Option<Flaw>) -> bool {
        let zk: Rc<dyn ZkApi> = Rc::new(Vanishing(Cell::new(false)));
        let turn = pin!(wait_for_turn(&zk, "/d", name, flaw));
        turn.poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready()
    }

    /// A directory whose first node vanishes once the children have been listed.
    struct Vanishing(Cell<bool>);

    fn not_asked<T>() -> OpResult<T> {
        Err(OpError::Indeterminate("not asked for here".into()))
    }

    #[async_trait(?Send)]
    impl ZkApi for Vanishing {
        async fn get_children(&self, _path: &str, _watch: bool) -> OpResult<Answer<Vec<String>>> {
            let first = (!self.0.replace(true)).then(|| "a-0000000001".to_string());
            Ok(Answer::Done(["b-0000000002".to_string()].into_iter().chain(first).collect()))
        }

        async fn exists(&self, _path: &str, _watch: bool) -> OpResult<Option<Stat>> {
            Ok(None)
        }

        async fn next_event(&self) -> ZkEvent {
            std::future::pending().await
        }

        async fn create(&self, _: &str, _: &[u8], _: CreateMode) -> OpResult<Answer<(String, Stat)>> {
            not_asked()
        }

        async fn get_data(&self, _: &str, _: bool) -> OpResult<Answer<(Vec<u8>, Stat)>> {
            not_asked()
        }

        async fn set_data(&self, _: &str, _: &[u8], _: i32) -> OpResult<Answer<Stat>> {
            not_asked()
        }

        async fn delete(&self, _: &str, _: i32) -> OpResult<Answer<()>> {
            not_asked()
        }

        async fn sync(&self, _: &str) -> OpResult<()> {
            not_asked()
        }

        fn session(&self) -> Session {
            Session { id: 0, password: vec![], timeout: Default::default(), zxid_seen: 0 }
        }

        fn answered_before(&self, _time: u64) -> u64 {
            0
        }

        async fn close(&self) -> OpResult<()> {
            not_asked()
        }

        fn detach(&self) {}

        fn usable(&self) -> bool {
            true
        }
    }
}
