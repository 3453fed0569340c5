//! Grades a recorded conversation of an assistant with the practice target, in which the assistant makes mistakes.

use std::collections::HashSet;

use quintain_engine::jobs::{GradeWork, RunRequest, TraceInput, Work};
use quintain_evidence::event::Event;
use quintain_evidence::graded::{Level, TraceFinding};

use super::folder;
use crate::cli::{App, job};
use crate::exit::Exit;

/// Recorded with the patched twin.
const CONVERSATION: &str = include_str!("../../../../../examples/grade/conversation.json");
/// File name of the conversation, in the folder of the reports.
pub(super) const FILE: &str = "conversation.json";

/// Grades the conversation, prints what is wrong with it, and writes it for the user to grade again.
pub(super) async fn run(app: &App) -> Result<(), Exit> {
    folder::write(FILE, CONVERSATION, app);
    let name = folder::path(FILE).display().to_string();
    let input = TraceInput::Text { name: name.clone(), text: CONVERSATION.to_owned() };
    let work = GradeWork { inputs: vec![input], ..GradeWork::default() };
    let work = Work::Grade(Box::new(work));
    let request = RunRequest { stored: false, ..job::request("demo", work, app) };
    let prepared = job::prepare(&job::jobs(app, None), request, app).await;
    let prepared = prepared.map_err(|refusal| job::refused(&refusal, app).1)?;
    let mut findings: Vec<TraceFinding> = Vec::new();
    let followed = job::follow(prepared, app, |event| {
        if let Event::Case(case) = &**event {
            findings.extend(case.graded.iter().flat_map(|graded| graded.findings.clone()));
        }
    });
    if let Err(error) = followed.await {
        app.console.error(&format!("the conversation cannot be graded: {error}"), None);
        return Err(Exit::Unreachable);
    }
    findings.retain(|finding| finding.severity > Level::Info);
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    // The worst of every place; the report of `grade` has the others.
    let mut seen = HashSet::new();
    let (worst, others): (Vec<&TraceFinding>, Vec<&TraceFinding>) =
        findings.iter().partition(|finding| seen.insert(finding.call));
    let (shown, all) = (worst.len(), worst.len() + others.len());
    app.console.out(&format!("\nThe worst {shown} of {all} mistakes in the recorded {name}"));
    for finding in worst {
        let place = finding.call.map_or_else(|| "answer".to_owned(), |call| format!("call {call}"));
        let (severity, check) = (finding.severity.word(), &finding.check);
        app.console.out(&format!("{severity:7} {place:6}  {check}: {}", finding.message));
    }
    Ok(())
}
