use anstyle::{AnsiColor, Style};
use checkers::verdict::Verdict;
use tabled::{
    builder::Builder,
    settings::{
        Alignment, Margin, Padding, Style as Lines, Width, object::Columns, peaker::Priority,
        style::HorizontalLine,
    },
};

use super::Options;

const MARGIN: usize = 2;

/// Width and colours of one printing.
pub(super) struct Layout {
    width: usize,
    color: bool,
}

impl Layout {
    pub(super) fn new(options: Options) -> Layout {
        Layout { width: options.width.max(60), color: options.color }
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

    /// A table whose widest column gives way; columns in `right` are aligned to the right.
    pub(super) fn table(&self, rows: Vec<Vec<String>>, right: &[usize]) -> String {
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

    /// A paragraph, wrapped and indented.
    pub(super) fn paragraph(&self, text: &str) -> String {
        let mut table = Builder::from(vec![vec![text.to_owned()]]).build();
        table
            .with(Lines::empty())
            .with(Padding::zero())
            .with(Width::wrap(self.width - MARGIN).keep_words(true));
        table.with(Margin::new(MARGIN, 0, 0, 0));
        trimmed(&table.to_string())
    }
}

fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
