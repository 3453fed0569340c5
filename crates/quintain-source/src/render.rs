//! Renders diagnostics: the only place that knows about carets and colours.

use std::borrow::Cow;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Snippet};

use crate::diagnostic::{Diagnostic, Diagnostics, Label, Severity};
use crate::file::{FileId, SourceFile, Sources};
use crate::visible::{visible, visible_with_offsets};

/// Maximum length of a message, which quotes the user's file.
const MAX_MESSAGE: usize = 400;
/// Maximum number of diagnostics to render.
const MAX_DRAWN: usize = 100;
/// Maximum carets under one label, and the distance of two labels on one line.
const MAX_CARETS: usize = 80;

/// How to render diagnostics. The caller knows whether there is a terminal, and its width.
#[derive(Debug, Clone, Copy)]
pub struct Renderer {
    colour: bool,
    width: usize,
}

impl Renderer {
    pub fn plain() -> Self {
        Self { colour: false, width: 120 }
    }

    pub fn coloured() -> Self {
        Self { colour: true, ..Self::plain() }
    }

    /// The first hundred, separated by empty lines, and the number of the others.
    pub fn render_all(self, sources: &Sources, diagnostics: &Diagnostics) -> String {
        let shown = diagnostics.iter().take(MAX_DRAWN);
        let mut drawn: Vec<_> = shown.map(|d| self.render(sources, d)).collect();
        if diagnostics.len() > MAX_DRAWN {
            drawn.push(format!("... and {} more\n", diagnostics.len() - MAX_DRAWN));
        }
        drawn.join("\n")
    }

    /// One diagnostic, ending with a line feed.
    pub fn render(self, sources: &Sources, diagnostic: &Diagnostic) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut main =
            Group::with_title(level.primary_title(message(&diagnostic.title)).id(diagnostic.code));
        for file in files(diagnostic) {
            let labels = diagnostic.labels.iter().filter(|label| label.span.file == file);
            if let Some(source) = sources.get(file) {
                main = main.element(Element::from(snippet(source, labels.collect())));
            }
        }
        let help = diagnostic.help.iter().map(|text| (Level::HELP, text));
        let notes = diagnostic.notes.iter().map(|text| (Level::NOTE, text));
        let below = help.chain(notes);
        let mut report = vec![main];
        report.extend(
            below.map(|(level, text)| Group::with_title(level.secondary_title(message(text)))),
        );
        let renderer = if self.colour {
            annotate_snippets::Renderer::styled()
        } else {
            annotate_snippets::Renderer::plain()
        };
        let renderer = renderer.term_width(self.width).decor_style(DecorStyle::Ascii);
        format!("{}\n", tidy(&renderer.render(&report)))
    }
}

/// A message, safe to print.
fn message(text: &str) -> Cow<'_, str> {
    let shown = visible(text);
    if shown.len() <= MAX_MESSAGE {
        return shown;
    }
    Cow::Owned(format!("{}...", &shown[..shown.floor_char_boundary(MAX_MESSAGE)]))
}

/// The library pads some lines with blanks, which would make golden files fragile.
fn tidy(drawn: &str) -> String {
    let lines: Vec<_> = drawn.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// The file of the main label comes first.
fn files(diagnostic: &Diagnostic) -> Vec<FileId> {
    let mut files: Vec<FileId> = diagnostic.span().map(|span| span.file).into_iter().collect();
    for label in &diagnostic.labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
}

/// Drops context that would make one line wider than any terminal.
fn is_far(label: &Label, all: &[&Label], text: &str) -> bool {
    let Some(culprit) = all.iter().find(|label| label.primary) else { return false };
    let (one, other) = (label.span.start, culprit.span.start);
    let between = text.get(one.min(other)..one.max(other)).unwrap_or_default();
    !label.primary && between.len() > MAX_CARETS && !between.contains('\n')
}

/// Only the lines between the first and the last label, because the rest of the file costs time.
fn snippet<'a>(file: &'a SourceFile, labels: Vec<&'a Label>) -> Snippet<'a, Annotation<'a>> {
    let text = file.text();
    let limit = |at: usize| text.floor_char_boundary(at.min(text.len()));
    let labels: Vec<_> = labels.iter().filter(|label| !is_far(label, &labels, text)).collect();
    let first = labels.iter().map(|label| limit(label.span.start)).min().unwrap_or(0);
    let last = labels.iter().map(|label| limit(label.span.end)).max().unwrap_or(0);
    let start = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
    let mut offsets: Vec<usize> = Vec::with_capacity(labels.len() * 2);
    for label in &labels {
        let from = limit(label.span.start);
        // A span over many lines would show the whole file; its first line is enough.
        let line_end = text[from..].find('\n').map_or(text.len(), |at| from + at);
        let to = limit(label.span.end.min(from + MAX_CARETS)).clamp(from, line_end);
        offsets.extend([from - start, to - start]);
    }
    let source = visible_with_offsets(&text[start..end].replace("\r\n", " \n"), &mut offsets);
    let annotations = labels.into_iter().zip(offsets.chunks_exact(2)).map(|(label, at)| {
        let kind = if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(at[0]..at[1].max(at[0]));
        if label.text.is_empty() { annotation } else { annotation.label(message(&label.text)) }
    });
    Snippet::source(source)
        .line_start(file.position(start).line)
        .path(visible(file.name()))
        .annotations(annotations.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Span;
    use crate::testing::parse;

    #[test]
    fn a_diagnostic_is_drawn_with_its_context_and_help() {
        let text = "targets:\n  payments:\n\n    comand: node\n";
        let parsed = parse(text);
        let span = |part: &str| {
            let at = text.find(part).expect("part");
            Span::new(FileId::default(), at..at + part.len())
        };
        let diagnostic = Diagnostic::error("config::unknown-key", "unknown key `comand`")
            .context(span("payments"), "in this target")
            .at(span("comand"), "not a key here")
            .help("did you mean `command`?")
            .note("keys are case-sensitive");
        let drawn = Renderer::plain().render(&parsed.sources, &diagnostic);
        assert_eq!(
            drawn,
            "\
error[config::unknown-key]: unknown key `comand`
 --> quintain.yaml:4:5
  |
2 |   payments:
  |   -------- in this target
3 |
4 |     comand: node
  |     ^^^^^^ not a key here
  |
help: did you mean `command`?
note: keys are case-sensitive
"
        );
        let coloured = Renderer::coloured().render(&parsed.sources, &diagnostic);
        assert!(coloured.contains("\u{1b}["));
    }

    #[test]
    fn deceiving_characters_of_the_file_are_shown() {
        let parsed = parse("a: 1\n\"b\u{202e}\u{200b}\": 1\n\"b\u{202e}\u{200b}\": 2\n");
        let drawn = parsed.drawn();
        assert!(drawn.contains("b<U+202E><U+200B>"), "{drawn}");
        assert!(!drawn.contains(['\u{202e}', '\u{200b}']), "{drawn}");
        assert!(drawn.contains("^^^^^^^^^^^^^^^^^^^ given again"), "{drawn}");
    }

    #[test]
    fn endless_messages_are_cut() {
        let key = "k".repeat(900);
        let drawn = parse(&format!("{{'{key}': 1, '{key}': 2}}")).drawn();
        assert!(drawn.len() < 1200, "{drawn}");
    }

    #[test]
    fn a_flood_of_diagnostics_is_counted() {
        let text: Vec<_> = (0..150).map(|n| format!("k{n}: 1\nk{n}: 2\n")).collect();
        let drawn = parse(&text.concat()).drawn();
        assert_eq!(drawn.matches("error[").count(), 100);
        assert!(drawn.ends_with("\n... and 50 more\n"), "{drawn}");
    }

    #[test]
    fn wide_lines_are_cut_around_the_culprit() {
        let parsed = parse(&format!("[{}\"x\": 1, \"x\": 2]", "1, ".repeat(20_000)));
        let keys: Vec<_> = (0..9000).map(|n| format!("k{n}: 1")).collect();
        let text = format!("{{{}, x: 1, x: 2}}", keys.join(", "));
        let parsed_map = parse(&text);
        for drawn in [parsed.drawn(), parsed_map.drawn()] {
            assert!(drawn.lines().all(|line| line.chars().count() < 140), "{drawn}");
        }
        assert!(parsed_map.drawn().contains("given again"));
    }
}
