//! The data of a scan: files with their servers, and the findings of each.

use std::path::PathBuf;

use quintain_evidence::finding::{Finding, Severity};
use quintain_evidence::redteam_report::Unused;
use quintain_evidence::result::SourcePlace as Written;
use quintain_evidence::surface::Surface;
use quintain_redteam::accepted_findings::{Suppression, part_suppressed, unused};
use quintain_scan::clients::{Config, Entry};

use super::files::{Found, Saved};

/// The data of a scan.
pub(super) struct Scan {
    pub(super) configs: Vec<Config>,
    pub(super) sheets: Vec<Sheet>,
    /// Findings about several servers together.
    pub(super) together: Vec<Finding>,
    /// Findings that a baseline accepts.
    pub(super) suppressed: Vec<Finding>,
    /// Entries of the baseline that match no finding.
    pub(super) unused: Vec<Unused>,
    /// What was not done, and why.
    pub(super) remarks: Vec<String>,
}

/// One file.
pub(super) struct Sheet {
    /// Index in `configs`; none for a saved list.
    pub(super) config: Option<usize>,
    pub(super) path: PathBuf,
    pub(super) lines: Vec<Line>,
}

/// One server.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) state: State,
    pub(super) findings: Vec<Finding>,
}

/// How far the scan of a server got.
pub(super) enum State {
    /// Only its configuration was checked.
    Written,
    /// It was not started, for this reason.
    Skipped(String),
    Failed(String),
    Listed(Box<Surface>),
}

impl Line {
    fn new(name: &str, state: State) -> Self {
        Self { name: name.to_owned(), state, findings: Vec::new() }
    }

    pub(super) fn surface(&self) -> Option<&Surface> {
        if let State::Listed(surface) = &self.state { Some(surface) } else { None }
    }

    pub(super) fn failure(&self) -> Option<&str> {
        if let State::Failed(why) = &self.state { Some(why) } else { None }
    }
}

impl Scan {
    pub(super) fn new(found: Found) -> Self {
        let Found { configs, saved } = found;
        let of_config = |(at, config): (usize, &Config)| Sheet {
            config: Some(at),
            path: config.path.clone(),
            lines: config.entries.iter().map(|e| Line::new(&e.name, State::Written)).collect(),
        };
        let of_saved = |saved: Saved| Sheet {
            config: None,
            path: saved.path,
            lines: saved
                .surfaces
                .into_iter()
                .map(|(name, surface)| Line::new(&name, State::Listed(Box::new(surface))))
                .collect(),
        };
        let sheets = configs.iter().enumerate().map(of_config);
        let sheets = sheets.chain(saved.into_iter().map(of_saved)).collect();
        Self {
            configs,
            sheets,
            together: Vec::new(),
            suppressed: Vec::new(),
            unused: Vec::new(),
            remarks: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sheets.iter().all(|sheet| sheet.lines.is_empty())
    }

    pub(super) fn has_problems(&self) -> bool {
        self.configs.iter().any(|config| !config.problems.is_empty())
    }

    pub(super) fn config(&self, sheet: &Sheet) -> Option<&Config> {
        sheet.config.map(|at| &self.configs[at])
    }

    /// The client that the servers of a file belong to, or "files" for saved lists.
    pub(super) fn target(&self, sheet: usize) -> &'static str {
        match self.config(&self.sheets[sheet]) {
            Some(config) => config.client.id,
            None => "files",
        }
    }

    /// Where a server is written; for a saved list, the file.
    pub(super) fn written(&self, sheet: usize, line: usize) -> Option<Written> {
        let sheet = self.sheets.get(sheet)?;
        match self.config(sheet) {
            Some(config) => Some(config.entries.get(line)?.written(config)),
            None => Some(Written { file: sheet.path.display().to_string(), line: 1, column: 1 }),
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.sheets.iter().flat_map(|sheet| &sheet.lines)
    }

    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.lines().flat_map(|line| &line.findings).chain(&self.together)
    }

    /// Number of findings with a severity.
    pub(super) fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|finding| finding.severity == severity).count()
    }

    /// Every server in a configuration: (sheet, line, configuration, entry).
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, usize, &Config, &Entry)> {
        self.sheets.iter().enumerate().flat_map(move |(at, sheet)| {
            let config = self.config(sheet);
            config.into_iter().flat_map(move |config| {
                let entries = config.entries.iter().enumerate();
                entries.map(move |(line, entry)| (at, line, config, entry))
            })
        })
    }

    /// Moves accepted findings to `suppressed`.
    pub(super) fn accept(&mut self, accepted: &[Suppression], today: &str) {
        let lines = self.sheets.iter_mut().flat_map(|sheet| &mut sheet.lines);
        for findings in lines.map(|line| &mut line.findings).chain([&mut self.together]) {
            let all = std::mem::take(findings);
            let (open, excused) = part_suppressed(all, accepted, today);
            *findings = open;
            self.suppressed.extend(excused);
        }
        let all: Vec<&Finding> = self.findings().chain(&self.suppressed).collect();
        self.unused = unused(accepted, all.into_iter(), today);
    }

    /// Sorts findings, most severe first.
    pub(super) fn sort(&mut self) {
        let lines = self.sheets.iter_mut().flat_map(|sheet| &mut sheet.lines);
        for findings in lines.map(|line| &mut line.findings).chain([&mut self.together]) {
            findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        }
    }
}
