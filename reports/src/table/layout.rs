use anstyle::{AnsiColor, Style};
use history::verdict::Verdict;
use tabled::{
    builder::Builder,
    settings::{
        Alignment, Margin, Padding, Style as Lines, Width, object::Columns, peaker::Priority,
        style::HorizontalLine,
    },
};

use super::Options;

const MARGIN: usize = 2;
/// Below these columns a table has no room for its columns.
const NARROW: usize = 60;
/// Not even words fit into less.
const WIDTH_MIN: usize = 20;
/// Rows that are worth a terminal.
pub(super) const ROWS_MAX: usize = 50;

/// Width and colours of one printing.
pub(super) struct Layout {
    width: usize,
    color: bool,
}

impl Layout {
    pub(super) fn new(options: Options) -> Layout {
        Layout { width: options.width.max(WIDTH_MIN), color: options.color }
    }

    /// Whether there is room for what is only good to know.
    pub(super) fn is_wide(&self) -> bool {
        self.width >= 100
    }

    /// A heading of a section.
    pub(super) fn heading(&self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// Text that steps back.
    pub(super) fn dim(&self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// Text in the colour of a verdict.
    pub(super) fn verdict(&self, verdict: Verdict, text: &str) -> String {
        let color = match verdict {
            Verdict::Valid => AnsiColor::Green,
            Verdict::Unknown => AnsiColor::Yellow,
            Verdict::Invalid => AnsiColor::Red,
        };
        self.paint(color.on_default().bold(), text)
    }

    /// Text that warns.
    pub(super) fn warn(&self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    fn paint(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// The first rows under their heads: as a table, or as a list where there is no room for one.
    pub(super) fn table(&self, mut rows: Vec<Vec<String>>, right: &[usize]) -> String {
        let more = rows.len().saturating_sub(1 + ROWS_MAX);
        rows.truncate(1 + ROWS_MAX);
        let mut text = if self.width < NARROW { self.list(&rows) } else { self.grid(rows, right) };
        if more > 0 {
            text.push_str(&self.paragraph(&format!("and {more} more; --format json shows all")));
        }
        text
    }

    /// One paragraph a row.
    fn list(&self, rows: &[Vec<String>]) -> String {
        let Some((heads, rows)) = rows.split_first() else { return String::new() };
        let of = |row: &Vec<String>| {
            let rest = heads.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
            let rest: Vec<String> = rest.map(|(head, cell)| format!("{head} {cell}")).collect();
            self.paragraph(&format!("{}: {}", row[0], rest.join(", ")))
        };
        rows.iter().map(of).collect()
    }

    /// The widest column gives way; columns in `right` are aligned to the right.
    fn grid(&self, rows: Vec<Vec<String>>, right: &[usize]) -> String {
        let rule = HorizontalLine::new('─').intersection('─');
        let lines = Lines::blank().horizontals([(1, rule)]);
        let mut table = Builder::from(rows).build();
        table.with(lines).with(Padding::new(0, 1, 0, 0));
        for column in right {
            table.modify(Columns::one(*column), Alignment::right());
        }
        table.with(Width::wrap(self.width - MARGIN).keep_words(true).priority(Priority::max(true)));
        table.with(Margin::new(MARGIN, 0, 0, 0));
        trimmed(&table.to_string())
    }

    /// One line, which is broken only where the terminal is narrow.
    pub(super) fn line(&self, text: &str) -> String {
        if self.width < NARROW { self.wrapped(text, 0) } else { format!("{text}\n") }
    }

    /// A paragraph, wrapped and indented.
    pub(super) fn paragraph(&self, text: &str) -> String {
        self.wrapped(text, MARGIN)
    }

    fn wrapped(&self, text: &str, margin: usize) -> String {
        let mut table = Builder::from(vec![vec![text.to_owned()]]).build();
        table
            .with(Lines::empty())
            .with(Padding::zero())
            .with(Width::wrap(self.width - margin).keep_words(true));
        table.with(Margin::new(margin, 0, 0, 0));
        trimmed(&table.to_string())
    }
}

fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
