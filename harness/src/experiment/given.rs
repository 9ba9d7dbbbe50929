//! Where flags and file meet.

use std::ops::Range;

use toml::Spanned;

/// A value that was given, by a flag or in the file.
pub struct Given<T> {
    /// The value.
    pub value: T,
    /// Where it stands in the file; `None` where a flag gave it.
    pub span: Option<Range<usize>>,
}

/// What was given, if anything: a flag goes before what the file says.
pub fn given<T: Clone>(flag: &Option<T>, key: &Option<Spanned<T>>) -> Option<Given<T>> {
    let of_flag = flag.clone().map(|value| Given { value, span: None });
    let of_file = || key.as_ref().map(|key| Given { value: key.get_ref().clone(), span: Some(key.span()) });
    of_flag.or_else(of_file)
}
