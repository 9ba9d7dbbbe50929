//! The Redis model: expiry on the wall clock, persistence, restart.

use std::time::Duration;

use simulation::{
    Node, Sim,
    disk::Disk,
    redis::{Change, Persistence, RedisClient, start},
};
use workloads::{api::redis::RedisApi, env::EnvApi};

const LIMIT: Duration = Duration::from_secs(1);
const TTL: Duration = Duration::from_secs(10);

struct Server {
    node: Node,
    client: Node,
    disk: Disk<Change>,
    persistence: Persistence,
}

impl Server {
    fn start(sim: &Sim, persistence: Persistence) -> Server {
        let server =
            Server { node: sim.node("s1"), client: sim.node("c1"), disk: Disk::default(), persistence };
        start(&server.node, &server.disk, persistence);
        server
    }

    async fn connect(&self) -> RedisClient {
        RedisClient::open(&self.client, self.node.id(), LIMIT).await.unwrap()
    }

    /// Kills and restarts; with `power_cut` what was not synced is lost.
    async fn restart(&self, power_cut: bool) -> RedisClient {
        self.node.kill();
        if power_cut {
            self.disk.lose_unsynced();
        }
        self.node.revive();
        start(&self.node, &self.disk, self.persistence);
        self.connect().await
    }
}

#[test]
fn keys_expire_by_the_servers_wall_clock_alone() {
    let sim = Sim::new(1);
    let server = Server::start(&sim, Persistence::None);
    sim.block_on(async move {
        let redis = server.connect().await;
        assert_eq!(redis.set_nx_px("a", "1", TTL).await, Ok(true));
        assert_eq!(redis.set_nx_px("a", "2", TTL).await, Ok(false));
        server.client.set_clock_offset(60_000_000_000);
        assert_eq!(redis.get("a").await, Ok(Some("1".into())), "the client's clock is nobody's business");
        server.node.set_clock_offset(11_000_000_000);
        assert_eq!(redis.get("a").await, Ok(None), "a jump by the TTL frees it at once");
        server.node.set_clock_offset(0);
        assert_eq!(redis.set_nx_px("a", "3", TTL).await, Ok(true));
        server.node.set_clock_offset(-60_000_000_000);
        server.client.sleep(TTL * 2).await;
        assert_eq!(redis.get("a").await, Ok(Some("3".into())), "a jump back makes it live longer");
    })
    .unwrap();
}

/// Whether a key survives a kill, and whether it survives a power cut soon after the answer.
fn survives(persistence: Persistence) -> (bool, bool) {
    let sim = Sim::new(2);
    let server = Server::start(&sim, persistence);
    sim.block_on(async move {
        let mut survived = Vec::new();
        for power_cut in [false, true] {
            let redis = server.connect().await;
            redis.del("a").await.unwrap();
            assert_eq!(redis.set_nx_px("a", "1", TTL).await, Ok(true));
            let redis = server.restart(power_cut).await;
            survived.push(redis.get("a").await.unwrap().is_some());
        }
        (survived[0], survived[1])
    })
    .unwrap()
}

#[test]
fn persistence_decides_what_a_restart_forgets() {
    assert_eq!(survives(Persistence::None), (false, false));
    assert_eq!(survives(Persistence::EverySecond), (true, false));
    assert_eq!(survives(Persistence::Always(Duration::from_millis(1))), (true, true));
}
