//! Targets and prompts that tests are restricted to: a name that nothing has would leave the test out
//! without a word.

use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity, Span, closest};

use super::{Prompt, Target};

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Target,
    Prompt,
}

/// A name as a test writes it.
pub(super) struct Mention {
    kind: Kind,
    name: String,
    span: Span,
    strictness: Severity,
}

/// Reads a list of names, and keeps them for [`check`].
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

/// Reports the names that nothing has.
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
        let diagnostic = Diagnostic::new(*strictness, code, title).at(*span, "never tested");
        dx.push(match closest(name, known.iter().copied()) {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic.help(format!("write the id or label of a {what}")),
        });
    }
}

/// A name as it is, the beginning of one before `*`, or a group before a colon.
pub(crate) fn names(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        return name.starts_with(start);
    }
    name == pattern || name.strip_prefix(pattern).is_some_and(|rest| rest.starts_with(':'))
}
