//! The list of kinds.

use super::*;
use crate::target::Target;

#[test]
fn every_kind_is_whole() {
    for kind in FaultKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(kind.check_target(&kind.info().default_target), Ok(()));
        assert!(kind.info().colour.len() == 7 && kind.info().colour.starts_with('#'));
        for target in kind.info().targets {
            let (every, lasts) = (kind.every(target, 2000), kind.lasts(target, 2000));
            assert!(every.from_ms > lasts.to_ms, "{kind}:{target} would run into itself");
        }
    }
}

#[test]
fn errors_name_what_is_good() {
    assert_eq!(
        FaultKind::Kill.check_target(&Target::Resource).unwrap_err().to_string(),
        "`kill` cannot hit `resource`: use one of server, leader, holder, waiter, client, any, minority, \
         majority, all, rolling or a node such as s2 or c1"
    );
    assert_eq!(
        "puase".parse::<FaultKind>().unwrap_err().to_string(),
        "unknown fault `puase`: use one of pause, kill, partition, clock; did you mean `pause`?"
    );
}
