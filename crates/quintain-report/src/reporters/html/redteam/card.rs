//! One finding as a card: what, where, its proof, and how to reproduce it.

use std::io::{self, Write};

use quintain_content::registry::Meta;
use quintain_evidence::evidence::Evidence;
use quintain_evidence::finding::{Finding, FindingProof};

use super::super::escape;
use crate::RuleDocs;
use crate::findings::{Standing, acceptance, places, seen, tags};
use crate::text::{count, duration, excerpt, json_excerpt, line};
use crate::{exchanges, prose};

/// Maximum number of expandable proofs; the others are named.
const MAX_PROOFS: usize = 6;
const MAX_NAMED: usize = 60;
const MAX_SIDE: usize = 4_000;
const MAX_SEEN: usize = 12;
const MAX_COMMAND: usize = 8_000;

pub(super) fn write(out: &mut impl Write, finding: &Finding, docs: RuleDocs) -> io::Result<()> {
    let severity = finding.severity.word();
    let id = line(&finding.id, 40);
    let id = escape(&id);
    let title = line(&finding.title, 600);
    writeln!(out, "<article class=\"finding {severity}\" id=\"{id}\">")?;
    writeln!(out, "<h3><span class=\"sev\">{severity}</span> {}</h3>", escape(&title))?;
    let standing = Standing::of(finding).word();
    let rule = line(&finding.rule, 80);
    let place = places(finding, 300);
    let target = line(&finding.target, 80);
    let written = finding.written.as_ref();
    let written =
        written.map(|at| format!(" · {}", line(&at.to_string(), 300))).unwrap_or_default();
    writeln!(
        out,
        "<p class=\"facts\">{standing} · {} · <code>{}</code> · {} · {id}{}</p>",
        escape(&rule),
        escape(&place),
        escape(&target),
        escape(&written)
    )?;
    labels(out, finding)?;
    listed(out, finding)?;
    if let Some(note) = &finding.note {
        let note = excerpt(note, 1_000);
        writeln!(out, "<p class=\"by-design\">By design: {}</p>", escape(&note))?;
    }
    if let Some(accepted) = &finding.accepted {
        let why = acceptance(accepted);
        writeln!(out, "<p class=\"by-design\">Accepted: {}</p>", escape(&why))?;
    }
    finding.proofs.iter().take(MAX_PROOFS).try_for_each(|one| proof(out, one))?;
    further(out, &finding.proofs)?;
    commands(out, finding)?;
    about(out, (docs.attack)(&finding.rule))?;
    writeln!(out, "</article>")
}

/// The places of a finding with several; the matrix of tools links to each.
fn listed(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    if finding.places.is_empty() {
        return Ok(());
    }
    let number = count(finding.places.len(), "place", "places");
    writeln!(out, "<details class=\"proof\" open><summary>{number}</summary><ul class=\"seen\">")?;
    for one in &finding.places {
        let (id, place) = (line(&one.id, 40), line(&one.place.to_string(), 300));
        let title = line(&one.title, 600);
        let (id, place, title) = (escape(&id), escape(&place), escape(&title));
        writeln!(out, "<li id=\"{id}\"><code>{place}</code> {title}</li>")?;
    }
    writeln!(out, "</ul></details>")
}

/// How to reproduce it: with one call, and with the whole attack and fresh marks.
fn commands(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let whole =
        finding.replay.as_ref().filter(|replay| finding.reproduce.as_ref() != Some(*replay));
    let all = [("Reproduce", finding.reproduce.as_ref()), ("Repeat the whole attack", whole)];
    for (label, command) in all {
        let Some(command) = command else { continue };
        let command = excerpt(command, MAX_COMMAND);
        writeln!(out, "<div class=\"command\"><small>{label}</small>")?;
        writeln!(out, "<pre>{}</pre>", escape(&command))?;
        writeln!(out, "<button type=\"button\" class=\"copy\" hidden>Copy</button></div>")?;
    }
    Ok(())
}

fn labels(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let strategies = finding.strategies.iter().take(10);
    let strategies = strategies.map(|name| format!("strategy {}", line(name, 60)));
    let all: Vec<String> = tags(finding).into_iter().chain(strategies).collect();
    if all.is_empty() {
        return Ok(());
    }
    write!(out, "<p class=\"tags\">")?;
    for tag in &all {
        write!(out, "<span>{}</span>", escape(tag))?;
    }
    writeln!(out, "</p>")
}

fn proof(out: &mut impl Write, proof: &FindingProof) -> io::Result<()> {
    let (form, what) = (line(&proof.form, 300), line(&proof.what, 600));
    write!(out, "<details class=\"proof\"><summary><b>{}</b> ", escape(&form))?;
    writeln!(out, "{}</summary>", escape(&what))?;
    if let Some(payload) = &proof.payload {
        let text = payload
            .as_str()
            .map_or_else(|| json_excerpt(payload, true, MAX_SIDE), |text| excerpt(text, MAX_SIDE));
        writeln!(out, "<h4>Payload</h4><pre>{}</pre>", escape(&text))?;
    }
    let observations = &proof.attempt.observations;
    if !observations.is_empty() {
        writeln!(out, "<h4>Observed outside the connection</h4><ul class=\"seen\">")?;
        for one in observations.iter().take(MAX_SEEN) {
            writeln!(out, "<li>{}</li>", escape(&seen(one, 1_000)))?;
        }
        writeln!(out, "</ul>")?;
    }
    if let Some(pointer) = &proof.pointer {
        let pointer = line(pointer, 300);
        writeln!(out, "<p>The proof is at <code>{}</code>.</p>", escape(&pointer))?;
    }
    let nothing = Evidence::default();
    let baseline = proof.baseline.as_ref().unwrap_or(&nothing);
    if baseline.exchanges.is_empty() && proof.attempt.exchanges.is_empty() {
        return writeln!(
            out,
            "<p>The listed surface is the proof; no call was needed.</p></details>"
        );
    }
    writeln!(out, "<div class=\"pair\">")?;
    side(out, "Baseline call", baseline)?;
    side(out, "Attempt", &proof.attempt)?;
    writeln!(out, "</div></details>")
}

fn side(out: &mut impl Write, title: &str, evidence: &Evidence) -> io::Result<()> {
    writeln!(out, "<div><h4>{title}</h4>")?;
    if evidence.exchanges.is_empty() {
        writeln!(out, "<p>None.</p>")?;
    }
    for shown in exchanges::shown(evidence, MAX_SIDE) {
        let took = duration(shown.millis);
        let (server, method) = (escape(&shown.server), escape(&shown.method));
        writeln!(out, "<p>{server} {method}</p><pre>{}</pre>", escape(&shown.sent))?;
        let (outcome, received) = (escape(&shown.outcome), escape(&shown.received));
        writeln!(out, "<p>{outcome}, {took}</p><pre>{received}</pre>")?;
    }
    match exchanges::left_out(evidence) {
        0 => {}
        more => writeln!(out, "<p>... and {}</p>", count(more, "more call", "more calls"))?,
    }
    writeln!(out, "</div>")
}

/// The forms of the proofs that are not expandable.
fn further(out: &mut impl Write, proofs: &[FindingProof]) -> io::Result<()> {
    let rest = proofs.get(MAX_PROOFS..).unwrap_or_default();
    if rest.is_empty() {
        return Ok(());
    }
    let forms = rest.iter().take(MAX_NAMED).map(|proof| line(&proof.form, 120));
    let forms = forms.collect::<Vec<_>>().join("; ");
    let number = count(rest.len(), "more proof", "more proofs");
    writeln!(out, "<p class=\"facts\">{number}: {}</p>", escape(&forms))
}

/// The documentation of the attack.
fn about(out: &mut impl Write, meta: Option<Meta>) -> io::Result<()> {
    let Some(meta) = meta else { return Ok(()) };
    writeln!(out, "<details class=\"proof\"><summary>About {}</summary>", escape(meta.id))?;
    for heading in ["What it does", "Why it matters", "What counts as proof", "How to fix it"] {
        if let Some(text) = prose::section(meta.docs, heading) {
            writeln!(out, "<h4>{heading}</h4><p>{}</p>", escape(&text))?;
        }
    }
    writeln!(out, "</details>")
}
