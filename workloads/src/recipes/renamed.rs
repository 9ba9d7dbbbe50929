//! Names that recipes once had. A plain name used to be the client that looks at its clock, wherever there was one, and
//! `…-unaware` the one that does not; now a plain name is the algorithm as it is used, and `…-aware` the one that looks.

/// What a recipe is called now whose name is no longer taken; `None` where it never was one.
pub fn name_now(gone: &str) -> Option<&'static str> {
    GONE.iter().find(|(name, _)| *name == gone).map(|(_, now)| *now)
}

/// What a recipe is called now that a run or an experiment named `then` while plain names still stood for clients that
/// look at their clocks. A name that always meant what it means now is given back as it is.
pub fn name_before_twins(then: &str) -> &str {
    let looked = LOOKED.iter().find(|(name, _)| *name == then).map(|(_, now)| *now);
    looked.or_else(|| name_now(then)).unwrap_or(then)
}

/// Names that are refused, with what they are called now.
const GONE: &[(&str, &str)] = &[
    ("redis/set-nx-lease-unaware", "redis/set-nx-lease"),
    ("redis/set-nx-fenced-lease-unaware", "redis/set-nx-fenced-lease"),
    ("redis/redlock-lease-unaware", "redis/redlock-lease"),
    ("etcd/lease-lock-lease-unaware", "etcd/lease-lock-lease"),
    ("etcd/lock-rpc-lease-unaware", "etcd/lock-rpc-lease"),
    ("zookeeper/lock-lease-unaware", "zookeeper/lock-lease"),
];

/// Names that meant a client that looks at its clock, with what that one is called now.
const LOOKED: &[(&str, &str)] = &[
    ("redis/set-nx-lease", "redis/set-nx-lease-aware"),
    ("redis/set-nx-fenced-lease", "redis/set-nx-fenced-lease-aware"),
    ("redis/redlock", "redis/redlock-aware"),
    ("redis/redlock-lease", "redis/redlock-lease-aware"),
    ("redis/election", "redis/election-aware"),
    ("etcd/lease-lock", "etcd/lease-lock-aware"),
    ("etcd/lease-lock-lease", "etcd/lease-lock-lease-aware"),
    ("etcd/lock-rpc", "etcd/lock-rpc-aware"),
    ("etcd/lock-rpc-lease", "etcd/lock-rpc-lease-aware"),
    ("etcd/election", "etcd/election-aware"),
    ("etcd/campaign-rpc", "etcd/campaign-rpc-aware"),
    ("zookeeper/lock", "zookeeper/lock-aware"),
    ("zookeeper/lock-lease", "zookeeper/lock-lease-aware"),
    ("zookeeper/election", "zookeeper/election-aware"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipes::find;

    #[test]
    fn a_name_that_is_gone_is_refused_with_the_new_one() {
        for (gone, now) in GONE {
            assert!(!find(now).unwrap().aware, "{now}");
            let refused = find(gone).unwrap_err().to_string();
            assert_eq!(refused, format!("there is no recipe {gone:?} any more: what it was is {now:?} now"));
        }
    }

    #[test]
    fn what_looked_at_its_clock_is_found_by_its_name_of_then() {
        for (then, now) in LOOKED {
            assert!(find(now).unwrap().aware && !find(then).unwrap().aware, "{then}");
            assert_eq!(name_before_twins(then), *now);
        }
        assert_eq!(name_before_twins("redis/set-nx"), "redis/set-nx", "it never looked");
        assert_eq!(name_before_twins("redis/redlock-lease-unaware"), "redis/redlock-lease");
        assert_eq!(name_before_twins("etcd/put-without-compare"), "etcd/put-without-compare");
        assert_eq!(name_before_twins("no/such"), "no/such");
    }

    #[test]
    fn every_sound_recipe_has_its_twin() {
        let sound: Vec<_> = crate::recipes::all().filter(|info| info.broken.is_none()).collect();
        for info in &sound {
            let plain = info.name.strip_suffix("-aware").unwrap_or(info.name);
            assert_eq!(info.aware, plain != info.name, "{}", info.name);
            assert_eq!(
                sound
                    .iter()
                    .filter(|other| other.name.starts_with(plain) && {
                        let rest = &other.name[plain.len()..];
                        rest.is_empty() || rest == "-aware"
                    })
                    .count(),
                2,
                "{}",
                info.name
            );
        }
    }
}
