//! Stack traces, SQL statements and paths that a response must not contain.

use quintain_content::internals::{self, Inside};
use quintain_content::registry::Meta;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::verdict::Verdict;
use quintain_source::unknown_word;

use crate::check::{Builtin, Check, Scene, Spec};
use crate::views;

pub(super) static NO_INTERNALS: Builtin = Builtin {
    meta: &Meta {
        id: "no-internals",
        aliases: &[],
        summary: "The response does not disclose internals of the server",
        docs: r"# What it does
Searches the whole response for stack traces (`trace`), database statements (`statement`) and absolute
paths (`path`): content, structured content, the message and the data of an error. `types` limits the
search to some of them; `allow` lists prefixes of paths that may be disclosed.

`not-no-internals` passes only if the response discloses some.

# Why it matters
Stack traces, paths and statements show an attacker how a server is built and what to attack next.

# What counts as proof
The response that contains it.

# Example
```yaml
- type: no-internals
  types: [trace, path]
  allow: [/srv/public]
```
",
        since: "0.1.0",
    },
    compile,
};

struct NoInternals {
    kinds: Vec<Inside>,
    allowed: Vec<String>,
    negated: bool,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let all = || Inside::WORDS.map(|(_, kind)| kind).to_vec();
    let kinds = match spec.fields.scalars("types", spec.dx) {
        None => all(),
        Some(nodes) => {
            let mut kinds = Vec::new();
            for node in nodes {
                let known = Inside::WORDS.iter().find(|(word, _)| node.raw() == Some(word));
                if let Some((_, kind)) = known {
                    kinds.push(*kind);
                } else {
                    let words = Inside::WORDS.iter().map(|(word, _)| *word);
                    spec.dx.push(unknown_word("types", node, words));
                }
            }
            kinds
        }
    };
    let allowed = spec.fields.scalars("allow", spec.dx).unwrap_or_default();
    let allowed = allowed.iter().filter_map(|node| node.raw().map(str::to_owned)).collect();
    Some(Box::new(NoInternals { kinds, allowed, negated: spec.negated }))
}

impl Check for NoInternals {
    fn next(&self, scene: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(self.judge(scene))
    }

    fn wants_errors(&self) -> bool {
        true
    }
}

impl NoInternals {
    fn judge(&self, scene: &Scene<'_>) -> Verdict {
        let (index, exchange) = match views::last(scene) {
            Ok(last) => last,
            Err(verdict) => return *verdict,
        };
        if let Some(why) = exchange.outcome.failure() {
            let reason = format!("the server did not respond: {why}");
            return Verdict::fail(reason).proof(index, "");
        }
        let counts = |(kind, text): &(Inside, String)| {
            self.kinds.contains(kind)
                && !(*kind == Inside::Path
                    && self.allowed.iter().any(|allowed| text.starts_with(allowed.as_str())))
        };
        let found = internals::find(&exchange.outcome.said()).into_iter().find(counts);
        let verdict = match found {
            Some((kind, text)) => {
                let line: String = text.chars().take(200).collect();
                Verdict::of(
                    self.negated,
                    format!("the response contains a {}: {line}", kind.word()),
                )
            }
            None => Verdict::of(!self.negated, "the response discloses no internals"),
        };
        verdict.proof(index, "")
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use serde_json::json;

    use crate::suite::NoFiles;
    use crate::testing::{TestScene, compile_with};

    fn passes(options: &str, text: &str) -> bool {
        let outcome = Outcome::RpcError { code: 1, message: text.into(), data: None };
        let yaml = format!("[{{type: no-internals{options}}}]");
        TestScene::called("t", json!({}), outcome).judge(&yaml).passed()
    }

    #[test]
    fn errors_are_looked_at() {
        assert!(!passes("", "cannot open /srv/app/x.db"));
        assert!(passes("", "cannot open it"));
        assert!(passes(", types: [trace]", "cannot open /srv/app/x.db"));
        assert!(passes(", allow: [/srv/app]", "cannot open /srv/app/x.db"));
        assert!(!passes(", types: statement", "in SELECT a FROM b"));
    }

    #[test]
    fn silence_does_not_pass_and_mistakes_are_reported() {
        let closed = Outcome::Closed { why: "it ended".into() };
        let verdict = TestScene::called("t", json!({}), closed).judge("[{type: no-internals}]");
        assert!(!verdict.passed());
        let (_, complaints) = compile_with("[{type: no-internals, types: [trce]}]", &NoFiles);
        assert!(complaints.contains("did you mean `trace`?"), "{complaints}");
    }
}
