//! Argument text that a template engine evaluates.

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;

use super::{reach, tool_contract};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, Nonce, TargetView, Trial, Tried};

pub(super) struct TemplateInjection;

static META: Meta = Meta {
    id: "template-injection",
    aliases: &["ssti", "server-side-template-injection"],
    summary: "A template engine evaluates argument text",
    docs: "\
# What it does
Sends texts with the product of two random numbers in `{{ }}`, `${ }`, `<%= %>`, `#{ }`, `{ }` and other delimiters, and texts that access
classes, functions and attributes behind the data (`{{''.__class__}}`, `{0.__class__}`).

# Why it matters
Template engines can access objects of the server: its configuration, secrets and, in many engines, any function.

# What counts as proof
The response contains the product, or the name of a class, directly after a random word of the attempt. A response that repeats the text
proves nothing. If templates are the purpose of the tool, products are by design; classes and functions are not.

# Example
```yaml
redteam:
  plugins: [template-injection]
```

# References
- CWE-1336, CWE-94, CWE-134, OWASP MCP05
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::High,
    cwe: &[1336, 94],
    frameworks: &["MCP05", "ASI05", "LLM05"],
};

const KINDS: [Kind; 5] = [Kind::Expression, Kind::Text, Kind::Name, Kind::Filter, Kind::Pattern];

/// Expressions with a product: form, text before the factors, between them and after them. The first `COMMON` are
/// tried everywhere.
const PRODUCTS: [(&str, &str, &str, &str); 8] = [
    ("{{ }}", "{{", "*", "}}"),
    ("${ }", "${", "*", "}"),
    ("<%= %>", "<%= ", "*", " %>"),
    ("#{ }", "#{", "*", "}"),
    ("{ }", "{", "*", "}"),
    ("{{ }} with a filter", "{{ ", " | times: ", " }}"),
    ("@( )", "@(", "*", ")"),
    ("{% %}", "{% set q = ", "*", " %}{{ q }}"),
];
const COMMON: usize = 5;

/// Expressions that access classes or functions, and what they render. `WORD` is replaced by the random word.
const DEEP: [(&str, &str, Shows); 6] = [
    ("class in {{ }}", "{{''.__class__.__name__}}", Shows::Text("str")),
    (
        "function in {{ }}",
        "{{range.constructor(\"return 'WORD'.split('').reverse().join('')\")()}}",
        Shows::Turned,
    ),
    (
        "function in ${ }",
        "${[].constructor.constructor(\"return 'WORD'.split('').reverse().join('')\")()}",
        Shows::Turned,
    ),
    (
        "function in <%= %>",
        "<%= [].constructor.constructor(\"return 'WORD'.split('').reverse().join('')\")() %>",
        Shows::Turned,
    ),
    ("class in ${ }", "${''.__class__.__name__}", Shows::Text("str")),
    ("class in <%= %>", "<%= ''.class.name %>", Shows::Text("String")),
];

#[derive(Clone, Copy)]
enum Shows {
    Text(&'static str),
    Turned,
}

/// The maximum number of names to try in `{name.__class__}`.
const MAX_NAMES: usize = 3;

impl Attack for TemplateInjection {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts(&KINDS, false);
        for aim in &mut aims {
            let templates = tool_contract::of_templates(view, aim).filter(|_| !lists_names(aim));
            aim.by_design = templates.or_else(|| tool_contract::of_code(view, aim));
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let likely = aim.kinds.first().is_some_and(|kind| KINDS[..2].contains(kind));
        let mut attempts = Vec::new();
        let mut add = |form: &str, nonce: Nonce, hole: &str, shown: &str| {
            let role = format!("{nonce}{shown}");
            // The digit at the end changes the result of a calculator that drops everything except arithmetic.
            let payload = format!("{nonce}{hole}9");
            let attempt = reach::attempt(aim, (attempts.len(), form), nonce, payload);
            attempts.extend(attempt.map(|attempt| Attempt { role, ..attempt }));
        };
        let count = if likely { PRODUCTS.len() } else { COMMON };
        for (form, before, times, behind) in PRODUCTS.into_iter().take(count) {
            let (a, b) = (brief.number(), brief.number());
            let hole = format!("{before}{a}{times}{b}{behind}");
            add(&format!("product in {form}"), brief.nonce(), &hole, &(a * b).to_string());
        }
        if likely {
            // Go templates have no operators, but convert numbers between notations.
            let number = brief.number() * 10_007;
            let hole = format!("{{{{printf \"%d\" {number:#x}}}}}");
            add("notation in {{ }}", brief.nonce(), &hole, &number.to_string());
        }
        for (form, hole, shows) in DEEP.into_iter().take(if likely { DEEP.len() } else { 1 }) {
            let nonce = brief.nonce();
            let shown = match shows {
                Shows::Text(text) => text.to_owned(),
                Shows::Turned => nonce.as_str().chars().rev().collect(),
            };
            add(form, nonce.clone(), &hole.replace("WORD", nonce.as_str()), &shown);
        }
        for name in names(aim) {
            let hole = format!("{{{name}.__class__}}");
            add(&format!("class in {{{name}}}"), brief.nonce(), &hole, "<class '");
        }
        attempts
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let [only] = set else { return None };
        only.foretells().map(|sign| (0, sign))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let filled: Vec<&Tried> = trial.tried.iter().filter(|tried| is_filled_in(tried)).collect();
        let harmless = filled.iter().all(|tried| only_computes(tried));
        let note = trial.aim.by_design.as_deref().filter(|_| harmless);
        filled.into_iter().map(|tried| hit(trial, tried, note)).collect()
    }
}

/// Whether the description lists the names that are replaced: then evaluating expressions is more than it promises.
fn lists_names(aim: &Aim) -> bool {
    let described = aim.schema.get("description").and_then(|text| text.as_str());
    let holes = described.unwrap_or_default().split('{').skip(1).filter_map(|rest| {
        let name = rest.split_once('}')?.0.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!name.is_empty() && name.chars().all(plain)).then_some(name)
    });
    holes.count() >= 2
}

/// Names that a format string may refer to: names in braces from the innocent text and the description, the first
/// positional argument, and the other arguments of the call.
fn names(aim: &Aim) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let described = aim.schema.get("description").and_then(|text| text.as_str());
    let texts = [reach::plausible(aim), described.unwrap_or_default().to_owned()];
    for text in texts {
        let parts =
            text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0.to_owned()));
        found.extend(parts.take(MAX_NAMES));
    }
    found.truncate(MAX_NAMES - 1);
    found.push("0".to_owned());
    if let Some(Step::Call(call)) = aim.baseline.as_ref().map(|baseline| &baseline.step) {
        let own = aim.place.argument().unwrap_or_default();
        found.extend(call.args.keys().filter(|key| **key != own).cloned());
    }
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    found.retain(is_name);
    let mut seen = Vec::new();
    found.retain(|name| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    found.truncate(MAX_NAMES);
    found
}

fn is_filled_in(tried: &Tried) -> bool {
    !tried.attempt.role.is_empty() && tried.said().contains(tried.attempt.role.as_str())
}

fn only_computes(tried: &Tried) -> bool {
    tried.attempt.form.starts_with("product") || tried.attempt.form.starts_with("notation")
}

fn hit(trial: &Trial<'_>, tried: &Tried, note: Option<&str>) -> Hit {
    let (form, shown) = (&tried.attempt.form, &tried.attempt.role);
    let title = format!("Template injection in `{}` ({form})", trial.aim.place);
    let what = format!("the response contains {shown}, which only rendering the template produces");
    let hit = Hit::confirmed(title, what).by(tried).fault("template").said(tried, shown);
    match note {
        Some(note) => hit.note(note).severity(Severity::Info),
        None => hit,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::attacks::testing::{TestTarget, answers};

    fn text(attempt: &Attempt) -> String {
        attempt.payload.as_ref().unwrap().as_str().unwrap().to_owned()
    }

    #[test]
    fn products_and_classes_behind_the_word_are_proof() {
        let room = TestTarget::with_argument("greet", "message", "hello");
        let hits = room
            .run_attack(&TemplateInjection, |attempt| answers(&format!("Dear {}9", attempt.role)));
        assert_eq!(hits.len(), PRODUCTS.len() + DEEP.len() + 2);
        assert!(hits.iter().all(|hit| hit.fault == "template" && hit.note.is_none()));
    }

    #[test]
    fn repeated_texts_are_none() {
        let room = TestTarget::with_argument("greet", "message", "hello");
        let echo = |attempt: &Attempt| answers(&format!("error in '{}'", text(attempt)));
        assert!(room.run_attack(&TemplateInjection, echo).is_empty());
        let stripped = |attempt: &Attempt| {
            answers(&text(attempt).replace(['{', '}', '$', '#', '<', '%', '>', '='], ""))
        };
        assert!(room.run_attack(&TemplateInjection, stripped).is_empty());
    }

    #[test]
    fn a_product_without_the_word_is_a_calculator() {
        let room = TestTarget::with_argument("calculate", "expression", "1 + 1");
        let hits = room.run_attack(&TemplateInjection, |attempt| {
            answers(attempt.role.trim_start_matches(attempt.nonce.as_str()))
        });
        assert!(hits.is_empty());
    }

    #[test]
    fn templates_by_contract_may_compute_but_not_look_behind() {
        let room = TestTarget::with_argument("render", "template", "hello {{name}}");
        let all = room.run_attack(&TemplateInjection, |attempt| answers(&attempt.role));
        assert!(all.iter().all(|hit| hit.note.is_none()));
        let computed = room.run_attack(&TemplateInjection, |attempt| {
            answers(if attempt.form.starts_with("product") { &attempt.role } else { "?" })
        });
        assert!(!computed.is_empty() && computed.iter().all(|hit| hit.note.is_some()));
    }

    #[test]
    fn a_list_of_names_promises_no_arithmetic() {
        let mut room =
            TestTarget::of_tools(&[json!({"name": "render", "inputSchema": {"type": "object",
            "properties": {"template": {"type": "string",
                "description": "A template; {{ id }} and {{ amount }} are filled in"}}}})]);
        let args = Map::from_iter([("template".into(), json!("Paid {{ amount }}."))]);
        room.works("render", args, &answers("Paid 5."));
        let hits = room.run_attack(&TemplateInjection, |attempt| {
            answers(if attempt.form.starts_with("product") { &attempt.role } else { "?" })
        });
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit.note.is_none()));
    }

    #[test]
    fn format_strings_are_tried_with_the_names_at_hand() {
        let mut room =
            TestTarget::of_tools(&[json!({"name": "mail", "inputSchema": {"type": "object",
            "properties": {"subject": {"type": "string", "description": "May contain {customer}"},
                "to": {"type": "string"}}}})]);
        let args = Map::from_iter([("subject".into(), json!("x")), ("to".into(), json!("ann"))]);
        room.works("mail", args, &answers("ok"));
        assert_eq!(names(&room.knowledge.aims[0]), ["customer", "0", "to"]);
    }
}
