use crate::table::Encoder;

/// Packs a number: as a machine number where one holds it exactly or it is a float, else as text.
pub(super) fn pack(token: &[u8], out: &mut Encoder<'_>) -> Result<(), String> {
    if let Some(value) = small(token) {
        out.int(value);
        return Ok(());
    }
    let text = std::str::from_utf8(token).unwrap_or_default();
    let (negative, digits) = match text.split_at_checked(1) {
        Some(("-", digits)) => (true, digits),
        Some(("+", digits)) => (false, digits),
        _ => (false, text),
    };
    let sign = if negative { "-" } else { "" };
    if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        let value = u64::from_str_radix(hex, 16).ok().filter(|_| !hex.starts_with('+')).map(i128::from);
        return value
            .map(|value| whole(if negative { -value } else { value }, out))
            .ok_or_else(|| wrong(text));
    }
    if let Some((above, below)) = digits.split_once('/') {
        return ratio(sign, above, below, out).ok_or_else(|| wrong(text));
    }
    let integer = digits.strip_suffix('N').unwrap_or(digits);
    if is_digits(integer) {
        if integer.len() > 1 && integer.starts_with('0') {
            return Err(format!("{text} has a leading zero; octal numbers are not read"));
        }
        match format!("{sign}{integer}").parse() {
            Ok(value) if fits(value) => whole(value, out),
            _ => out.number(&format!("{sign}{integer}N")),
        }
        return Ok(());
    }
    let decimal = digits.strip_suffix('M').unwrap_or(digits);
    if !is_decimal(decimal) {
        return Err(wrong(text));
    }
    if decimal.len() < digits.len() {
        out.number(&format!("{sign}{digits}"));
    } else {
        out.float(text.parse().map_err(|_| wrong(text))?);
    }
    Ok(())
}

/// A whole number of up to 18 digits: nearly all that occur.
pub(super) fn small(token: &[u8]) -> Option<i64> {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    if digits.is_empty() || digits.len() > 18 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    let mut value = 0;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if digits.len() < token.len() { -value } else { value })
}

fn fits(value: i128) -> bool {
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value)
}

fn whole(value: i128, out: &mut Encoder<'_>) {
    match i64::try_from(value) {
        Ok(value) => out.int(value),
        Err(_) if fits(value) => out.uint(value as u64),
        Err(_) => out.number(&format!("{value}N")),
    }
}

/// In lowest terms, as Clojure keeps ratios; terms beyond 127 bits stay as they are.
fn ratio(sign: &str, above: &str, below: &str, out: &mut Encoder<'_>) -> Option<()> {
    if !is_digits(above) || !is_digits(below) || below.bytes().all(|digit| digit == b'0') {
        return None;
    }
    match (above.parse::<i128>(), below.parse::<i128>()) {
        (Ok(above), Ok(below)) => {
            let divisor = gcd(above, below);
            let (above, below) = (above / divisor, below / divisor);
            let signed = if sign.is_empty() { above } else { -above };
            if below == 1 { whole(signed, out) } else { out.number(&format!("{signed}/{below}")) }
        }
        _ => out.number(&format!("{sign}{above}/{below}")),
    }
    Some(())
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Digits, then a fraction, an exponent, or both; whole numbers too, for `1M`.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
        None => (text, "0"),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    is_digits(before) && (after.is_empty() || is_digits(after)) && is_digits(exponent)
}

fn wrong(text: &str) -> String {
    format!("{text} is no number that EDN knows")
}
