//! Lines from the network, none of them longer than a line has to be.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// Requests to the protected resource and its answers are far shorter.
const LENGTH_MAX: u64 = 1 << 16;

/// The next line, without its end; `None` at the end of the stream.
///
/// # Errors
/// Those of the stream, and [`io::ErrorKind::InvalidData`] for a line that is too long or not UTF-8.
pub(crate) async fn next_line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut line = Vec::new();
    let read = reader.take(LENGTH_MAX).read_until(b'\n', &mut line).await?;
    match line.pop_if(|last| *last == b'\n') {
        None if read as u64 == LENGTH_MAX => Err(invalid(format!("a line longer than {LENGTH_MAX} bytes"))),
        None if read == 0 => Ok(None),
        _ => String::from_utf8(line).map(Some).map_err(|error| invalid(error.to_string())),
    }
}
