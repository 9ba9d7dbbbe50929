//! Bytes of a text, looked at eight at a time: the first one is the lowest of a word.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// What the bytes begin with; zeros stand for those that are not there.
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or_else(|| last_word(bytes), |chunk| u64::from_le_bytes(*chunk))
}

#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    let mut chunk = [0; 8];
    chunk[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(chunk)
}

/// How many bytes come before the first quote, backslash or control character.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> Option<usize> {
    let mut length = 0;
    while length < bytes.len() {
        let found = special(word(&bytes[length..]));
        length += found.trailing_zeros() as usize / 8;
        if found != 0 {
            break;
        }
    }
    // What stands for bytes that are not there is found too.
    (length < bytes.len()).then_some(length)
}

/// The high bit of each quote, backslash and control character. Only the lowest bit is certain: a byte that is found may
/// borrow from those above it.
fn special(word: u64) -> u64 {
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let quotes = zeros(word ^ (ONES * b'"' as u64));
    let backslashes = zeros(word ^ (ONES * b'\\' as u64));
    let controls = word.wrapping_sub(ONES * 32) & !word;
    (quotes | backslashes | controls) & HIGHS
}

/// How many digits the word begins with, and the number that they are.
pub(super) fn digits(word: u64) -> (usize, u64) {
    let values = word ^ (ONES * b'0' as u64);
    // From ten on, 118 more reach the high bit.
    let others = (values.wrapping_add(ONES * 118) | values) & HIGHS;
    let count = others.trailing_zeros() / 8;
    if count == 0 {
        return (0, 0);
    }
    // The digits move to the upper end, behind zeros; then two neighbours become one number, three times.
    let ones = values << (64 - 8 * count);
    let pairs = (ones.wrapping_mul(10).wrapping_add(ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let all = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff;
    (count as usize, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_where_each_byte_alone_says_so() {
        for special in 0..=u8::MAX {
            for (place, length) in (0..20).flat_map(|length| (0..length).map(move |place| (place, length))) {
                for filler in [b'a', b'!', b'#', b'[', b']', 0x20, 0x7f, 0x80, 0xff] {
                    let mut bytes = vec![filler; length];
                    bytes[place] = special;
                    // What comes after must not matter.
                    bytes.extend([special.wrapping_add(1), b'"', 0]);
                    let slow = bytes.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..32));
                    assert_eq!(plain_length(&bytes), slow, "{bytes:?}");
                    bytes.truncate(length);
                    let slow = bytes.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..32));
                    assert_eq!(plain_length(&bytes), slow, "{bytes:?}");
                }
            }
        }
    }

    #[test]
    fn digits_end_at_whatever_is_none() {
        for other in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for text in ["", "0", "7", "10", "999", "0042", "12345", "999999", "7654321"] {
                let mut bytes = text.as_bytes().to_vec();
                bytes.extend([other, b'5', other, b'9', b'0', other, b'1', b'2']);
                assert_eq!(digits(word(&bytes)), (text.len(), text.parse().unwrap_or(0)), "{bytes:?}");
            }
        }
        for text in ["12345678", "00000000", "99999999", "00000001"] {
            assert_eq!(digits(word(text.as_bytes())), (8, text.parse().unwrap()));
        }
    }
}
