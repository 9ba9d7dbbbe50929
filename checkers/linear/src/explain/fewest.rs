//! The fewest of some things that are still enough.

/// Leaves out all that can be left out of `items`, which are in the order in which they are likely to matter, and are
/// enough together. Takes about `2 c log n` questions where `c` of `n` remain, as QuickXplain does (U. Junker, 2004),
/// if those that matter come first even fewer.
///
/// What is returned was once found to be enough (or is all there is): whoever asks can stop it at any time by saying no.
/// It gives up where more than `count_max` are needed.
pub(super) fn fewest<T: Clone>(
    items: &[T],
    count_max: usize,
    mut is_enough: impl FnMut(&[T]) -> bool,
) -> Vec<T> {
    let mut needed: Vec<T> = Vec::new();
    // Those needed are enough with these.
    let mut left = items.len();
    while needed.len() <= count_max {
        let mut ask = |count: usize| {
            let asked: Vec<T> = needed.iter().chain(&items[..count]).cloned().collect();
            is_enough(&asked)
        };
        let count = least(left, &mut ask);
        left = count;
        let Some(last) = count.checked_sub(1) else { break };
        needed.push(items[last].clone());
        left = last;
    }
    needed.extend_from_slice(&items[..left]);
    needed
}

/// The least count up to `max`, which is enough, that is enough: in steps that double, then by halving.
fn least(max: usize, is_enough: &mut impl FnMut(usize) -> bool) -> usize {
    let (mut too_few, mut enough) = (0, max);
    let mut count = 0;
    while count < max {
        if is_enough(count) {
            enough = count;
            break;
        }
        too_few = count + 1;
        count = count * 2 + 1;
    }
    while too_few < enough {
        let middle = too_few + (enough - too_few) / 2;
        match is_enough(middle) {
            true => enough = middle,
            false => too_few = middle + 1,
        }
    }
    enough
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_what_is_needed_remains() {
        let items: Vec<u32> = (0..1000).collect();
        for needed in [vec![], vec![0], vec![999], vec![3, 4, 500], vec![0, 999]] {
            let mut questions = 0;
            let mut found = fewest(&items, 30, |asked| {
                questions += 1;
                needed.iter().all(|it| asked.contains(it))
            });
            found.sort_unstable();
            assert_eq!(found, needed);
            assert!(questions <= 22 * (needed.len() + 1), "{questions} for {needed:?}");
        }
    }

    #[test]
    fn it_keeps_what_was_enough_when_it_is_stopped() {
        let items: Vec<u32> = (0..1000).collect();
        let mut questions = 0;
        let found = fewest(&items, 30, |asked| {
            questions += 1;
            questions < 14 && asked.contains(&100) && asked.contains(&10)
        });
        assert!(found.contains(&100) && found.contains(&10) && found.len() < 200, "{}", found.len());
    }

    #[test]
    fn it_gives_up_where_many_are_needed() {
        let items: Vec<u32> = (0..1000).collect();
        let mut questions = 0;
        let found = fewest(&items, 20, |asked| {
            questions += 1;
            asked.len() >= 900
        });
        assert!(found.len() >= 900 && questions < 1000, "{} after {questions}", found.len());
    }
}
