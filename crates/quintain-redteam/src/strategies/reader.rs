//! Reads `strategies:` of a suite, with diagnostics that point at each error.

use quintain_content::json_value;
use quintain_source::{Diagnostic, Diagnostics, Node, Span};

use super::flaw::Mistake;
use super::tactic::{Tactic, parse};

/// Reads the list. Invalid entries are left out and reported.
pub fn read(list: &Node, dx: &mut Diagnostics) -> Vec<Tactic> {
    let Some(items) = list.as_seq() else {
        let title = format!("`strategies` must be a list, not {}", list.describe());
        dx.push(Diagnostic::error("config::wrong-type", title).at(list.span, ""));
        return Vec::new();
    };
    let mut tactics = Vec::new();
    for item in items {
        match parse(&item.to_json()) {
            Ok(parsed) => tactics.extend(parsed),
            Err(mistakes) => mistakes.into_iter().for_each(|it| dx.push(diagnostic(it, item))),
        }
    }
    tactics
}

fn diagnostic(mut mistake: Mistake, item: &Node) -> Diagnostic {
    let meant = mistake.flaw.take_closest();
    let span = place(item, &mistake.pointer);
    let diagnostic = Diagnostic::error(mistake.flaw.code(), mistake.flaw.to_string()).at(span, "");
    match meant {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None => diagnostic,
    }
}

/// The position of a pointer, or of the closest node that exists.
fn place(node: &Node, pointer: &str) -> Span {
    let mut node = node;
    for token in pointer.split('/').skip(1) {
        let key = json_value::pointer_key(token);
        let below = match (node.as_seq(), node.as_map()) {
            (Some(items), _) => key.parse().ok().and_then(|at: usize| items.get(at)),
            (_, Some(_)) => node.get(&key),
            _ => None,
        };
        match below {
            Some(below) => node = below,
            None => break,
        }
    }
    node.span
}

#[cfg(test)]
mod tests {
    use quintain_source::{Renderer, SourceFile, Sources};

    use super::*;

    fn complaints(yaml: &str) -> (usize, String) {
        let mut sources = Sources::new();
        let mut dx = Diagnostics::new();
        let id = sources.add(SourceFile::new("suite.yaml", yaml));
        let node = quintain_source::read(&sources, id, &mut dx).expect("YAML");
        let count = read(&node, &mut dx).len();
        (count, Renderer::plain().render_all(&sources, &dx))
    }

    #[test]
    fn all_mistakes_are_shown_where_they_stand() {
        let yaml = "\
- base64
- bass64
- id: caesar
  config:
    ofset: 3
- id: layer
  config:
    steps: [rot13, rto13]
";
        let (count, drawn) = complaints(yaml);
        assert_eq!(count, 1);
        for expected in [
            "unknown strategy `bass64`",
            "suite.yaml:2:3",
            "help: did you mean `base64`?",
            "`caesar` has no option `ofset`",
            "suite.yaml:5:12",
            "help: did you mean `offset`?",
            "suite.yaml:8:20",
        ] {
            assert!(drawn.contains(expected), "{expected} is not in\n{drawn}");
        }
    }

    #[test]
    fn a_list_is_wanted() {
        let (count, drawn) = complaints("base64: yes\n");
        assert_eq!(count, 0);
        assert!(drawn.contains("`strategies` must be a list, not a map"), "{drawn}");
    }
}
