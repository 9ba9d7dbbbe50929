use std::fmt::Write as _;
use std::io::{self, Write};

use crate::table::{is_keyword, quoted};
use crate::{EventKind, History, Process, Row};

/// Writes the history as Jepsen and Knossos read it: a map a line, with keywords as keys.
///
/// # Errors
/// What the output says.
pub fn write(output: &mut impl Write, history: &History) -> io::Result<()> {
    let mut line = String::new();
    for row in history.rows() {
        line.clear();
        event(&mut line, row).map_err(io::Error::other)?;
        output.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn event(line: &mut String, row: Row<'_>) -> std::fmt::Result {
    let kind = match row.kind() {
        EventKind::Invoke => "invoke",
        EventKind::Ok => "ok",
        EventKind::Fail => "fail",
        EventKind::Info => "info",
    };
    write!(line, "{{:index {}, :time {}, :type :{kind}, :process ", row.index(), row.time())?;
    match row.process() {
        Process::Client(number) => write!(line, "{number}")?,
        Process::Nemesis => line.push_str(":nemesis"),
    }
    line.push_str(", :f ");
    if is_keyword(row.f()) {
        write!(line, ":{}", row.f())?;
    } else {
        quoted(line, row.f())?;
    }
    write!(line, ", :value {}", row.value())?;
    for (key, text) in [(":node", row.node()), (":error", row.error())] {
        if let Some(text) = text {
            write!(line, ", {key} ")?;
            quoted(line, text)?;
        }
    }
    line.push_str("}\n");
    Ok(())
}
