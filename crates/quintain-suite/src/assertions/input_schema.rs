//! Whether a tool refuses arguments that its own input schema forbids.

use quintain_content::glob;
use quintain_content::registry::Meta;
use quintain_content::schema::Fault;
use quintain_content::schema::violations::{Rule, Violation, violations};
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::probe::Step;
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::verdict::Verdict;
use quintain_source::wrong_type;
use serde_json::Value;

use super::jsonpath::short;
use crate::check::{Builtin, Check, Scene, Spec};
use crate::views;

pub(super) static INPUT_SCHEMA_ENFORCED: Builtin = Builtin {
    meta: &Meta {
        id: "input-schema-enforced",
        aliases: &[],
        summary: "The tool refuses arguments that its input schema forbids",
        docs: r"# What it does
Takes the call of the test, whose arguments must be valid, and repeats it with invalid arguments. Each of
these calls violates the `inputSchema` in one place: a value of the wrong type, a missing required
property, a value outside the enumeration, a number or a length out of range, a text that does not match
the pattern or the format, an undeclared property; also inside nested objects and lists. Passes if the
server refuses every such call, with a JSON-RPC error or a result with `isError: true`. The score is the
share of refused calls.

`max` limits the number of calls (default 20, at most 200). `only` and `skip` select places in the
arguments (`user.address`, `items.*.price`); `rules` selects kinds of violations: `type`, `required`,
`enum`, `range`, `length`, `pattern`, `format`, `multiple`, `additional`.

The calls are real: a tool that accepts invalid arguments acts on them.

# Why it matters
Models often send wrong arguments. A server that accepts them does something nobody asked for.

# What counts as proof
The responses to the calls that should have been refused.

# Example
```yaml
- type: input-schema-enforced
  max: 30
  skip: [metadata]
  rules: [type, required, range]
```
",
        since: "0.1.0",
    },
    compile,
};

const DEFAULT_MAX: usize = 20;
const HIGHEST_MAX: u64 = 200;
/// Accepted calls that a reason lists, each with its proof.
const MAX_LISTED: usize = 8;

struct Enforced {
    max: usize,
    only: Vec<String>,
    skip: Vec<String>,
    rules: Vec<Rule>,
    negated: bool,
}

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let mut max = DEFAULT_MAX;
    if let Some(node) = spec.fields.get("max") {
        match node.as_u64().filter(|max| (1..=HIGHEST_MAX).contains(max)) {
            Some(wanted) => max = usize::try_from(wanted).unwrap_or(DEFAULT_MAX),
            None => wrong_type("max", "a number from 1 to 200", node, spec.dx),
        }
    }
    let mut places = |name| {
        let places = spec.fields.strings(name, spec.dx).unwrap_or_default();
        places.iter().map(|place| pointer(place)).collect()
    };
    let (only, skip) = (places("only"), places("skip"));
    let mut rules = Vec::new();
    for node in spec.fields.scalars("rules", spec.dx).unwrap_or_default() {
        if let Some((_, rule)) = Rule::WORDS.iter().find(|(word, _)| node.raw() == Some(word)) {
            rules.push(*rule);
        } else {
            let words = Rule::WORDS.iter().map(|(word, _)| *word);
            spec.dx.push(quintain_source::unknown_word("rules", node, words));
        }
    }
    Some(Box::new(Enforced { max, only, skip, rules, negated: spec.negated }))
}

/// `user.items[0]` as a JSON pointer; stars stay stars.
fn pointer(place: &str) -> String {
    if place.starts_with('/') {
        return place.to_owned();
    }
    let place = place.strip_prefix('$').unwrap_or(place);
    let parts = place.split(['.', '[', ']']).filter(|part| !part.is_empty());
    parts.fold(String::new(), |pointer, part| format!("{pointer}/{part}"))
}

/// The calls with invalid arguments.
struct InvalidCalls<'a> {
    tool: &'a str,
    server: &'a str,
    violations: Vec<Violation>,
    more: bool,
}

impl Enforced {
    fn plan<'a>(&self, scene: &Scene<'a>) -> Result<InvalidCalls<'a>, Box<Verdict>> {
        let (index, exchange) = views::last(scene)?;
        let error = |why: String| Box::new(Verdict::error(why).proof(index, ""));
        let Some((tool, listed)) = views::called(scene, exchange) else {
            return Err(error("the test calls no tool".to_owned()));
        };
        let Some(listed) = listed else {
            return Err(error(format!("the server does not list the tool `{tool}`")));
        };
        // If the server refuses valid arguments too, refusing invalid ones proves nothing.
        if !matches!(exchange.outcome, Outcome::Reply(_)) {
            let why = "the server refused the call of the test itself, so refusing others proves \
                       nothing; use valid arguments in the test";
            return Err(error(why.to_owned()));
        }
        let Some(schema) = listed.input_schema() else {
            let why = format!("the tool `{tool}` has no input schema");
            return Err(Box::new(Verdict::fail(why)));
        };
        let given = exchange.sent.get("arguments").and_then(Value::as_object).cloned();
        let wanted = |place: &str, rule: Rule| self.wants(place, rule);
        let found = violations(schema, &given.unwrap_or_default(), self.max, wanted);
        let found = found.map_err(|problem| {
            let why = &problem.message;
            error(match problem.fault {
                Fault::Arguments => {
                    format!("the arguments of the test violate the input schema of `{tool}`: {why}")
                }
                Fault::Schema => format!("the input schema of `{tool}` is invalid: {why}"),
            })
        })?;
        if found.all.is_empty() {
            let chosen = !(self.only.is_empty() && self.skip.is_empty() && self.rules.is_empty());
            let where_chosen = if chosen { " at the selected places" } else { "" };
            let why = format!("the input schema of `{tool}` forbids nothing{where_chosen}");
            return Err(Box::new(Verdict::fail(why)));
        }
        Ok(InvalidCalls { tool, server: &exchange.server, violations: found.all, more: found.more })
    }

    fn wants(&self, place: &str, rule: Rule) -> bool {
        let covers = |pattern: &String| {
            glob::matches(pattern, place) || glob::matches(&format!("{pattern}/*"), place)
        };
        (self.rules.is_empty() || self.rules.contains(&rule))
            && (self.only.is_empty() || self.only.iter().any(covers))
            && !self.skip.iter().any(covers)
    }
}

impl InvalidCalls<'_> {
    fn step(&self, violation: &Violation) -> Step {
        let (tool, server) = (self.tool.to_owned(), self.server.to_owned());
        Step::Call(ToolCall { tool, args: violation.args.clone(), server: Some(server) })
    }
}

impl Check for Enforced {
    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        rounds.once(|| self.questions(scene), |answers| self.judge(scene, answers))
    }

    fn asks(&self) -> bool {
        true
    }
}

impl Enforced {
    fn questions(&self, scene: &Scene<'_>) -> Vec<Question> {
        let Ok(plan) = self.plan(scene) else { return Vec::new() };
        plan.violations.iter().map(|violation| Question::call(plan.step(violation))).collect()
    }

    fn judge(&self, scene: &Scene<'_>, answers: &[Answer]) -> Verdict {
        let plan = match self.plan(scene) {
            Ok(plan) => plan,
            Err(verdict) => return *verdict,
        };
        let mut asked = 0;
        let mut bad = Vec::new();
        let mut accepted = 0;
        for (at, violation) in plan.violations.iter().enumerate() {
            let exchange = match answers.get(at) {
                Some(Answer::Exchange(exchange)) => exchange,
                Some(Answer::Failed(why) | Answer::Unavailable(why)) => return Verdict::error(why),
                Some(Answer::Value(_) | Answer::Reply(_)) | None => {
                    return Verdict::error("the tool was not called");
                }
            };
            if !as_meant(exchange, violation) {
                continue;
            }
            asked += 1;
            match &exchange.outcome {
                Outcome::ToolError(_) | Outcome::RpcError { .. } => {}
                Outcome::Reply(_) => {
                    accepted += 1;
                    bad.push((violation, describe(violation)));
                }
                failed => {
                    let why = failed.failure().unwrap_or_default();
                    bad.push((violation, format!("{} (no response: {why})", describe(violation))));
                }
            }
        }
        if asked == 0 {
            let why = "no invalid arguments were sent: `defaultArgs` of the target overwrites them";
            return Verdict::error(why);
        }
        let verdict = self.verdict(&plan, asked, accepted, &bad);
        bad.iter().take(MAX_LISTED).fold(verdict, |verdict, (violation, _)| {
            match scene.evidence.index_of_step(&plan.step(violation), 0) {
                Some(index) => verdict.proof(index, ""),
                None => verdict,
            }
        })
    }
}

impl Enforced {
    fn verdict(
        &self,
        plan: &InvalidCalls<'_>,
        asked: u32,
        accepted: u32,
        bad: &[(&Violation, String)],
    ) -> Verdict {
        let tool = plan.tool;
        let refused = asked - u32::try_from(bad.len()).unwrap_or(asked);
        let more = if plan.more { " (`max` reached, others not sent)" } else { "" };
        let share = f64::from(refused) / f64::from(asked);
        if bad.is_empty() {
            let reason = format!("`{tool}` refused all {asked} calls with invalid arguments{more}");
            return Verdict::new(!self.negated, if self.negated { 0.0 } else { 1.0 }, reason);
        }
        let listed = bad.iter().take(MAX_LISTED).map(|(_, words)| format!("\n- {words}"));
        let rest = bad.len().saturating_sub(MAX_LISTED);
        let rest = if rest > 0 { format!("\n- {rest} more") } else { String::new() };
        let reason = format!(
            "`{tool}` did not refuse {} of {asked} calls with invalid arguments{more}:{}{rest}",
            bad.len(),
            listed.collect::<String>()
        );
        // A crash does not count as acceptance.
        let pass = self.negated && accepted > 0;
        Verdict::new(pass, if self.negated { 1.0 - share } else { share }, reason)
    }
}

/// Whether the invalid arguments were sent unchanged: `defaultArgs` of the target may have overwritten them.
fn as_meant(exchange: &Exchange, violation: &Violation) -> bool {
    exchange.sent.get("arguments").and_then(Value::as_object) == Some(&violation.args)
}

fn describe(violation: &Violation) -> String {
    let (place, rule) = (violation.place(), violation.rule.word());
    match &violation.value {
        Some(value) => format!("`{place}` = {} ({rule})", short(value)),
        None => format!("without `{place}` ({rule})"),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Extra;
    use quintain_evidence::surface::{Surface, Tool};
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use super::*;
    use crate::suite::NoFiles;
    use crate::testing::{
        TestScene, compile as compiled, compile_with, first_questions, judged_with, only_check,
    };

    fn stage(schema: Value) -> TestScene {
        let reply = Outcome::Reply(json!({"content": []}));
        let mut stage = TestScene::called("pay", json!({"amount": 5, "user": "a"}), reply);
        let tools = vec![Tool(json!({"name": "pay", "inputSchema": schema}))];
        stage.surfaces.push(("s".to_owned(), Surface { tools, ..Surface::default() }));
        stage
    }

    fn schema() -> Value {
        json!({
            "type": "object", "required": ["amount"],
            "properties": {"amount": {"type": "number", "minimum": 0}, "user": {"type": "string"}}
        })
    }

    /// Answers the questions of the check with a server that decides by the arguments.
    fn served(mut stage: TestScene, yaml: &str, serve: fn(&Step) -> Outcome) -> Verdict {
        let asserts = compiled(yaml);
        let check = only_check(&asserts);
        let questions = stage.with(|scene| first_questions(check, scene));
        let mut answers = Vec::new();
        for question in questions {
            let Question::Call { step, .. } = question else { panic!("only calls") };
            let Step::Call(call) = &step else { panic!("only tools") };
            let exchange =
                crate::testing::exchange("pay", Value::Object(call.args.clone()), serve(&step));
            answers.push(Answer::Exchange(Box::new(exchange.clone())));
            stage.evidence.extra.push(Extra { step, exchange });
        }
        stage.with(|scene| judged_with(check, scene, &answers))
    }

    fn refuses(_: &Step) -> Outcome {
        Outcome::RpcError { code: -32602, message: "no".to_owned(), data: None }
    }

    /// Validates only the type of the amount.
    fn careless(step: &Step) -> Outcome {
        let Step::Call(call) = step else { panic!("only tools") };
        match call.args.get("amount") {
            Some(Value::Number(_)) => Outcome::Reply(json!({"content": []})),
            _ => Outcome::ToolError(json!({"isError": true})),
        }
    }

    #[test]
    fn a_server_that_refuses_passes() {
        let verdict = served(stage(schema()), "[{type: input-schema-enforced}]", refuses);
        assert_eq!(verdict.reason, "`pay` refused all 4 calls with invalid arguments");
        assert_eq!((verdict.passed(), verdict.score), (true, 1.0));
        let verdict = served(stage(schema()), "[{type: not-input-schema-enforced}]", refuses);
        assert_eq!((verdict.passed(), verdict.score), (false, 0.0));
    }

    #[test]
    fn what_was_accepted_is_listed_and_proved() {
        let verdict = served(stage(schema()), "[{type: input-schema-enforced}]", careless);
        assert_eq!(
            verdict.reason,
            "`pay` did not refuse 2 of 4 calls with invalid arguments:\n\
             - `user` = {\"unexpected\":true} (type)\n- `amount` = -1 (range)"
        );
        assert_eq!((verdict.passed(), verdict.score), (false, 0.5));
        let proofs: Vec<usize> = verdict.proofs.iter().map(|proof| proof.exchange).collect();
        assert_eq!(proofs, [2, 4]);
        let verdict = served(stage(schema()), "[{type: not-input-schema-enforced}]", careless);
        assert_eq!((verdict.passed(), verdict.score), (true, 0.5));
    }

    #[test]
    fn a_crash_is_neither_refused_nor_accepted() {
        let crash = |_: &Step| Outcome::Closed { why: "it ended".to_owned() };
        for kind in ["input-schema-enforced", "not-input-schema-enforced"] {
            let verdict = served(stage(schema()), &format!("[{{type: {kind}, max: 1}}]"), crash);
            assert!(!verdict.passed(), "{kind}");
            assert!(verdict.reason.contains("(no response: it ended)"), "{}", verdict.reason);
            assert!(verdict.reason.contains("`max` reached"), "{}", verdict.reason);
        }
    }

    #[test]
    fn places_and_rules_can_be_chosen() {
        for (options, count) in [
            ("only: [user]", 1),
            ("skip: amount", 1),
            ("rules: [range, required]", 2),
            ("max: 3", 3),
        ] {
            let asserts = compiled(&format!("[{{type: input-schema-enforced, {options}}}]"));
            let asked = stage(schema()).with(|scene| first_questions(only_check(&asserts), scene));
            assert_eq!(asked.len(), count, "{options}");
        }
        assert_eq!(pointer("$.a.b[0].c"), "/a/b/0/c");
    }

    #[test]
    fn nothing_to_break_is_never_a_pass() {
        let judged = |stage: &TestScene, kind: &str| stage.judge(&format!("[{{type: {kind}}}]"));
        for kind in ["input-schema-enforced", "not-input-schema-enforced"] {
            let open = judged(&stage(json!({"type": "object"})), kind);
            assert_eq!(open.status, Status::Fail);
            assert_eq!(open.reason, "the input schema of `pay` forbids nothing");
            let mut unlisted = stage(schema());
            unlisted.surfaces.clear();
            assert_eq!(judged(&unlisted, kind).status, Status::Error);
            let mut bad = stage(schema());
            bad.evidence.exchanges[0].sent = json!({"name": "pay", "arguments": {"amount": "x"}});
            assert!(judged(&bad, kind).reason.contains("violate the input schema of `pay`"));
            let mut refused = stage(schema());
            refused.evidence.exchanges[0].outcome = Outcome::ToolError(json!({}));
            assert_eq!(judged(&refused, kind).status, Status::Error);
            assert_eq!(judged(&TestScene::output("x"), kind).status, Status::Error);
            let unasked = judged(&stage(schema()), kind);
            assert_eq!(unasked.status, Status::Error, "{}", unasked.reason);
        }
    }

    #[test]
    fn mistakes_are_reported() {
        for (options, part) in [
            ("max: 0", "a number from 1 to 200"),
            ("rules: [typ]", "did you mean `type`?"),
            ("only: {a: 1}", "a list of texts"),
        ] {
            let yaml = format!("[{{type: input-schema-enforced, {options}}}]");
            let (_, complaints) = compile_with(&yaml, &NoFiles);
            assert!(complaints.contains(part), "{options}: {complaints}");
        }
    }
}
