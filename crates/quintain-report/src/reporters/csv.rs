//! A table with promptfoo's columns: one line per test, with columns for each target.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};

use quintain_content::registry::Meta;
use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::result::CaseResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::column_of;
use crate::number::Numbers;
use crate::spool::Spool;
use crate::text::{head, plain};
use crate::{Options, Report, Reporter, findings, gist};

const META: Meta = Meta {
    id: "csv",
    aliases: &[],
    summary: "a table for spreadsheets: one line per test, with columns for each prompt and target",
    docs: "\
# What it does
Writes the columns that promptfoo writes: the variables, then for each prompt and target the output,
`Status`, `Score`, `Named Scores`, a column per metric, `Grader Reason` and `Comment`. The reason of
an error is the error itself. Rows of a red-team run end with `pluginId`, `strategyId` and `severity`.
Cells that a spreadsheet would interpret as a formula start with an apostrophe; invisible characters are
escaped.

# Example
```sh
quintain eval -c suite.yaml -o results.csv
```
",
    since: "0.1.0",
};

/// Maximum cell length that spreadsheets accept.
const MAX_CELL: usize = 32_000;

pub(super) struct Csv;

impl Reporter for Csv {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".csv"]
    }

    fn open(&self, out: Box<dyn Write + Send>, _: &Options) -> Box<dyn Report> {
        Box::new(Table {
            out: BufWriter::new(out),
            run: None,
            cases: Spool::default(),
            vars: Vec::new(),
            metrics: BTreeMap::new(),
            described: false,
            attacked: false,
        })
    }
}

/// Cases wait in the spool because the header lists all variables and metrics.
struct Table {
    out: BufWriter<Box<dyn Write + Send>>,
    run: Option<RunInfo>,
    cases: Spool,
    vars: Vec<String>,
    /// By column.
    metrics: BTreeMap<usize, BTreeSet<String>>,
    described: bool,
    /// Whether the cases include trials of a red-team run.
    attacked: bool,
}

/// Metadata of trials.
const TRIAL_COLUMNS: [&str; 3] = ["pluginId", "strategyId", "severity"];

#[derive(Serialize, Deserialize)]
struct Case {
    test: usize,
    column: usize,
    description: String,
    vars: BTreeMap<String, String>,
    output: String,
    status: String,
    score: f64,
    named: BTreeMap<String, f64>,
    reason: String,
    trial: Vec<String>,
}

impl Report for Table {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Started(run) => {
                self.run = Some(RunInfo { config: Value::Null, ..(**run).clone() });
            }
            Event::Case(case) => self.hold(case)?,
            Event::Finished(_) => self.write()?,
            Event::Phase(_) | Event::Finding(_) | Event::Warning(_) => {}
        }
        Ok(())
    }
}

impl Table {
    fn hold(&mut self, case: &CaseResult) -> io::Result<()> {
        let Some(run) = &self.run else { return Ok(()) };
        let Some(column) = column_of(run, case) else { return Ok(()) };
        for name in case.vars.keys().filter(|name| !name.is_empty()) {
            if !self.vars.contains(name) && self.vars.len() < 1_000 {
                self.vars.push(name.clone());
            }
        }
        if !case.named_scores.is_empty() {
            self.metrics.entry(column).or_default().extend(case.named_scores.keys().cloned());
        }
        self.described |= case.description.is_some();
        let trial = findings::attack_of_trial(case).map(|_| {
            let value = |name| case.test.get("metadata")?.get(name)?.as_str();
            TRIAL_COLUMNS.map(|name| value(name).map(cut).unwrap_or_default()).to_vec()
        });
        self.attacked |= trial.is_some();
        let vars = case.vars.iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), cut(&text))
        });
        self.cases.record(&Case {
            test: case.test_idx,
            column,
            description: case.description.as_deref().map(cut).unwrap_or_default(),
            vars: vars.collect(),
            output: cut(&gist::output(case, MAX_CELL)),
            status: gist::status(case.status).to_owned(),
            score: case.score,
            named: case.named_scores.clone(),
            reason: cut(gist::reason(case)),
            trial: trial.unwrap_or_default(),
        })
    }

    fn write(&mut self) -> io::Result<()> {
        let Self { out, run: Some(run), cases, vars, metrics, described, attacked } = self else {
            return Ok(());
        };
        let none = BTreeSet::new();
        let metrics: Vec<&BTreeSet<String>> =
            (0..run.columns.len()).map(|at| metrics.get(&at).unwrap_or(&none)).collect();
        let mut cells: Vec<String> = Vec::new();
        cells.extend(described.then(|| "Description".to_owned()));
        cells.extend(vars.iter().cloned());
        for (column, metrics) in run.columns.iter().zip(&metrics) {
            cells.push(format!("[{}] {}", column.target.name(), column.label));
            cells.extend(["Status", "Score", "Named Scores"].map(str::to_owned));
            cells.extend(metrics.iter().map(|name| format!("Metric: {name}")));
            cells.extend(["Grader Reason", "Comment"].map(str::to_owned));
        }
        cells.extend(TRIAL_COLUMNS.iter().filter(|_| *attacked).map(|name| (*name).to_owned()));
        row(out, cells.iter())?;
        let mut line: Vec<Case> = Vec::new();
        let mut end = |line: &mut Vec<Case>| -> io::Result<()> {
            let cells = line_cells(line, vars, &metrics, *described);
            line.clear();
            if cells.is_empty() { Ok(()) } else { row(out, cells.iter()) }
        };
        cases.each(|case: Case| {
            if line.first().is_some_and(|first| first.test != case.test) {
                end(&mut line)?;
            }
            line.push(case);
            Ok(())
        })?;
        end(&mut line)?;
        self.out.flush()
    }
}

fn line_cells(
    line: &[Case],
    vars: &[String],
    metrics: &[&BTreeSet<String>],
    described: bool,
) -> Vec<String> {
    let Some(first) = line.first() else { return Vec::new() };
    let mut cells: Vec<String> = Vec::new();
    cells.extend(described.then(|| first.description.clone()));
    cells.extend(vars.iter().map(|name| first.vars.get(name).cloned().unwrap_or_default()));
    for (at, metrics) in metrics.iter().enumerate() {
        let Some(case) = line.iter().find(|case| case.column == at) else {
            cells.extend(std::iter::repeat_n(String::new(), 6 + metrics.len()));
            continue;
        };
        let named = if case.named.is_empty() {
            String::new()
        } else {
            serde_json::to_string(&Numbers(&case.named)).unwrap_or_default()
        };
        cells.extend([case.output.clone(), case.status.clone(), format!("{:.2}", case.score)]);
        cells.push(named);
        cells.extend(metrics.iter().map(|name| match case.named.get(name) {
            Some(score) => format!("{score:.2}"),
            None => String::new(),
        }));
        cells.extend([case.reason.clone(), String::new()]);
    }
    cells.extend(first.trial.iter().cloned());
    cells
}

fn cut(text: &str) -> String {
    let (start, left_out) = head(text, MAX_CELL);
    let mut shown = plain(start).into_owned();
    if left_out > 0 {
        shown.push('…');
    }
    shown
}

fn row<'a>(out: &mut impl Write, cells: impl Iterator<Item = &'a String>) -> io::Result<()> {
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        let mark = if formula(cell) { "'" } else { "" };
        if cell.contains(['"', ',', '\n', '\r']) {
            write!(out, "\"{mark}{}\"", cell.replace('"', "\"\""))?;
        } else {
            write!(out, "{mark}{cell}")?;
        }
    }
    out.write_all(b"\n")
}

/// Spreadsheets skip white space and invisible characters before they look for a formula.
fn formula(cell: &str) -> bool {
    let skipped = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200d}' | '\u{feff}')
    };
    let rest = cell.trim_start_matches(skipped);
    match rest.chars().next() {
        Some('=' | '@' | '＝' | '＠') => true,
        Some('+' | '-' | '＋' | '－') => rest.trim().parse::<f64>().is_err(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_disarmed_and_numbers_are_not() {
        for bad in ["=1+1", "@SUM(A1)", "-1+cmd", "+x", " \t=1", "\u{200b}=1", "\r\n=1", "-"] {
            assert!(formula(bad), "{bad:?}");
        }
        for fine in ["-1.5", "+3", "a=1", "", "[1]", " "] {
            assert!(!formula(fine), "{fine:?}");
        }
    }

    #[test]
    fn cells_are_quoted_when_they_must_be() {
        let mut out = Vec::new();
        let cells = ["a", "b,c", "d\"e", "f\ng", "=h,i", ""].map(str::to_owned);
        row(&mut out, cells.iter()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,\"b,c\",\"d\"\"e\",\"f\ng\",\"'=h,i\",\n");
    }
}
