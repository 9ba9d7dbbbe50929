//! Whole numbers, however a tool has spelled them.

use super::{Value, View};

impl Value<'_> {
    /// The whole number that this plainly is: an integer, a float without fraction, or a numeral in a string
    /// (digits, with or without a minus before them). A float of 2⁵¹ or more, either way, is none, because its text
    /// may have been that of another whole number; nor is anything that 128 bits do not hold.
    #[inline]
    pub fn as_whole(self) -> Option<i128> {
        self.as_i64().map(i128::from).or_else(|| self.as_rare_whole())
    }

    fn as_rare_whole(self) -> Option<i128> {
        match self.view() {
            View::UInt(value) => Some(value.into()),
            View::Float(value) => float(value),
            View::Number(text) => number(text),
            View::String(text) => numeral(text),
            _ => None,
        }
    }
}

fn float(value: f64) -> Option<i128> {
    // The reader of JSON may be off by nearly two units in the last place. Below this they are less than one, and so a
    // float without fraction is the number that was written.
    const FIRST_AMBIGUOUS: f64 = (1_u64 << (f64::MANTISSA_DIGITS - 2)) as f64;
    (value.abs() < FIRST_AMBIGUOUS && value.fract() == 0.0).then_some(value as i128)
}

/// Of EDN's numbers that no machine number holds, the whole ones: `18446744073709551616N`, `5M`, `5.0M`.
fn number(text: &str) -> Option<i128> {
    let text = text.strip_suffix(['N', 'M']).unwrap_or(text);
    let (before, after) = text.split_once('.').unwrap_or((text, ""));
    if after.bytes().all(|digit| digit == b'0') { numeral(before) } else { None }
}

fn numeral(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_numeral = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_numeral { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use crate::{History, ReadOptions, edn, jsonl};

    fn whole(history: &History) -> Vec<Option<i128>> {
        history.row(0).value().items().map(|item| item.as_whole()).collect()
    }

    fn of_json(list: &str) -> Vec<Option<i128>> {
        let line = format!(r#"{{"time":0,"process":0,"type":"invoke","f":"x","value":{list}}}"#);
        whole(&jsonl::read(line.as_bytes(), &ReadOptions::default()).unwrap())
    }

    fn of_edn(list: &str) -> Vec<Option<i128>> {
        let line = format!("{{:process 0 :type :invoke :f :x :value {list}}}");
        whole(&edn::read(line.as_bytes(), &ReadOptions::default()).unwrap())
    }

    #[test]
    fn integers_whole_floats_and_numerals_are_whole_numbers() {
        let (most, least) = (i128::from(u64::MAX), i128::from(i64::MIN));
        let json =
            r#"[5, 5.0, "5", -2, -2.0, "-2", -0.0, "0007", 18446744073709551615, "-9223372036854775808"]"#;
        assert_eq!(
            of_json(json),
            [5, 5, 5, -2, -2, -2, 0, 7, most, least].map(Some),
            "all that are plainly whole"
        );
        assert_eq!(
            of_edn(r#"[5 5.0 "5" 5N 5M 5.0M 18446744073709551616N]"#),
            [5, 5, 5, 5, 5, 5, most + 1].map(Some)
        );
    }

    #[test]
    fn nothing_else_is() {
        let json = r#"[2.5, "", "-", "+5", " 5", "5 ", "5.0", "1e3", "x", "٥", true, null, [5], {"5":5}]"#;
        assert_eq!(of_json(json), [None; 14]);
        assert_eq!(of_edn(r"[1/3 5.5M :5 five \5 ##NaN ##Inf #{5}]"), [None; 8]);
    }

    #[test]
    fn a_float_that_may_stand_for_another_whole_number_is_none() {
        assert_eq!(of_edn("[2251799813685247.0 2251799813685248.0]"), [Some((1 << 51) - 1), None]);
        assert_eq!(of_json("[562949953421311.0]"), [Some((1 << 49) - 1)]);
        assert_eq!(
            of_json("[9007199254740991.0, 9007199254740992.0]"),
            [None; 2],
            "off by one where JSON is read"
        );
        assert_eq!(
            of_json("[123456789012345678901, 123456789012345678902]"),
            [None; 2],
            "rounded by the reader"
        );
        assert_eq!(of_json(&format!("[\"{}\"]", "9".repeat(40))), [None]);
    }
}
