//! What each recipe promises, in a few words.

use crate::recipes::{Primitive, RecipeInfo};

/// Of a sound recipe; of a broken one, what it claims.
pub(super) fn promise(info: &RecipeInfo) -> String {
    let until = match (info.system, info.primitive) {
        ("redis", Primitive::Lock) => "for the TTL, on the server's wall clock",
        ("redis", _) => "as long as it renews, on the server's wall clock",
        ("redis-independent", Primitive::Lock) => {
            "for the TTL, while of the servers that granted it so many keep data and time that the rest is no majority"
        }
        ("redis-independent", _) => {
            "as long as it renews, while of the servers that granted it so many keep data and time that the rest is no \
             majority"
        }
        ("redis-sentinel", _) => {
            "for the TTL, as long as no failover comes between: replication is asynchronous"
        }
        ("etcd", _) => "while its lease lives, whatever wall clocks say",
        _ => "while its session lives, whatever wall clocks say",
    };
    let (who, numbers) = match info.primitive {
        Primitive::Election => ("leader", "terms"),
        _ => ("holder", "tokens"),
    };
    let tokens = if info.has_token { format!("; {numbers} that increase") } else { String::new() };
    let looks = match info.aware {
        true => "; the client does not act after its deadline",
        false => "",
    };
    format!("one {who} {until}{tokens}{looks}")
}
