//! Errors of MCP servers: whether there is one, its code, its text.

use quintain_content::registry::Meta;
use quintain_content::text::short::shortened;
use quintain_evidence::accepted::accepted;
use quintain_evidence::evidence::Outcome;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;
use quintain_source::{Node, closest, wrong_type, wrong_value};
use serde_json::Value;

use super::words::Words;
use crate::check::{Builtin, Check, Expected, Scene, Spec, as_text};
use crate::views;

pub(super) static IS_ERROR: Builtin = Builtin {
    meta: &Meta {
        id: "is-error",
        aliases: &[],
        summary: "The server responds with an error",
        docs: r"# What it does
Passes if the response is an error of the given `kind`:

- `tool`: a tool result with `isError: true`
- `protocol`: a JSON-RPC error
- `transport`: no response, because the connection broke, the time limit was reached, the response was
  unreadable or the request was rejected
- `any`: one of these
- `refusal`: the server refused, with an error or with a plain result that reads like one (`Error: ...`)

The default is `tool` or `protocol`: the server itself reports the error. A crash is not a refusal, and
neither is a call of a tool that does not exist.

`not-is-error` passes only on a result that is not an error, whatever `kind` is; with `refusal`, the text
of the result must not read like an error either.

# What counts as proof
The error in the response.

# Example
```yaml
- type: is-error
  kind: tool
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let kind = spec.fields.choice("kind", &Kind::WORDS, spec.dx);
        let negated = spec.negated;
        errors(move |scene| is_error(scene, kind.unwrap_or(Kind::Said), negated))
    },
};

pub(super) static ERROR_CODE: Builtin = Builtin {
    meta: &Meta {
        id: "error-code",
        aliases: &[],
        summary: "The server responds with a JSON-RPC error of a certain code",
        docs: r"# What it does
Passes if the response is a JSON-RPC error whose code is `value`, or in the list `value`. Codes of the
protocol have names: `parse-error` (-32700), `invalid-request` (-32600), `method-not-found` (-32601),
`invalid-params` (-32602), `internal-error` (-32603), `resource-not-found` (-32002).

`not-error-code` passes on any other response of the server, including a result.

# What counts as proof
The code in the response.

# Example
```yaml
- type: error-code
  value: [invalid-params, -32000]
```
",
        since: "0.1.0",
    },
    compile: error_code,
};

pub(super) static ERROR_CONTAINS: Builtin = Builtin {
    meta: &Meta {
        id: "error-contains",
        aliases: &[],
        summary: "The error of the server contains a text",
        docs: r"# What it does
Passes if the response is an error that contains the text `value`, or matches the regular expression
after `regex:`. Searches the message and the data of a JSON-RPC error, and the text blocks of a tool
result with `isError: true`. Case-sensitive; `regex:/no such/i` ignores case.

`not-error-contains` also requires an error, but one without that text: without a stack trace, for
example.

# What counts as proof
The message, the data or the text block that contains the text.

# Example
```yaml
- type: error-contains
  value: regex:/must be (a|an) \w+/i
- type: not-error-contains
  value: Traceback
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let words = spec.expect(|value| Words::read("error-contains", value));
        let negated = spec.negated;
        errors(move |scene| error_contains(scene, &words, negated))
    },
};

/// A check that judges errors.
fn errors<F>(judge: F) -> Option<Box<dyn Check>>
where
    F: Fn(&Scene<'_>) -> Result<Verdict, Box<Verdict>> + Send + Sync + 'static,
{
    Some(Box::new(Errors(judge)))
}

struct Errors<F>(F);

impl<F> Check for Errors<F>
where
    F: Fn(&Scene<'_>) -> Result<Verdict, Box<Verdict>> + Send + Sync,
{
    fn next(&self, scene: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done((self.0)(scene).unwrap_or_else(|verdict| *verdict))
    }

    fn wants_errors(&self) -> bool {
        true
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tool,
    Protocol,
    Transport,
    Any,
    /// A tool error or a protocol error.
    Said,
    /// A tool error, a protocol error, or a result whose text reads like an error.
    Refusal,
}

impl Kind {
    const WORDS: [(&'static str, Self); 5] = [
        ("tool", Self::Tool),
        ("protocol", Self::Protocol),
        ("transport", Self::Transport),
        ("any", Self::Any),
        ("refusal", Self::Refusal),
    ];

    fn covers(self, outcome: &Outcome) -> bool {
        let said = matches!(self, Self::Any | Self::Said | Self::Refusal);
        match outcome {
            Outcome::Reply(_) => self == Self::Refusal && !accepted(outcome),
            Outcome::ToolError(_) => said || self == Self::Tool,
            Outcome::RpcError { .. } => said || self == Self::Protocol,
            _ => matches!(self, Self::Transport | Self::Any),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Tool => "a tool error",
            Self::Protocol => "a protocol error",
            Self::Transport => "a transport failure",
            Self::Any => "an error",
            Self::Said => "an error from the server",
            Self::Refusal => "a refusal",
        }
    }
}

fn is_error(scene: &Scene<'_>, kind: Kind, negated: bool) -> Result<Verdict, Box<Verdict>> {
    let (index, exchange) = views::last(scene)?;
    let outcome = &exchange.outcome;
    let found = describe(outcome);
    let is_reply = matches!(outcome, Outcome::Reply(_));
    let verdict = match (negated, is_reply, kind.covers(outcome)) {
        (_, true, true) => Verdict::of(!negated, "the text of the result reads like an error"),
        (true, true, false) => Verdict::pass("the response is not an error"),
        (true, false, _) => Verdict::fail(format!("expected no error, but {found}")),
        (false, _, true) => Verdict::pass(found),
        (false, _, false) => Verdict::fail(format!("expected {}, but {found}", kind.words())),
    };
    let pointer = match outcome {
        Outcome::ToolError(_) => "/isError",
        Outcome::RpcError { .. } => "/code",
        _ => "",
    };
    Ok(verdict.proof(index, pointer))
}

/// Describes an outcome for the reason of a verdict.
fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Reply(_) => "the response is not an error".to_owned(),
        Outcome::ToolError(_) => {
            format!("the tool failed: {}", shortened(&outcome.texts().join("\n"), SHOWN))
        }
        Outcome::RpcError { code, message, .. } => {
            format!("the server responded with error {code}: {}", shortened(message, SHOWN))
        }
        other => {
            format!("the server did not respond: {}", other.failure().unwrap_or_default())
        }
    }
}

/// The maximum number of characters of a response in a reason.
const SHOWN: usize = 200;

const CODES: [(&str, i64); 6] = [
    ("parse-error", -32700),
    ("invalid-request", -32600),
    ("method-not-found", -32601),
    ("invalid-params", -32602),
    ("internal-error", -32603),
    ("resource-not-found", -32002),
];

fn error_code(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let node = spec.fields.required("value", spec.dx)?;
    let nodes = node.as_seq().unwrap_or(std::slice::from_ref(node));
    if nodes.is_empty() {
        wrong_type("value", "an error code or a list of error codes", node, spec.dx);
    }
    let mut codes = Vec::new();
    for node in nodes {
        codes.push(code(node, spec)?);
    }
    let negated = spec.negated;
    errors(move |scene| judge_code(scene, &codes, negated))
}

fn code(node: &Node, spec: &mut Spec<'_, '_>) -> Option<i64> {
    if let Some(code) = node.as_i64() {
        return Some(code);
    }
    let word = node.raw().unwrap_or_default();
    if let Some((_, code)) = CODES.iter().find(|(name, _)| *name == word) {
        return Some(*code);
    }
    let names = CODES.iter().map(|(name, _)| *name);
    if closest(word, names.clone()).is_some() {
        spec.dx.push(quintain_source::unknown_word("value", node, names));
    } else {
        wrong_value("value", "an error code such as -32602, or its name", node, spec.dx);
    }
    None
}

fn judge_code(scene: &Scene<'_>, codes: &[i64], negated: bool) -> Result<Verdict, Box<Verdict>> {
    let (index, exchange) = views::last(scene)?;
    let outcome = &exchange.outcome;
    let found = describe(outcome);
    if !outcome.is_answer() {
        return Ok(Verdict::fail(found).proof(index, ""));
    }
    let met = matches!(outcome, Outcome::RpcError { code, .. } if codes.contains(code));
    let wanted = codes.iter().map(i64::to_string).collect::<Vec<_>>().join(" or ");
    let verdict = match (negated, met) {
        (false, false) => Verdict::fail(format!("expected error {wanted}, but {found}")),
        (negated, met) => Verdict::of(met != negated, found),
    };
    let is_rpc = matches!(outcome, Outcome::RpcError { .. });
    Ok(verdict.proof(index, if is_rpc { "/code" } else { "" }))
}

fn error_contains(
    scene: &Scene<'_>,
    words: &Expected<Words>,
    negated: bool,
) -> Result<Verdict, Box<Verdict>> {
    let words = words.get(scene)?;
    let (index, exchange) = views::last(scene)?;
    let outcome = &exchange.outcome;
    let said = said(outcome);
    if matches!(outcome, Outcome::Reply(_)) || !outcome.is_answer() {
        let (does, found) =
            (if negated { "does not contain" } else { "contains" }, describe(outcome));
        let reason = format!("expected an error that {does} {}, but {found}", words.shown());
        return Ok(Verdict::fail(reason).proof(index, ""));
    }
    for (pointer, text) in &said {
        if words.occur_in(text)? {
            let reason = format!("the error contains {}", words.shown());
            return Ok(Verdict::of(!negated, reason).proof(index, pointer.as_str()));
        }
    }
    let reason = format!("the error does not contain {}: {}", words.shown(), describe(outcome));
    let verdict = Verdict::of(negated, reason);
    Ok(said.iter().take(1).fold(verdict, |verdict, (pointer, _)| verdict.proof(index, pointer)))
}

/// All texts of an error, with their JSON pointers.
fn said(outcome: &Outcome) -> Vec<(String, String)> {
    match outcome {
        Outcome::RpcError { message, data, .. } => {
            let data = data.iter().map(|data| ("/data".to_owned(), as_text(data).into_owned()));
            std::iter::once(("/message".to_owned(), message.clone())).chain(data).collect()
        }
        Outcome::ToolError(result) => {
            let content = result.get("content").and_then(Value::as_array);
            let blocks = content.into_iter().flatten().enumerate();
            let texts = blocks.filter_map(|(at, block)| {
                let text = block.get("text")?.as_str()?;
                Some((format!("/content/{at}/text"), text.to_owned()))
            });
            texts.collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quintain_evidence::response::Response;
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile, compile_with, flaw, only_check};

    fn tool() -> Outcome {
        let texts = json!([{"type": "image"}, {"type": "text", "text": "no such user"}]);
        Outcome::ToolError(json!({"isError": true, "content": texts}))
    }

    fn protocol() -> Outcome {
        let data = Some(json!({"field": "amount"}));
        Outcome::RpcError { code: -32602, message: "Invalid params".into(), data }
    }

    fn reply() -> Outcome {
        Outcome::Reply(json!({"content": []}))
    }

    fn closed() -> Outcome {
        Outcome::Closed { why: "the server ended".into() }
    }

    fn judged(assert: &str, outcome: Outcome) -> Verdict {
        TestScene::called("t", json!({}), outcome).judge(&format!("[{{type: {assert}}}]"))
    }

    #[test]
    fn kinds_of_errors_are_told_apart() {
        let outcomes = || [tool(), protocol(), closed(), reply()];
        for (assert, passes) in [
            ("is-error", [true, true, false, false]),
            ("is-error, kind: tool", [true, false, false, false]),
            ("is-error, kind: protocol", [false, true, false, false]),
            ("is-error, kind: transport", [false, false, true, false]),
            ("is-error, kind: any", [true, true, true, false]),
            ("is-error, kind: refusal", [true, true, false, false]),
            ("not-is-error", [false, false, false, true]),
            ("not-is-error, kind: tool", [false, false, false, true]),
        ] {
            let seen = outcomes().map(|outcome| judged(assert, outcome).passed());
            assert_eq!(seen, passes, "{assert}");
        }
        let told = || Outcome::Reply(json!({"content": [{"type": "text", "text": "Error: no"}]}));
        assert!(judged("is-error, kind: refusal", told()).passed());
        assert!(!judged("is-error", told()).passed());
        assert!(judged("not-is-error", told()).passed());
        assert!(!judged("not-is-error, kind: refusal", told()).passed());
        let timed_out = Outcome::TimedOut { after: Duration::from_secs(1) };
        let verdict = judged("is-error", timed_out);
        assert_eq!(
            verdict.reason,
            "expected an error from the server, but the server did not respond: \
             no response after 1000 ms"
        );
    }

    #[test]
    fn the_error_is_the_proof() {
        assert_eq!(judged("is-error", tool()).proofs[0].pointer, "/isError");
        assert_eq!(judged("error-code, value: -32602", protocol()).proofs[0].pointer, "/code");
        let verdict = judged("error-contains, value: user", tool());
        assert_eq!(verdict.proofs[0].pointer, "/content/1/text");
    }

    #[test]
    fn what_was_never_sent_is_no_error_of_the_server() {
        let stage = TestScene { response: Response::failed("no JSON"), ..TestScene::default() };
        for kind in ["is-error", "not-is-error", "error-code, value: 1", "not-error-code, value: 1"]
        {
            let verdict = stage.judge(&format!("[{{type: {kind}}}]"));
            assert_eq!((verdict.status, verdict.reason.as_str()), (Status::Error, "no JSON"));
        }
    }

    #[test]
    fn codes_are_numbers_or_names() {
        for (value, pass) in [
            ("-32602", true),
            ("invalid-params", true),
            ("[method-not-found, -32602]", true),
            ("method-not-found", false),
        ] {
            let verdict = judged(&format!("error-code, value: {value}"), protocol());
            assert_eq!(verdict.passed(), pass, "{value}: {}", verdict.reason);
            let verdict = judged(&format!("not-error-code, value: {value}"), protocol());
            assert_eq!(verdict.passed(), !pass, "not {value}: {}", verdict.reason);
        }
        assert!(!judged("error-code, value: -32602", tool()).passed());
        assert!(judged("not-error-code, value: -32602", reply()).passed());
        assert!(!judged("not-error-code, value: -32602", closed()).passed(), "nothing is known");
    }

    #[test]
    fn words_are_looked_for_in_message_data_and_texts() {
        for (value, outcome, pass) in [
            ("Invalid", protocol(), true),
            ("amount", protocol(), true),
            ("invalid", protocol(), false),
            ("'regex:/^invalid/i'", protocol(), true),
            ("'regex:^no such \\w+$'", tool(), true),
            ("'regex:^such'", tool(), false),
        ] {
            let verdict = judged(&format!("error-contains, value: {value}"), outcome.clone());
            assert_eq!(verdict.passed(), pass, "{value}: {}", verdict.reason);
            let verdict = judged(&format!("not-error-contains, value: {value}"), outcome);
            assert_eq!(verdict.passed(), !pass, "not {value}: {}", verdict.reason);
        }
        for outcome in [reply(), closed()] {
            for kind in ["error-contains", "not-error-contains"] {
                let verdict = judged(&format!("{kind}, value: x"), outcome.clone());
                assert_eq!(verdict.status, Status::Fail, "{kind} without an error");
            }
        }
    }

    #[test]
    fn they_see_errors_and_mistakes_are_reported() {
        for yaml in ["is-error", "error-code, value: 1", "error-contains, value: x"] {
            let asserts = compile(&format!("[{{type: {yaml}}}]"));
            assert!(only_check(&asserts).wants_errors());
        }
        for (yaml, part) in [
            ("is-error, kind: tol", "did you mean `tool`?"),
            ("error-code", "missing key `value`"),
            ("error-code, value: invalid-param", "did you mean `invalid-params`?"),
            ("error-code, value: {}", "an error code such as -32602"),
            ("error-code, value: []", "a list of error codes"),
        ] {
            let (_, complaints) = compile_with(&format!("[{{type: {yaml}}}]"), &NoFiles);
            assert!(complaints.contains(part), "{yaml}: {complaints}");
        }
        assert!(flaw("[{type: error-contains}]", "").contains("needs a text"));
        assert!(flaw("[{type: error-contains, value: ''}]", "").contains("not empty"));
        assert!(flaw("[{type: error-contains, value: 'regex:('}]", "").contains("invalid regular"));
    }
}
