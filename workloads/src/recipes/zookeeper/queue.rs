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
pub(super) async fn wait_for_turn(zk: &Rc<dyn ZkApi>, directory: &str, name: &str) -> OpResult<()> {
    loop {
        let names = in_order(zk, directory).await?;
        let place = names.iter().position(|other| other == name);
        let place = place.ok_or_else(|| OpError::Definite("our node is gone".into()))?;
        let Some(before) = place.checked_sub(1) else { return Ok(()) };
        let before = format!("{directory}/{}", names[before]);
        if zk.exists(&before, true).await?.is_some() {
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
    use super::*;

    #[test]
    fn sequence_numbers() {
        assert_eq!(sequence("_c_0123-lock-0000000042"), Some(42));
        assert_eq!(sequence("0000000042"), Some(42));
        assert_eq!(sequence("42"), None);
        assert_eq!(sequence("lock-00000000xy"), None);
        assert_eq!(sequence("éééééé"), None);
    }
}
