//! Tables: comment lines, a header, and rows of cells. Shared by csv, tsv and promptfoo.

use quintain_source::csv::Records;
use serde_json::{Map, Value};

use crate::datasets::fields;
use crate::datasets::import_error::ImportError;
use crate::datasets::sink::Sink;

/// Rows to look at before deciding that a text is a table.
const SAMPLE: usize = 20;
/// A longer cell of the first row is not the name of a column.
const LONGEST_NAME: usize = 64;

/// A header and the rows below it, each with its line.
pub(super) struct Table<'t> {
    pub(super) columns: Vec<String>,
    rows: Records<'t>,
    lines: Lines<'t>,
}

impl<'t> Table<'t> {
    /// Reads the header. None if there is none.
    pub(super) fn new(text: &'t str, delimiter: char) -> Option<Self> {
        let body = &text[comments(text)..];
        let mut rows = Records::new(body, delimiter);
        let header = rows.next()?;
        let columns = header.iter().map(|cell| cell.text.trim().to_owned()).collect();
        let skipped = text[..text.len() - body.len()].matches('\n').count();
        Some(Self { columns, rows, lines: Lines { text: body, at: 0, line: skipped + 1 } })
    }
}

impl Iterator for Table<'_> {
    type Item = (usize, Vec<String>);

    fn next(&mut self) -> Option<Self::Item> {
        let cells = self.rows.next()?;
        let line = self.lines.of(cells.first().map_or(0, |cell| cell.range.start));
        Some((line, cells.into_iter().map(|cell| cell.text.into_owned()).collect()))
    }
}

/// Counts lines of offsets that only grow.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, offset: usize) -> usize {
        let passed = self.text.get(self.at..offset).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.at = self.at.max(offset);
        self.line
    }
}

/// How many bytes of comment lines a text starts with.
fn comments(text: &str) -> usize {
    let lines = text.split_inclusive('\n');
    lines.take_while(|line| line.starts_with('#') || line.trim().is_empty()).map(str::len).sum()
}

/// How certain it is that a text is a table with this delimiter, from 0 to 100.
pub(super) fn recognises(text: &str, delimiter: char) -> u8 {
    if text.trim_start().starts_with(['[', '{']) {
        return 0;
    }
    let Some(table) = Table::new(text, delimiter) else { return 0 };
    let width = table.columns.len();
    let names = table.columns.iter();
    let are_names = names
        .clone()
        .all(|name| !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(": "));
    let has_value = names.clone().any(|name| fields::is_value(name));
    let is_even = table.take(SAMPLE).all(|(_, cells)| cells.len() == width);
    match (are_names, has_value, width) {
        (true, true, 1) => 70,
        (true, true, _) if is_even => 85,
        (true, true, _) => 75,
        (true, false, 2..) if is_even => 45,
        _ => 0,
    }
}

/// Reads all rows as records.
pub(super) fn read(
    text: &str,
    delimiter: char,
    format: &'static str,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let table = Table::new(text, delimiter);
    let table = table.ok_or(ImportError::Syntax {
        format,
        line: None,
        reason: "there is no header".into(),
    })?;
    if !table.columns.iter().any(|name| sink.is_text(name)) {
        let names = table.columns.join(", ");
        let reason =
            format!("no column contains the text of entries; map one of them to `value`: {names}");
        return Err(ImportError::Syntax { format, line: Some(1), reason });
    }
    let columns = table.columns.clone();
    for (line, cells) in table {
        if cells.len() != columns.len() {
            let (cells, columns) = (cells.len(), columns.len());
            sink.bad(Some(line), format!("this row has {cells} cells, the header has {columns}"));
            continue;
        }
        let filled = columns.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
        let record: Map<String, Value> =
            filled.map(|(name, cell)| (name.clone(), Value::String(cell))).collect();
        sink.record(Some(line), record);
    }
    Ok(())
}
