//! Targets and prompts that tests are restricted to. A test with an unknown name would be skipped silently, so
//! unknown names are reported.

use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity, Span, closest};

use super::{Prompt, Target};

/// What a name refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Target,
    Prompt,
}

/// A name as written in a test.
pub(super) struct Mention {
    kind: Kind,
    name: String,
    span: Span,
    strictness: Severity,
}

/// Reads a list of names and records them for [`check`].
pub(super) fn read(
    fields: &mut Fields<'_>,
    key: &'static str,
    kind: Kind,
    strictness: Severity,
    mentions: &mut Vec<Mention>,
    dx: &mut Diagnostics,
) -> Option<Vec<String>> {
    let nodes = fields.scalars(key, dx)?;
    let name = |node: &&Node| node.raw().unwrap_or_default().to_owned();
    mentions.extend(nodes.iter().map(|node| Mention {
        kind,
        name: name(node),
        span: node.span,
        strictness,
    }));
    Some(nodes.iter().map(name).collect())
}

/// Reports unknown names.
pub(super) fn check(
    mentions: &[Mention],
    targets: &[Target],
    prompts: &[Prompt],
    dx: &mut Diagnostics,
) {
    let of_targets = targets.iter().flat_map(|target| [Some(&target.id), target.label.as_ref()]);
    let of_targets: Vec<&str> = of_targets.flatten().map(String::as_str).collect();
    let of_prompts = prompts.iter().flat_map(|prompt| [prompt.id.as_ref(), Some(&prompt.label)]);
    let of_prompts: Vec<&str> = of_prompts.flatten().map(String::as_str).collect();
    for Mention { kind, name, span, strictness } in mentions {
        let (code, what, known) = match kind {
            Kind::Target => ("config::unknown-target", "target", &of_targets),
            Kind::Prompt => ("config::unknown-prompt", "prompt", &of_prompts),
        };
        if known.is_empty() || known.iter().any(|known| names(name, known)) {
            continue;
        }
        let title = format!("there is no {what} `{name}`");
        let diagnostic = Diagnostic::new(*strictness, code, title).at(*span, "not found");
        dx.push(match closest(name, known.iter().copied()) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic.help(format!("use the id or label of a {what}")),
        });
    }
}

/// Whether a pattern matches a name: the whole name, a prefix before `*`, or the part before a colon.
pub(crate) fn names(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        return name.starts_with(start);
    }
    name == pattern || name.strip_prefix(pattern).is_some_and(|rest| rest.starts_with(':'))
}
