//! A value in the arguments of a call that has no origin in the conversation.

mod origins;

use std::collections::HashSet;

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::{CallKind, CallOutcome, Role as Speaker};
use serde_json::Value;

use self::origins::Origins;
use super::{Checked, Fault, TraceCheck};
use crate::effect::{self, Effect};
use crate::policy::CallPolicy;
use crate::values::keys;
use crate::values::known::Known;
use crate::values::leaves::{Leaf, leaves};
use crate::view::{CallView, View};

pub(super) struct ArgsUngrounded;

static META: Meta = Meta {
    id: "args.ungrounded",
    aliases: &[],
    summary: "an argument has a value that neither the user nor an earlier result gave",
    docs: "\
# What it does
Looks at ids, e-mail addresses, paths, URLs, dates and numbers in the arguments of every call, and searches for their origin: what the
user and the system prompt say, earlier results and arguments, and `enum`, `const` and `default` of the tool's schema. The same value in
another notation is the same value: `1,200` and `1200`, `15 %` and `0.15`, `three`, other formats of dates and telephone numbers, a path
joined from named parts, a rounded result. Free text, page sizes and limits are the application's own choice.

# Why it matters
A model that lacks a value invents a plausible one. The call then succeeds with the wrong customer, file or amount.

# What counts as proof
The conversation is recorded from its start, and the value is in none of its origins. An example in a description is not an origin.

# Severity
Warning, in the layer *trace*.

# When it does not apply
Nothing is called, or what the user said is not recorded.

# Example
```json
{\"name\": \"get_order\", \"arguments\": {\"order_id\": \"ORD-99417\"}}
```
",
    since: "0.2.0",
};

/// More findings of one trace say no more.
const MAX_FINDINGS: usize = 50;

impl TraceCheck for ArgsUngrounded {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.calls.is_empty() {
            return Checked::NotApplicable("nothing is called");
        }
        if !view.trace.messages().any(|message| message.role == Speaker::User) {
            return Checked::NotApplicable("what the user said is not recorded");
        }
        let mut faults = Vec::new();
        let unknown = first_unknown(view);
        for call in &view.calls {
            let (known, before) = view.known_to(call);
            if faults.len() >= MAX_FINDINGS || !known.is_whole(before) || unknown < call.step {
                break;
            }
            faults.extend(ungrounded(known, before, call));
            // What a call returned may be the origin of everything that follows.
            if matches!(call.call.outcome, CallOutcome::Unknown) {
                break;
            }
        }
        Checked::Findings(faults)
    }
}

/// The step before the first calls of which nobody knows what a resource or prompt among them returned. It counts only
/// where the order between kinds is unknown.
fn first_unknown(view: &View<'_>) -> usize {
    let mut others = view.calls.iter().filter(|call| call.call.kind != CallKind::Tool);
    let unknown = others.find(|call| matches!(call.call.outcome, CallOutcome::Unknown));
    let Some(unknown) = unknown.filter(|_| view.trace.is_listed_by_kind) else {
        return usize::MAX;
    };
    let steps = view.trace.steps[..unknown.step].iter();
    steps.rev().position(|step| step.as_call().is_none()).map_or(0, |at| unknown.step - at - 1)
}

fn ungrounded(known: &Known, before: usize, call: &CallView<'_>) -> Vec<Fault> {
    let Some(args) = call.call.args.json() else { return Vec::new() };
    let declared = declared(call);
    let lengths: HashSet<usize> = lengths(args);
    let is_new = call.effect() != Effect::Reads;
    let has =
        |is: fn(&str) -> bool| args.as_object().is_some_and(|args| args.keys().any(|key| is(key)));
    let origin = Origins {
        known,
        before,
        is_new,
        lengths,
        makes: effect::makes(&call.call.name),
        waits: effect::waits(&call.call.name),
        is_window: !is_new && has(keys::is_start) && has(keys::is_end),
    };
    let given = leaves(args).into_iter().filter(|leaf| !is_declared(&declared, leaf.value));
    let invented =
        given.filter_map(|leaf| origin.missing(&leaf).map(|what| fault(call, &leaf, what)));
    invented.collect()
}

fn fault(call: &CallView<'_>, leaf: &Leaf<'_>, what: &str) -> Fault {
    let shown = leaf.value.as_str().map_or_else(|| leaf.value.to_string(), str::to_owned);
    let shown = one_line(&shown, 80);
    Fault {
        severity: Level::Warning,
        call: Some(call.position),
        pointer: leaf.pointer.clone(),
        message: format!(
            "`{}` is called with the {what} `{shown}`, which neither the user nor an earlier result gave",
            call.call.name
        ),
        evidence: shown,
        hint: "look the value up, or ask the user for it".to_owned(),
    }
}

/// The values that the schema of the tool gives: of `enum`, `const` and `default`.
fn declared<'v>(call: &CallView<'v>) -> Vec<&'v Value> {
    let mut found = Vec::new();
    let mut open: Vec<&Value> =
        call.tool().and_then(|tool| tool.input_schema()).into_iter().collect();
    while let Some(schema) = open.pop() {
        match schema {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("enum", Value::Array(values)) => found.extend(values),
                        ("const" | "default", value) => found.push(value),
                        ("examples" | "example" | "description", _) => {}
                        (_, value) => open.push(value),
                    }
                }
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
        if found.len() > 10_000 {
            break;
        }
    }
    found
}

fn is_declared(declared: &[&Value], value: &Value) -> bool {
    let same = |one: &Value| match (one, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::String(a), Value::String(b)) => a.eq_ignore_ascii_case(b),
        _ => false,
    };
    declared.iter().any(|one| same(one) || leaves(one).iter().any(|leaf| same(leaf.value)))
}

/// The lengths of all lists in a value.
fn lengths(value: &Value) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => {
                found.insert(items.len());
                open.extend(items);
            }
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::conversation::{found, trace};
    use super::*;

    fn pointers(user: &str, args: Value) -> Vec<String> {
        let trace = trace(user).call("get_thing", args, json!({"ok": true})).answer("Done.");
        found(&ArgsUngrounded, &trace).into_iter().map(|fault| fault.pointer).collect()
    }

    #[test]
    fn invented_values_are_found() {
        for args in [
            json!({"x": {"order_id": "ORD-9941"}}),
            json!({"x": {"email": "john@acme.example"}}),
            json!({"x": {"path": "/srv/data/other.csv"}}),
            json!({"x": {"url": "https://other.example/a"}}),
            json!({"x": {"date": "2026-07-19"}}),
            json!({"x": {"amount": 731.25}}),
            json!({"x": {"user": "5b1c9a3e-0000-4000-8000-1234567890ab"}}),
            json!({"x": {"phone": "+49 171 5551234"}}),
            json!({"x": {"cursor": "b3f81c09"}}),
            json!({"x": {"charge": "ch_3Nx81"}}),
            json!({"x": {"server": "203.0.113.25"}}),
        ] {
            let found = pointers(
                "Send 20 nuts from /srv/data/nuts.csv on 3 May 2026 to acme.example",
                args.clone(),
            );
            assert_eq!(found.len(), 1, "{args}");
            assert!(found[0].starts_with("/x/"));
        }
    }

    #[test]
    fn given_values_in_another_notation_are_fine() {
        let user = "Order ord-77: 1,200 nuts with 15 % off, three boxes, due May 3rd 2026 at 2:30 pm, call +1 (555) 010-9999, \
                    commit A1B2C3D4E5F60718, file nuts.csv in /srv/data, budget 2.5k, $45 deposit, half an hour, \
                    after release 2.4.7, flight LX 1073, oven at 350 F, on 198.51.100.7, train at 17h45.";
        for args in [
            json!({"order_id": "ORD-77", "count": 50}),
            json!({"quantity": 1200, "discount": 0.15, "boxes": 3}),
            json!({"due": "2026-05-03", "at": "2026-05-03T14:30:00Z"}),
            json!({"phone": "5550109999"}),
            json!({"sha": "a1b2c3d4e5f60718", "commit": "a1b2c3d"}),
            json!({"path": "/srv/data/nuts.csv"}),
            json!({"budget": "2500", "amount_cents": 4500, "duration_minutes": 30}),
            json!({"limit": 25, "page_size": 100, "timeout_ms": 5000, "cursor": "0"}),
            json!({"body": "Any text with 12345 and ORD-1.", "query": "nuts 2024"}),
            json!({"when": 1_777_818_600}),
            json!({"release_id": "2.5.0", "flight_id": "LX1073", "celsius": 177, "server": "198.51.100.7"}),
            json!({"start_time": "17:45"}),
        ] {
            assert_eq!(pointers(user, args.clone()), Vec::<String>::new(), "{args}");
        }
    }

    #[test]
    fn relative_words_may_mean_any_day_and_schemas_give_values() {
        assert!(pointers("Book a room for tomorrow", json!({"date": "2026-01-05"})).is_empty());
        assert_eq!(pointers("Book a room for two days", json!({"date": "2026-01-05"})), ["/date"]);
        let mut given = trace("Get it").tool("get_thing", json!({"properties": {"level": {"default": 7331}, "weight": {"description": "such as 99812"}}}));
        given = given.call("get_thing", json!({"level": 7331}), json!({})).call(
            "get_thing",
            json!({"weight": 99812}),
            json!({}),
        );
        let faults = found(&ArgsUngrounded, &given);
        assert_eq!(faults.iter().map(|fault| fault.call).collect::<Vec<_>>(), [Some(1)]);
    }

    #[test]
    fn products_and_results_are_origins() {
        let trace = trace("Refund 2 of the mugs of order 771, and book 3 nights from 2026-05-03")
            .call("get_order", json!({"order": 771}), json!({"price": 19.99, "rate": 0.123_456}))
            .call(
                "refund",
                json!({"amount": 39.98, "rate": 0.1235, "checkout": "2026-05-06"}),
                json!({}),
            );
        assert_eq!(found(&ArgsUngrounded, &trace), []);
    }

    #[test]
    fn calls_of_other_kinds_in_the_turn_may_have_come_first() {
        use crate::case::{LlmTestCase, McpResourceCall, McpToolCall};
        let case = |text: &str| LlmTestCase {
            mcp_tools_called: vec![
                McpToolCall::new("restart", json!({"service_id": "svc-8841"})).result("ok"),
            ],
            mcp_resources_called: vec![
                McpResourceCall::new("file:///a.md")
                    .result(json!({"contents": [{"uri": "file:///a.md", "text": text}]})),
            ],
            ..LlmTestCase::new("Restart the service of the runbook", "Done.")
        };
        let faults =
            |case: LlmTestCase| super::super::testing::faults(&ArgsUngrounded, &case.into());
        assert_eq!(faults(case("Restart svc-8841 when it hangs.")), []);
        assert_eq!(faults(case("Restart svc-8842 when it hangs.")).len(), 1);
        let mut silent = case("x");
        silent.mcp_resources_called[0].result = Value::Null;
        assert_eq!(faults(silent), [], "what the resource contains is not recorded");
    }

    #[test]
    fn contexts_of_test_cases_are_origins() {
        use crate::case::{LlmTestCase, McpToolCall};
        for key in ["context", "retrieval_context"] {
            let mut case = LlmTestCase::new("Refund it", "Done.");
            case.mcp_tools_called =
                vec![McpToolCall::new("refund", json!({"order_id": "ORD-7731"})).result("ok")];
            let found = super::super::testing::faults(&ArgsUngrounded, &case.clone().into());
            assert_eq!(found.len(), 1);
            case.labels.insert(key.into(), json!(["The order is ORD-7731."]));
            assert_eq!(super::super::testing::faults(&ArgsUngrounded, &case.into()), [], "{key}");
        }
    }

    #[test]
    fn more_notations_are_the_same_value() {
        for (user, args) in [
            ("Set a timer for an hour and a half", json!({"seconds": 5400})),
            ("Order a dozen", json!({"quantity": 12})),
            ("Invest one and a half million", json!({"amount": 1_500_000})),
            ("Between 10k-20k", json!({"min": 10_000, "max": 20_000})),
            ("Transfer 1 200,50", json!({"amount": 1200.5})),
            ("Raise it by 50 basis points", json!({"rate": 0.005})),
            ("A third off", json!({"discount": 0.33})),
            ("A third off", json!({"discount_percent": 33})),
            ("Book week 21 of 2026", json!({"start": "2026-05-18", "end": "2026-05-24"})),
            ("Is he away in August?", json!({"month": 8, "year": 2026})),
            ("Use version two point one", json!({"version": "2.1"})),
        ] {
            assert_eq!(pointers(user, args.clone()), Vec::<String>::new(), "{user} {args}");
        }
        for (user, args) in [
            ("Order a dozen", json!({"quantity": 24})),
            ("Between 10k-20k", json!({"max": 35_000})),
            ("A third off", json!({"discount": 0.4})),
            ("Book week 21 of 2026", json!({"start": "2026-05-11"})),
            ("Is he away in August?", json!({"month": 9})),
            ("Is he away in August?", json!({"year": 6119})),
        ] {
            assert_eq!(pointers(user, args.clone()).len(), 1, "{user} {args}");
        }
    }

    #[test]
    fn times_are_free_at_the_end_of_a_span_only() {
        let user = "Book 5pm on 2026-05-03";
        assert_eq!(pointers(user, json!({"at": "2026-05-03T19:00:00"})), ["/at"]);
        assert_eq!(pointers(user, json!({"start": "2026-05-03T18:00:00"})), ["/start"]);
        let span = json!({"start": "2026-05-03T17:00:00", "end": "2026-05-03T18:00:00"});
        assert_eq!(pointers(user, span), Vec::<String>::new());
        let window = json!({"start": "2026-05-03T16:00:00", "end": "2026-05-03T18:00:00"});
        assert_eq!(pointers(user, window), Vec::<String>::new(), "a call that only looks");
    }

    #[test]
    fn short_segments_and_names_of_things_are_compared() {
        assert_eq!(pointers("Read ~/notes/a.md", json!({"path": "~/notes/b.md"})), ["/path"]);
        assert_eq!(
            pointers("Get https://a.example/x", json!({"url": "https://a.example/y"})),
            ["/url"]
        );
        let url = json!({"url": "https://a.example/x?id=42&page=2"});
        assert_eq!(pointers("Get https://a.example/x", url), ["/url"]);
        let url = json!({"url": "https://a.example/x?sort=up&page=2&limit=50"});
        assert_eq!(pointers("Get x at a.example", url), Vec::<String>::new());
        assert_eq!(pointers("How is pod-6d9f-x2?", json!({"name": "pod-7d8f-x1"})), ["/name"]);
        assert!(pointers("How is pod-6d9f-x2?", json!({"name": "Pod-6D9F-x2"})).is_empty());
        let made = trace("Start one").call("create_pod", json!({"name": "web-7f"}), json!({}));
        assert_eq!(found(&ArgsUngrounded, &made), []);
        let waits = trace("Heat it").call("wait", json!({"seconds": 45}), json!({}));
        assert_eq!(found(&ArgsUngrounded, &waits), []);
    }

    #[test]
    fn a_part_of_a_result_is_given() {
        let trace = trace("Refund half of order 771")
            .call("get_order", json!({"order": 771}), json!({"total": 85.0}))
            .call("refund", json!({"amount": 42.5}), json!({}))
            .call("refund", json!({"amount": 43.5}), json!({}));
        let faults = found(&ArgsUngrounded, &trace);
        assert_eq!(faults.iter().map(|fault| fault.call).collect::<Vec<_>>(), [Some(2)]);
    }
}
