//! Arguments that a tool accepts although its schema forbids them.

use quintain_content::registry::Meta;
use quintain_content::schema::violations::{Rule, Violation, violations};
use quintain_evidence::accepted::accepted;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;
use serde_json::Value;

use super::tool_actions;
use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, TargetView, Trial};

pub(super) struct SchemaBypass;

static META: Meta = Meta {
    id: "schema-bypass",
    aliases: &["schema-validation"],
    summary: "A tool accepts arguments that its schema forbids",
    docs: "\
# What it does
Takes a call that works and violates the schema of the tool in one place: another type, a missing required argument, a value that is not
listed, out of range, too long or in another format, a property that is not allowed.

# Why it matters
A schema that the server does not check is only advice. Assumptions about the arguments then fail deeper inside the tool.

# What counts as proof
The call succeeds with arguments that the schema forbids, and the innocent call succeeds as well. This is information, not yet a
vulnerability.

# Example
```yaml
redteam:
  plugins: [schema-bypass]
```

# References
- CWE-20
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::Info, cwe: &[20], frameworks: &["ASI02"] };

/// The maximum number of violations to try per tool.
const MAX: usize = 8;
/// The maximum number of violations to try per rule.
const MAX_OF_RULE: usize = 3;

impl Attack for SchemaBypass {
    fn meta(&self) -> Meta {
        META
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let tools = view.tools().filter(|(_, tool)| tool_actions::may_call(view, tool));
        tools
            .filter_map(|(server, tool)| {
                let name = tool.name()?;
                let baseline = view.knowledge.baseline(server, name)?;
                let place = Place::Tool { server: server.to_owned(), tool: name.to_owned() };
                let schema = tool.input_schema().cloned().unwrap_or(Value::Null);
                accepted(&baseline.exchange.outcome).then(|| Aim {
                    baseline: Some(baseline.clone()),
                    schema,
                    ..Aim::at(place)
                })
            })
            .collect()
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let Some(Step::Call(call)) = aim.baseline.as_ref().map(|known| &known.step) else {
            return Vec::new();
        };
        let found = violations(&aim.schema, &call.args, 64, |_, _| true).unwrap_or_default();
        let mut chosen: Vec<Violation> = Vec::new();
        for violation in found.all {
            let same = chosen.iter().filter(|known| known.rule == violation.rule).count();
            if chosen.len() < MAX && same < MAX_OF_RULE {
                chosen.push(violation);
            }
        }
        let attempt = |(set, violation): (usize, Violation)| {
            let mut call = call.clone();
            let form = form(&violation);
            call.args = violation.args;
            Attempt {
                form,
                set,
                role: violation.pointer,
                action: Action::Steps { steps: vec![Step::Call(call)], identity: 0 },
                nonce: brief.nonce(),
                payload: violation.value,
            }
        };
        chosen.into_iter().enumerate().map(attempt).collect()
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        (set.len() == 1).then_some((0, Indicator::Succeeds))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let works = trial.baseline().is_some_and(|exchange| accepted(&exchange.outcome));
        let taken = trial.tried.iter().filter(|tried| {
            works && tried.last().is_some_and(|exchange| accepted(&exchange.outcome))
        });
        taken
            .map(|tried| {
                let form = &tried.attempt.form;
                let title = format!(
                    "`{}` accepts arguments that its schema forbids ({form})",
                    trial.aim.place
                );
                let what = "the call succeeded with arguments that the schema forbids";
                Hit::confirmed(title, what).by(tried).fault("unchecked").sign(Indicator::Succeeds)
            })
            .collect()
    }
}

fn form(violation: &Violation) -> String {
    let place = violation.place();
    match violation.rule {
        Rule::Type => format!("wrong type of {place}"),
        Rule::Required => format!("without {place}"),
        Rule::Enum => format!("unlisted value of {place}"),
        Rule::Range => format!("{place} out of range"),
        Rule::Additional => format!("unknown property {place}"),
        Rule::Length => format!("length of {place}"),
        Rule::Pattern => format!("pattern of {place}"),
        Rule::Format => format!("format of {place}"),
        Rule::Multiple => format!("{place} not a multiple"),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Outcome;
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, args, comes};

    fn room() -> TestTarget {
        let schema = json!({"type": "object", "required": ["guests"], "additionalProperties": false,
            "properties": {"guests": {"type": "integer", "minimum": 1, "maximum": 8}}});
        let mut room = TestTarget::of_tools(&[json!({"name": "book", "inputSchema": schema})]);
        let innocent = json!({"guests": 2}).as_object().unwrap().clone();
        room.works("book", innocent, &answers("Booked."));
        room
    }

    #[test]
    fn what_is_forbidden_and_accepted_is_told_once_per_tool() {
        let hits = room().run_attack(&SchemaBypass, |_| answers("Booked."));
        assert!(hits.len() > 2);
        assert!(hits.iter().all(|hit| hit.fault == "unchecked" && hit.place.is_none()));
        assert!(hits[0].title.contains("wrong type of guests"), "{}", hits[0].title);
    }

    #[test]
    fn refusals_in_any_form_are_right() {
        let by_form = |_: &Attempt| comes(Outcome::ToolError(json!({"content": []})));
        assert!(room().run_attack(&SchemaBypass, by_form).is_empty());
        let by_words = |_: &Attempt| answers("Error: guests must be a number");
        assert!(room().run_attack(&SchemaBypass, by_words).is_empty());
        let by_protocol = |_: &Attempt| {
            comes(Outcome::RpcError { code: -32602, message: "no".into(), data: None })
        };
        assert!(room().run_attack(&SchemaBypass, by_protocol).is_empty());
    }

    #[test]
    fn nothing_is_told_without_a_call_that_works() {
        let mut room = room();
        room.knowledge.baselines.clear();
        assert!(SchemaBypass.aims(&room.view()).is_empty());
    }

    #[test]
    fn attempts_are_few_and_each_breaks_the_schema() {
        let room = room();
        let aim = &SchemaBypass.aims(&room.view())[0];
        let attempts = SchemaBypass.attempts(aim, &room.brief());
        assert!((3..=MAX).contains(&attempts.len()));
        for attempt in &attempts {
            assert_ne!(Value::Object(args(attempt)), json!({"guests": 2}));
        }
    }
}
