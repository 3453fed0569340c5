//! Lists the planted weaknesses that were found: most severe first, one entry for each kind of weakness, and at most one
//! screen long.

use std::cmp::Reverse;

use quintain_demo::PlantedWeakness;
use quintain_evidence::finding::{Confidence, Finding, Severity};
use quintain_source::visible;

use super::verdict::DemoResult;
use crate::cli::App;
use crate::console::{Console, Tone, counted};

/// Maximum number of lines in the list, so that the whole output of the demo stays below 60 lines.
const LINES: usize = 23;
/// Width of the columns before the places.
const INDENT: usize = 30;

/// The weaknesses of one kind with the same severity.
struct Group<'v> {
    /// None if they were missed.
    severity: Option<Severity>,
    rule: &'static str,
    places: Vec<String>,
    /// The finding that proves the first of them.
    proof: Option<&'v Finding>,
}

pub(super) fn show(verdict: &DemoResult<'_>, app: &App) {
    let (console, width) = (&app.console, app.context.width());
    let heading = "Findings in the vulnerable twin, most severe first";
    console.out(&format!("\n{}\n", console.paint(Tone::Bold, heading)));
    for line in list(&groups(&verdict.planted), width, console) {
        console.out(&line);
    }
    console.out(&format!(
        "\n{} of {} planted weaknesses found, {} in the patched twin",
        verdict.found(),
        verdict.planted.len(),
        counted(verdict.wrong.len(), "finding"),
    ));
}

fn groups<'v>(
    planted: &[(&'static PlantedWeakness, Option<(&str, &'v Finding)>)],
) -> Vec<Group<'v>> {
    let mut groups: Vec<Group<'v>> = Vec::new();
    for (weakness, found) in planted {
        let finding = found.map(|(_, finding)| finding);
        let severity = finding.map(|finding| finding.severity);
        let doubt = match finding.map(|finding| finding.confidence) {
            Some(Confidence::Suspected) => " (suspected)",
            _ => "",
        };
        let place = format!("{}{doubt}", weakness.place);
        let same =
            |group: &&mut Group<'_>| (group.severity, group.rule) == (severity, weakness.rule);
        match groups.iter_mut().find(same) {
            Some(group) => group.places.push(place),
            None => groups.push(Group {
                severity,
                rule: weakness.rule,
                places: vec![place],
                proof: finding,
            }),
        }
    }
    // Missed weaknesses come first: they are why the demo fails.
    groups.sort_by_key(|group| (group.severity.is_some(), Reverse(group.severity)));
    groups
}

/// A line for every group, and below the first groups a proof, as long as there are lines left.
fn list(groups: &[Group<'_>], width: usize, console: &Console) -> Vec<String> {
    let shown = if groups.len() > LINES { LINES - 1 } else { groups.len() };
    let proofs = LINES - groups.len().min(LINES);
    let mut lines = Vec::new();
    for (at, group) in groups[..shown].iter().enumerate() {
        let (word, tone) = match group.severity {
            Some(severity) => (severity.word(), tone(severity)),
            None => ("missed", Tone::Red),
        };
        let head = console.paint(tone, &format!("{:<8}", word.to_uppercase()));
        let places = fitting(&group.places, width.saturating_sub(INDENT));
        lines.push(format!("{head}  {:<18}  {places}", group.rule));
        if let Some(finding) = group.proof.filter(|_| at < proofs) {
            let proof = format!("{}: {}", finding.confidence.word(), proof(finding));
            let proof = clip(&proof, width.saturating_sub(10).max(40));
            lines.push(console.paint(Tone::Dim, &format!("          {proof}")));
        }
    }
    if shown < groups.len() {
        lines.push(format!("and {} in the reports", counted(groups.len() - shown, "more kind")));
    }
    lines
}

/// As many places as fit, and the number of the others.
fn fitting(places: &[String], width: usize) -> String {
    for shown in (1..=places.len()).rev() {
        let hidden = places.len() - shown;
        let mut text = places[..shown].join(", ");
        if hidden > 0 {
            text = format!("{text} and {hidden} more");
        }
        if text.chars().count() <= width || shown == 1 {
            return text;
        }
    }
    String::new()
}

/// The first line of the first proof.
pub(super) fn proof(finding: &Finding) -> String {
    let what = finding.proofs.first().map_or("", |proof| proof.what.as_str());
    visible(what.lines().next().unwrap_or_default()).into_owned()
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Critical | Severity::High => Tone::Red,
        Severity::Medium => Tone::Yellow,
        Severity::Low | Severity::Info => Tone::Dim,
    }
}

fn clip(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}
