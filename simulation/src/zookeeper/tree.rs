//! The state machine behind the log: nodes, sessions, and what each change triggers.

use std::collections::{BTreeMap, BTreeSet};

use workloads::{
    api::zookeeper::{CreateMode, Stat, ZkEvent},
    clients::zookeeper::errors::code,
};

/// What goes through the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whose.
    pub(super) session: i64,
    /// The connection it came over; another connection may have taken the session since. 0: not a client's.
    pub(super) link: u64,
    pub(super) op: Op,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Open { timeout_ms: u64 },
    Attach,
    Close,
    Create { path: String, data: Vec<u8>, mode: CreateMode },
    SetData { path: String, data: Vec<u8>, version: i32 },
    Delete { path: String, version: i32 },
    Sync,
}

/// What a change answered, or an error code.
pub(super) type Outcome = Result<Done, i32>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Created(String, Stat),
    Stat(Stat),
    Session { timeout_ms: u64 },
    Nothing,
}

#[derive(Clone, Debug, Default)]
struct Node {
    data: Vec<u8>,
    stat: Stat,
    children: BTreeSet<String>,
    /// Children created so far: the next sequence number.
    created: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) timeout_ms: u64,
    link: u64,
    ephemerals: BTreeSet<String>,
}

/// The same on every server that has applied the same entries.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: BTreeMap<String, Node>,
    pub(super) sessions: BTreeMap<i64, Session>,
    /// The last transaction applied.
    pub(super) zxid: i64,
    /// What the last change triggers, for the server's watches.
    events: Vec<ZkEvent>,
}

impl Default for Tree {
    fn default() -> Self {
        let nodes = BTreeMap::from([(String::from("/"), Node::default())]);
        Tree { nodes, sessions: BTreeMap::new(), zxid: 0, events: Vec::new() }
    }
}

fn parent_of(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Tree {
    /// Applies one change; the events it triggers are there to be taken.
    pub(super) fn apply(&mut self, zxid: i64, change: &Change) -> Outcome {
        assert!(zxid > self.zxid, "transactions come in order, each once");
        self.zxid = zxid;
        let outcome = self.change(change);
        debug_assert!(
            self.sessions_own_their_nodes(),
            "each ephemeral node is listed by its session, and no other"
        );
        outcome
    }

    fn sessions_own_their_nodes(&self) -> bool {
        let owner = |path: &String| self.nodes.get(path).map(|node| node.stat.ephemeral_owner);
        let owns =
            |(id, session): (&i64, &Session)| session.ephemerals.iter().all(|path| owner(path) == Some(*id));
        let is_owned = |(path, node): (&String, &Node)| match node.stat.ephemeral_owner {
            0 => true,
            owner => self.sessions.get(&owner).is_some_and(|session| session.ephemerals.contains(path)),
        };
        self.sessions.iter().all(owns) && self.nodes.iter().all(is_owned)
    }

    fn change(&mut self, change: &Change) -> Outcome {
        let Change { session, link, op } = change;
        match op {
            Op::Open { timeout_ms } => {
                // A proposal that the network doubled comes twice, the second time to a session that owns nodes already.
                let new = Session { timeout_ms: *timeout_ms, link: *link, ephemerals: BTreeSet::new() };
                self.sessions.entry(*session).or_insert(new);
                return Ok(Done::Session { timeout_ms: *timeout_ms });
            }
            Op::Close if *link == 0 => return Ok(self.close(*session)),
            _ => {}
        }
        let known = self.sessions.get_mut(session).ok_or(code::SESSION_EXPIRED)?;
        if *op == Op::Attach {
            known.link = *link;
            return Ok(Done::Session { timeout_ms: known.timeout_ms });
        }
        if known.link != *link {
            return Err(code::SESSION_MOVED);
        }
        match op {
            Op::Create { path, data, mode } => self.create(*session, path, data, *mode),
            Op::SetData { path, data, version } => self.set_data(path, data, *version),
            Op::Delete { path, version } => self.delete(path, *version),
            Op::Close => Ok(self.close(*session)),
            Op::Sync | Op::Open { .. } | Op::Attach => Ok(Done::Nothing),
        }
    }

    /// What the changes since the last call trigger, in order.
    pub(super) fn take_events(&mut self) -> Vec<ZkEvent> {
        std::mem::take(&mut self.events)
    }

    pub(super) fn exists(&self, path: &str) -> Option<Stat> {
        self.nodes.get(path).map(|node| node.stat)
    }

    pub(super) fn children(&self, path: &str) -> Result<Vec<String>, i32> {
        let node = self.nodes.get(path).ok_or(code::NO_NODE)?;
        Ok(node.children.iter().cloned().collect())
    }

    pub(super) fn data(&self, path: &str) -> Result<(Vec<u8>, Stat), i32> {
        self.nodes.get(path).map(|node| (node.data.clone(), node.stat)).ok_or(code::NO_NODE)
    }

    fn create(&mut self, session: i64, path: &str, data: &[u8], mode: CreateMode) -> Outcome {
        if !path.starts_with('/') || (path.ends_with('/') && mode != CreateMode::EphemeralSequential) {
            return Err(code::BAD_ARGUMENTS);
        }
        let zxid = self.zxid;
        let parent_path = parent_of(path).to_owned();
        let parent = self.nodes.get_mut(&parent_path).ok_or(code::NO_NODE)?;
        if parent.stat.ephemeral_owner != 0 {
            return Err(code::NO_CHILDREN_FOR_EPHEMERALS);
        }
        let path = match mode {
            CreateMode::EphemeralSequential => format!("{path}{:010}", parent.created),
            CreateMode::Persistent | CreateMode::Ephemeral => path.to_owned(),
        };
        if !parent.children.insert(name_of(&path).to_owned()) {
            return Err(code::NODE_EXISTS);
        }
        parent.created += 1;
        let ephemeral_owner = if mode == CreateMode::Persistent { 0 } else { session };
        let stat = Stat { czxid: zxid, mzxid: zxid, version: 0, ephemeral_owner };
        let before = self.nodes.insert(path.clone(), Node { data: data.to_vec(), stat, ..Node::default() });
        assert!(before.is_none(), "a node that is there is its parent's child");
        if let (true, Some(owner)) = (ephemeral_owner != 0, self.sessions.get_mut(&session)) {
            assert!(owner.ephemerals.insert(path.clone()), "a session owns a node once");
        }
        self.events.push(ZkEvent::Created(path.clone()));
        self.events.push(ZkEvent::ChildrenChanged(parent_path));
        Ok(Done::Created(path, stat))
    }

    fn set_data(&mut self, path: &str, data: &[u8], version: i32) -> Outcome {
        let zxid = self.zxid;
        let node = self.nodes.get_mut(path).ok_or(code::NO_NODE)?;
        if version != -1 && version != node.stat.version {
            return Err(code::BAD_VERSION);
        }
        assert!(node.stat.czxid <= node.stat.mzxid, "a node is changed after it was created");
        assert!(node.stat.mzxid < zxid, "a node's changes have zxids that increase");
        node.data = data.to_vec();
        node.stat.version += 1;
        node.stat.mzxid = zxid;
        let stat = node.stat;
        self.events.push(ZkEvent::DataChanged(path.to_owned()));
        Ok(Done::Stat(stat))
    }

    fn delete(&mut self, path: &str, version: i32) -> Outcome {
        let node = self.nodes.get(path).ok_or(code::NO_NODE)?;
        if version != -1 && version != node.stat.version {
            return Err(code::BAD_VERSION);
        }
        if !node.children.is_empty() {
            return Err(code::NOT_EMPTY);
        }
        if path == "/" {
            return Err(code::BAD_ARGUMENTS);
        }
        self.remove(path);
        Ok(Done::Nothing)
    }

    fn remove(&mut self, path: &str) {
        let Some(node) = self.nodes.remove(path) else { return };
        assert!(node.children.is_empty(), "a node goes after its children");
        assert!(node.stat.czxid < self.zxid, "what is deleted was there before");
        if let Some(owner) = self.sessions.get_mut(&node.stat.ephemeral_owner) {
            assert!(owner.ephemerals.remove(path), "a session lists the nodes that it owns");
        }
        let parent = parent_of(path).to_owned();
        let above = self.nodes.get_mut(&parent);
        assert!(above.is_some(), "a node's parent is there");
        if let Some(above) = above {
            assert!(above.children.remove(name_of(path)), "a node is its parent's child");
        }
        self.events.push(ZkEvent::Deleted(path.to_owned()));
        self.events.push(ZkEvent::ChildrenChanged(parent));
    }

    /// The end of a session takes its ephemeral nodes.
    fn close(&mut self, session: i64) -> Done {
        if let Some(ended) = self.sessions.remove(&session) {
            for path in &ended.ephemerals {
                let owner = self.nodes.get(path).map(|node| node.stat.ephemeral_owner);
                assert!(owner == Some(session), "a session ends with nodes of its own");
                self.remove(path);
            }
        }
        Done::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::default();
        let open = Change { session: 7, link: 1, op: Op::Open { timeout_ms: 1000 } };
        tree.apply(1, &open).unwrap();
        tree
    }

    fn apply(tree: &mut Tree, op: Op) -> Outcome {
        let zxid = tree.zxid + 1;
        tree.apply(zxid, &Change { session: 7, link: 1, op })
    }

    fn create(path: &str, mode: CreateMode) -> Op {
        Op::Create { path: path.into(), data: vec![], mode }
    }

    #[test]
    fn sequence_numbers_count_creations() {
        let mut tree = tree();
        apply(&mut tree, create("/q", CreateMode::Persistent)).unwrap();
        let mut names = Vec::new();
        for _ in 0..3 {
            match apply(&mut tree, create("/q/n-", CreateMode::EphemeralSequential)).unwrap() {
                Done::Created(path, stat) => {
                    assert_eq!((stat.czxid, stat.ephemeral_owner), (tree.zxid, 7));
                    apply(&mut tree, Op::Delete { path: path.clone(), version: -1 }).unwrap();
                    names.push(path);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(names, ["/q/n-0000000000", "/q/n-0000000001", "/q/n-0000000002"]);
    }

    #[test]
    fn a_session_takes_its_nodes_with_it() {
        let mut tree = tree();
        apply(&mut tree, create("/a", CreateMode::Ephemeral)).unwrap();
        apply(&mut tree, create("/b", CreateMode::Persistent)).unwrap();
        assert_eq!(
            apply(&mut tree, create("/a/x", CreateMode::Persistent)),
            Err(code::NO_CHILDREN_FOR_EPHEMERALS)
        );
        tree.take_events();
        tree.apply(9, &Change { session: 7, link: 0, op: Op::Close }).unwrap();
        assert_eq!((tree.exists("/a"), tree.exists("/b").is_some()), (None, true));
        assert_eq!(tree.take_events(), [ZkEvent::Deleted("/a".into()), ZkEvent::ChildrenChanged("/".into())]);
        assert_eq!(apply(&mut tree, Op::Sync), Err(code::SESSION_EXPIRED));
    }

    #[test]
    fn a_session_that_is_opened_twice_keeps_its_nodes() {
        let mut tree = tree();
        apply(&mut tree, create("/a", CreateMode::Ephemeral)).unwrap();
        apply(&mut tree, Op::Open { timeout_ms: 1000 }).unwrap();
        tree.apply(9, &Change { session: 7, link: 0, op: Op::Close }).unwrap();
        assert_eq!(tree.exists("/a"), None);
    }

    #[test]
    fn a_session_belongs_to_its_last_connection() {
        let mut tree = tree();
        tree.apply(2, &Change { session: 7, link: 2, op: Op::Attach }).unwrap();
        assert_eq!(apply(&mut tree, create("/a", CreateMode::Ephemeral)), Err(code::SESSION_MOVED));
    }

    #[test]
    fn versions_guard() {
        let mut tree = tree();
        apply(&mut tree, create("/a", CreateMode::Persistent)).unwrap();
        let set = |version| Op::SetData { path: "/a".into(), data: vec![1], version };
        assert!(apply(&mut tree, set(0)).is_ok());
        assert_eq!(apply(&mut tree, set(0)), Err(code::BAD_VERSION));
        assert!(apply(&mut tree, set(-1)).is_ok());
        assert_eq!(tree.exists("/a").unwrap().version, 2);
        assert_eq!(apply(&mut tree, Op::Delete { path: "/a".into(), version: 1 }), Err(code::BAD_VERSION));
        assert_eq!(apply(&mut tree, create("/a", CreateMode::Ephemeral)), Err(code::NODE_EXISTS));
        assert_eq!(apply(&mut tree, create("/x/y", CreateMode::Ephemeral)), Err(code::NO_NODE));
    }
}
