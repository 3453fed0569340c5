//! Argument text that an interpreter evaluates as code.

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;

use super::{reach, tool_contract, traces};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, Nonce, TargetView, Trial, Tried};

pub(super) struct CodeInjection;

static META: Meta = Meta {
    id: "code-injection",
    aliases: &["eval-injection", "code-execution"],
    summary: "The server evaluates argument text as code",
    docs: "\
# What it does
Sends expressions in Python, JavaScript, Ruby and PHP instead of a value: bare, after closing a string, as another statement, and as a
YAML tag that creates objects. The expressions join the halves of a random word or create a marker file in a temporary folder.

# Why it matters
An attacker can run code with all privileges of the server.

# What counts as proof
The response contains the whole random word, of which the request contains only the halves, or the marker file appears. Arithmetic proves
nothing here: a calculator is supposed to compute, but it does not import modules, inspect classes or build functions. If the tool states
that it runs code, the finding is by design.

# Example
```yaml
redteam:
  plugins: [code-injection]
```

# References
- CWE-94, CWE-95, CWE-502, OWASP MCP05
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::Critical,
    cwe: &[94, 95],
    frameworks: &["MCP05", "ASI05", "LLM05"],
};

const KINDS: [Kind; 6] =
    [Kind::Expression, Kind::Filter, Kind::Pattern, Kind::Command, Kind::Name, Kind::Text];

/// A language, and how the result of an expression differs from an echo. Expressions are short, since many
/// places refuse long texts; those that create a marker file are longer and are sent separately.
#[derive(Clone, Copy)]
enum Interpreter {
    Python,
    PythonMarker,
    /// Python without built-in functions: only attributes are left.
    BarePython,
    JavaScript,
    JavaScriptMarker,
    Ruby,
    Php,
}

/// A form: its name, the language, and the text before and after the expression. A form that closes a string
/// keeps the innocent value in front.
type Form = (&'static str, Interpreter, &'static str, &'static str);

/// The first `RARE` forms are tried everywhere.
const FORMS: [Form; 15] = [
    ("Python expression", Interpreter::Python, "", ""),
    ("JavaScript expression", Interpreter::JavaScript, "", ""),
    ("Python after a closing single quote", Interpreter::Python, "'+", "+'"),
    ("JavaScript after a closing single quote", Interpreter::JavaScript, "'+", "+'"),
    ("Python after a closing double quote", Interpreter::Python, "\"+", "+\""),
    ("JavaScript after a closing double quote", Interpreter::JavaScript, "\"+", "+\""),
    ("Python expression, blind", Interpreter::PythonMarker, "", ""),
    ("JavaScript expression, blind", Interpreter::JavaScriptMarker, "", ""),
    ("Python without built-in functions", Interpreter::BarePython, "", ""),
    ("Python on a new line, blind", Interpreter::PythonMarker, "\n", "\n"),
    ("Python after a closing single quote, blind", Interpreter::PythonMarker, "'+str(", ")+'"),
    ("JavaScript as another statement", Interpreter::JavaScript, ";", "//"),
    ("JavaScript after a closed call, blind", Interpreter::JavaScriptMarker, "');", "//"),
    ("Ruby expression", Interpreter::Ruby, "", ""),
    ("PHP expression", Interpreter::Php, "", ""),
];
const RARE: usize = 8;

impl Interpreter {
    /// The expression; none if its effect cannot be observed.
    fn expression(self, nonce: &Nonce, marker: Option<&str>) -> Option<String> {
        let function = |body: String| format!("[].constructor.constructor(\"{body}\")()");
        let (left, right) = nonce.as_str().split_at(6);
        Some(match self {
            Self::Python => {
                format!("__import__('operator').concat(*['{right}','{left}'][::-1])")
            }
            Self::PythonMarker => format!("open('{}','w').close()", marker?),
            Self::BarePython => format!("'{left}'.__class__.__name__.join(['{right}','{left}'])"),
            Self::JavaScript => function(format!("return ['{right}','{left}'].reverse().join('')")),
            Self::JavaScriptMarker => function(format!(
                "var p=process,m=p.mainModule;(m?m.require('fs'):p.getBuiltinModule('fs'))\
                 .writeFileSync('{}','')",
                marker?
            )),
            Self::Ruby => format!("Kernel.Array(['{right}','{left}']).reverse.join"),
            Self::Php => format!("implode(array_reverse(['{right}','{left}']))"),
        })
    }

    /// The result of the expression, if it differs from an echo. The expression swaps the halves of a word; no
    /// tool that strips, reverses or encodes text does that.
    fn value(self, nonce: &Nonce) -> String {
        let (left, right) = nonce.as_str().split_at(6);
        match self {
            Self::Python | Self::JavaScript | Self::Ruby | Self::Php => nonce.to_string(),
            Self::BarePython => format!("{right}str{left}"),
            Self::PythonMarker | Self::JavaScriptMarker => String::new(),
        }
    }
}

impl Attack for CodeInjection {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts_in_modes(&KINDS, false);
        for aim in &mut aims {
            aim.by_design = tool_contract::of_code(view, aim);
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let innocent = reach::plausible(aim);
        let likely = aim.kinds.first().is_some_and(|kind| KINDS[..5].contains(kind));
        let count = if likely { FORMS.len() } else { RARE };
        let mut attempts = Vec::new();
        for (set, (name, tongue, before, behind)) in FORMS.into_iter().take(count).enumerate() {
            let nonce = brief.nonce();
            let marker = traces::marker(brief, &nonce);
            let Some(code) = tongue.expression(&nonce, marker.as_deref()) else { continue };
            let kept = if before.is_empty() { "" } else { innocent.as_str() };
            let payload = format!("{kept}{before}{code}{behind}");
            let role = tongue.value(&nonce);
            let attempt = reach::attempt(aim, (set, name), nonce, payload);
            attempts.extend(attempt.map(|attempt| Attempt { role, ..attempt }));
        }
        attempts.extend(yaml(aim, brief, FORMS.len()));
        attempts
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let [only] = set else { return None };
        only.foretells().map(|sign| (0, sign))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial
            .tried
            .iter()
            .filter_map(|tried| proof(tried).map(|what| hit(trial, tried, what)))
            .collect()
    }
}

/// For YAML loaders that create any object a document names.
fn yaml(aim: &Aim, brief: &Brief<'_>, set: usize) -> Option<Attempt> {
    let nonce = brief.nonce();
    let role = nonce.to_string();
    let (left, right) = nonce.as_str().split_at(6);
    let payload = format!("!!python/object/apply:operator.mod ['%s{right}', {left}]");
    let attempt = reach::attempt(aim, (set, "YAML object tag"), nonce, payload);
    attempt.map(|attempt| Attempt { role, ..attempt })
}

fn hit(trial: &Trial<'_>, tried: &Tried, what: String) -> Hit {
    let title = format!("Code injection in `{}` ({})", trial.aim.place, tried.attempt.form);
    let hit = Hit::confirmed(title, what).by(tried).fault("code");
    let hit = hit.said(tried, &tried.attempt.role);
    match &trial.aim.by_design {
        Some(note) => hit.note(note).severity(Severity::Low),
        None => hit,
    }
}

fn proof(tried: &Tried) -> Option<String> {
    let value = &tried.attempt.role;
    traces::seen(tried).or_else(|| {
        (!value.is_empty() && tried.said().contains(value.as_str())).then(|| {
            format!("the response contains {value}, which only evaluating the expression produces")
        })
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Observation};

    use super::*;
    use crate::attacks::testing::{TestTarget, answers};

    fn room() -> TestTarget {
        TestTarget::with_argument("calculate", "expression", "1 + 1")
    }

    fn text(attempt: &Attempt) -> String {
        attempt.payload.as_ref().unwrap().as_str().unwrap().to_owned()
    }

    fn is_blind(attempt: &Attempt) -> bool {
        attempt.form.contains("blind")
    }

    #[test]
    fn the_value_of_the_expression_is_proof() {
        let hits =
            room().run_attack(&CodeInjection, |attempt| answers(&format!("= {}", attempt.role)));
        let blind = FORMS.iter().filter(|form| form.0.contains("blind")).count();
        assert_eq!(hits.len(), FORMS.len() + 1 - blind);
        assert!(hits[0].title.contains("Python"), "{}", hits[0].title);
    }

    #[test]
    fn no_payload_holds_its_value() {
        let room = room();
        for attempt in CodeInjection.attempts(&room.knowledge.aims[0], &room.brief()) {
            assert!(is_blind(&attempt) || !text(&attempt).contains(&attempt.role));
            assert!(text(&attempt).len() < 200, "{}", attempt.form);
        }
    }

    #[test]
    fn repetition_and_error_texts_are_none() {
        let echo = |attempt: &Attempt| {
            answers(&format!("SyntaxError: invalid syntax in {:?}", text(attempt)))
        };
        assert!(room().run_attack(&CodeInjection, echo).is_empty());
        let encoded = |attempt: &Attempt| {
            let bytes: Vec<String> =
                text(attempt).bytes().map(|byte| format!("%{byte:02x}")).collect();
            answers(&bytes.concat())
        };
        assert!(room().run_attack(&CodeInjection, encoded).is_empty());
        let turned = |attempt: &Attempt| answers(&text(attempt).chars().rev().collect::<String>());
        assert!(room().run_attack(&CodeInjection, turned).is_empty());
        let stripped = |attempt: &Attempt| {
            answers(&text(attempt).replace(|c: char| !c.is_ascii_alphanumeric(), ""))
        };
        assert!(room().run_attack(&CodeInjection, stripped).is_empty());
    }

    #[test]
    fn a_marker_is_proof_where_nothing_is_shown() {
        let hits = room().run_attack(&CodeInjection, |attempt| {
            let path = format!("/canaries/drop/{}", attempt.nonce).into();
            let file = Observation::File { path, content: String::new() };
            Evidence { observations: vec![file], ..answers("saved") }
        });
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit.title.contains("blind")));
    }

    #[test]
    fn running_code_by_contract_is_noted() {
        let mut room = TestTarget::with_argument("run_python", "code", "1");
        room.surfaces[0].1.tools[0].0["description"] = "Run Python code".into();
        let hits = room.run_attack(&CodeInjection, |attempt| answers(&attempt.role));
        assert!(!hits.is_empty() && hits.iter().all(|hit| hit.note.is_some()));
    }
}
