//! Converts a row of a CSV file into a test as it would be written in a suite.

use quintain_source::{Diagnostic, FileId, Key, Node, Span, closest};

use super::expected::{assertion, key};
use quintain_source::csv::{Cell, Records};

/// The special columns of promptfoo, which start with two underscores.
const SPECIAL: [&str; 9] = [
    "__expected",
    "__prefix",
    "__suffix",
    "__description",
    "__providerOutput",
    "__metric",
    "__threshold",
    "__metadata",
    "__config",
];

/// The meaning of a column, from its header.
enum Column {
    Expected,
    /// Sets the option of this name.
    Option(&'static str),
    /// Sets the key of the test of this name.
    Field(&'static str),
    Metric,
    Threshold,
    Metadata {
        name: String,
        list: bool,
    },
    /// The threshold of the n-th assertion in the row.
    Config(usize),
    Ignored,
    Var(String),
}

/// The tests of a CSV file, row by row, each with the errors in its row.
pub(super) struct Rows<'t> {
    id: FileId,
    columns: Vec<Column>,
    records: std::iter::Enumerate<Records<'t>>,
    /// The errors in the header.
    complaints: Vec<Diagnostic>,
}

impl<'t> Rows<'t> {
    pub(super) fn new(text: &'t str, id: FileId, delimiter: char) -> Self {
        let mut complaints = Vec::new();
        let mut records = Records::new(text, delimiter);
        let header = records.next().unwrap_or_default();
        let columns = header.iter().map(|cell| column(cell, id, &mut complaints)).collect();
        Self { id, columns, records: records.enumerate(), complaints }
    }

    /// Takes the errors in the header.
    pub(super) fn complaints(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.complaints)
    }
}

impl Iterator for Rows<'_> {
    type Item = (Option<Node>, Vec<Diagnostic>);

    fn next(&mut self) -> Option<Self::Item> {
        let (index, record) = self.records.next()?;
        let ends = record.first().zip(record.last());
        let span = Span::new(self.id, ends.map_or(0..0, |(a, z)| a.range.start..z.range.end));
        let mut complaints = Vec::new();
        let (cells, columns) = (record.len(), self.columns.len());
        if cells != columns {
            let title = format!("this row has {cells} cells, the header has {columns}");
            complaints.push(Diagnostic::error("config::bad-row", title).at(span, ""));
            return Some((None, complaints));
        }
        let mut row = Row::new(self.id);
        for (column, cell) in self.columns.iter().zip(&record) {
            row.cell(column, cell, &mut complaints);
        }
        Some((Some(row.finish(index, span)), complaints))
    }
}

fn column(cell: &Cell<'_>, id: FileId, complaints: &mut Vec<Diagnostic>) -> Column {
    let name = cell.text.trim();
    let span = Span::new(id, cell.range.clone());
    if let Some(metadata) = name.strip_prefix("__metadata:") {
        let list = metadata.strip_suffix("[]");
        let name = list.unwrap_or(metadata).to_owned();
        return Column::Metadata { name, list: list.is_some() };
    }
    if let Some(config) = name.strip_prefix("__config:") {
        return config_column(config).unwrap_or_else(|| {
            let title = format!("invalid column `{name}`");
            let help = "write `__config:__expected1:threshold`";
            let diagnostic = Diagnostic::error("config::bad-column", title);
            complaints.push(diagnostic.at(span, "").help(help));
            Column::Ignored
        });
    }
    match name {
        "__prefix" => return Column::Option("prefix"),
        "__suffix" => return Column::Option("suffix"),
        "__description" => return Column::Field("description"),
        "__providerOutput" => return Column::Field("providerOutput"),
        "__metric" => return Column::Metric,
        "__threshold" => return Column::Threshold,
        "__metadata" => {
            let title = "`__metadata` lacks a name";
            let diagnostic = Diagnostic::warning("config::bad-column", title);
            complaints.push(diagnostic.at(span, "").help("write `__metadata:category`"));
            return Column::Ignored;
        }
        _ if name.starts_with("__expected") => return Column::Expected,
        _ => {}
    }
    // One underscore instead of two, or a typo.
    let meant = match name.strip_prefix('_').map(|rest| rest.trim_start_matches('_')) {
        Some(rest) if name.starts_with("__") => closest(&format!("__{rest}"), SPECIAL),
        Some(rest) => SPECIAL.into_iter().find(|special| rest.starts_with(&special[2..])),
        None => None,
    };
    if let Some(meant) = meant {
        let title = format!("the column `{name}` is a variable");
        complaints.push(
            Diagnostic::warning("config::doubtful-column", title)
                .at(span, "")
                .help(format!("did you mean `{meant}`?")),
        );
    }
    Column::Var(name.to_owned())
}

/// `__expected2:threshold`
fn config_column(config: &str) -> Option<Column> {
    let number = config.strip_suffix(":threshold")?.strip_prefix("__expected")?;
    if number.is_empty() {
        return Some(Column::Config(0));
    }
    number.parse::<usize>().ok()?.checked_sub(1).map(Column::Config)
}

struct Row {
    id: FileId,
    vars: Vec<(Key, Node)>,
    asserts: Vec<Vec<(Key, Node)>>,
    spans: Vec<Span>,
    options: Vec<(Key, Node)>,
    metadata: Vec<(Key, Node)>,
    fields: Vec<(Key, Node)>,
    metric: Option<Node>,
    thresholds: Vec<(usize, Node)>,
}

impl Row {
    fn new(id: FileId) -> Self {
        Self {
            id,
            vars: Vec::new(),
            asserts: Vec::new(),
            spans: Vec::new(),
            options: Vec::new(),
            metadata: Vec::new(),
            fields: Vec::new(),
            metric: None,
            thresholds: Vec::new(),
        }
    }

    fn cell(&mut self, column: &Column, cell: &Cell<'_>, complaints: &mut Vec<Diagnostic>) {
        let span = Span::new(self.id, cell.range.clone());
        let blank = cell.text.trim().is_empty();
        let node = || Node::text(&*cell.text, span);
        match column {
            Column::Var(name) => self.vars.push((key(name, span), node())),
            Column::Expected if !blank => {
                self.asserts.push(assertion(cell.text.trim(), span));
                self.spans.push(span);
            }
            Column::Option(name) => self.options.push((key(name, span), node())),
            Column::Field(name) if !cell.text.is_empty() => {
                self.fields.push((key(name, span), node()));
            }
            Column::Metric if !cell.text.is_empty() => self.metric = Some(node()),
            Column::Threshold => {
                let number = number(&cell.text).map(|number| Node::number(number, span));
                self.fields.extend(number.map(|number| (key("threshold", span), number)));
            }
            Column::Metadata { name, list: false } if !blank => {
                self.metadata.push((key(name, span), node()));
            }
            Column::Metadata { name, list: true } if !blank => {
                let items = items(&cell.text).into_iter().map(|item| Node::text(item, span));
                self.metadata.push((key(name, span), Node::seq(items.collect(), span)));
            }
            Column::Config(index) => match number(&cell.text) {
                Some(number) => self.thresholds.push((*index, Node::number(number, span))),
                None => complaints.push(
                    Diagnostic::error("config::wrong-type", "the threshold is not a number")
                        .at(span, ""),
                ),
            },
            _ => {}
        }
    }

    fn finish(mut self, index: usize, span: Span) -> Node {
        for (index, threshold) in self.thresholds {
            let Some(assert) = self.asserts.get_mut(index) else { continue };
            assert.retain(|(key, _)| key.text != "threshold");
            assert.push((key("threshold", threshold.span), threshold.clone()));
            // promptfoo also adds it to the metadata.
            self.metadata.retain(|(key, _)| key.text != "threshold");
            self.metadata.push((key("threshold", threshold.span), threshold));
        }
        let asserts = self.asserts.into_iter().zip(self.spans).map(|(mut entries, span)| {
            let metric = self.metric.as_ref().map(|node| (key("metric", node.span), node.clone()));
            entries.extend(metric);
            Node::map(entries, span)
        });
        let asserts = Node::seq(asserts.collect(), span);
        let mut entries = self.fields;
        if !entries.iter().any(|(key, _)| key.text == "description") {
            let description = Node::text(format!("Row #{}", index + 1), span);
            entries.push((key("description", span), description));
        }
        entries.push((key("vars", span), Node::map(self.vars, span)));
        entries.push((key("assert", span), asserts));
        for (name, map) in [("options", self.options), ("metadata", self.metadata)] {
            if !map.is_empty() {
                entries.push((key(name, span), Node::map(map, span)));
            }
        }
        Node::map(entries, span)
    }
}

/// A decimal number; none for any other text.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let decimal = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    text.parse().ok().filter(|number: &f64| number.is_finite() && text.chars().all(decimal))
}

/// Splits `a, b\, c` at commas without a backslash.
fn items(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    for piece in text.split(',') {
        let Some(item) = items.last_mut() else { break };
        if let Some(protected) = piece.strip_suffix('\\') {
            item.push_str(protected);
            item.push(',');
        } else {
            item.push_str(piece);
            items.push(String::new());
        }
    }
    if items.len() > 1 && items.last().is_some_and(String::is_empty) {
        items.pop();
    }
    items.iter().map(|item| item.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(csv: &str) -> (Vec<Value>, Vec<&'static str>) {
        let mut rows = Rows::new(csv, FileId::default(), ',');
        let mut complaints = rows.complaints();
        let mut nodes = Vec::new();
        for (node, found) in rows {
            nodes.extend(node.as_ref().map(Node::to_json));
            complaints.extend(found);
        }
        (nodes, complaints.iter().map(|complaint| complaint.code).collect())
    }

    #[test]
    fn every_special_column_finds_its_place() {
        let (rows, codes) = read(
            "who ,__expected,__expected2,__prefix,__suffix,__description,__metric,__threshold,__metadata:tag,__metadata:tags[],__config:__expected2:threshold,__providerOutput\n\
             bob,contains: x,contains: y,p,s,d,m,0.5,t,\"a, b\\, c\",0.25,out\n",
        );
        assert!(codes.is_empty(), "{codes:?}");
        assert_eq!(
            rows,
            [json!({
                "description": "d", "threshold": 0.5, "providerOutput": "out",
                "vars": {"who": "bob"},
                "assert": [
                    {"type": "contains", "value": "x", "metric": "m"},
                    {"type": "contains", "value": "y", "threshold": 0.25, "metric": "m"},
                ],
                "options": {"prefix": "p", "suffix": "s"},
                "metadata": {"tag": "t", "tags": ["a", "b, c"], "threshold": 0.25},
            })]
        );
    }

    #[test]
    fn empty_cells_mean_nothing_but_variables_are_always_text() {
        let (rows, codes) = read("n,__expected,__threshold,__metadata:a\n012,,x,\n");
        assert!(codes.is_empty(), "{codes:?}");
        assert_eq!(rows, [json!({"description": "Row #1", "vars": {"n": "012"}, "assert": []})]);
    }

    #[test]
    fn mistakes_are_reported() {
        assert_eq!(read("a,b\n1\n2,3\n").1, ["config::bad-row"]);
        assert_eq!(read("_expected\nx\n").1, ["config::doubtful-column"]);
        assert_eq!(read("__sufix\nx\n").1, ["config::doubtful-column"]);
        assert_eq!(read("__metadata\nx\n").1, ["config::bad-column"]);
        assert_eq!(read("__config:__expected0:threshold\n1\n").1, ["config::bad-column"]);
        assert_eq!(read("__config:__expected:weight\n1\n").1, ["config::bad-column"]);
        assert_eq!(read("__config:__expected:threshold\nmuch\n").1, ["config::wrong-type"]);
        assert_eq!(read("name,under_score\na,b\n").1, [""; 0]);
        assert!(read("").0.is_empty());
    }
}
