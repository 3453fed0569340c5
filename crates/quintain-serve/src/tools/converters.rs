//! `list_converters` and `apply_converters`.

use quintain_redteam::strategies::{self, Receiver, StrategyKind};
use serde_json::{Value, json};

use super::definition::{
    Arguments, READ, flag, number, object, page_of, paged, reading, shape, tools,
};
use crate::platform::converters;
use crate::principal::Group;
use crate::tool::{Call, Reply, ToolError};

tools! {
    ListConverters = {
        name: "list_converters",
        title: "List converters",
        description: "Lists the converters that rewrite text: encodings, ciphers, Unicode tricks, frames.",
        core: false,
        scope: reading(Group::Texts),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(paged(json!({
        "deterministic_only": flag("Only converters whose result does not depend on the seed", false),
    })), &[]),
    output: page_of(shape(json!({
        "name": {"type": "string"},
        "description": {"type": "string"},
        "aliases": {"type": "array", "items": {"type": "string"}},
        "deterministic": {"type": "boolean"},
        "needs_llm": {"type": "boolean"},
        "params": {"type": "object"},
        "suits_models": {"type": "boolean"},
        "suits_tool_arguments": {"type": "boolean"},
        "docs": {"type": "string"},
    }), &["name", "description", "params", "deterministic", "needs_llm"])),
    call: list;

    ApplyConverters = {
        name: "apply_converters",
        title: "Apply converters",
        description: "Rewrites a text with converters, one after the other, and shows every step.",
        core: false,
        scope: reading(Group::Texts),
        hints: READ,
        argument_aliases: &[],
        is_long: false,
    }
    input: object(json!({
        "text": {"type": "string", "maxLength": 65_536, "description": "The text to rewrite"},
        "converters": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}, "description": "Names, or maps with `name` and `params`"},
        "seed": number(0, u64::from(u32::MAX), 0, "Random seed"),
    }), &["text", "converters"]),
    output: shape(json!({
        "output": {"type": "string"},
        "steps": {"type": "array", "items": shape(json!({"converter": {"type": "string"}, "output": {"type": "string"}}), &["converter", "output"])},
    }), &["output", "steps"]),
    call: apply;
}

#[expect(clippy::unused_async, reason = "all tools have one signature")]
async fn list(call: Call<'_>) -> Result<Reply, ToolError> {
    let arguments = Arguments(call.arguments);
    let sample = "The quick brown fox jumps over the lazy dog.";
    let items: Vec<Value> = strategies::all()
        .iter()
        .filter_map(|strategy| {
            let meta = strategy.meta();
            let parsed = strategies::parse(&json!(meta.id)).ok()?;
            let tactic = parsed.first()?;
            let StrategyKind::Rewrite(rewrite) = tactic.kind() else { return None };
            // Measured: a seed that changes nothing in a sentence is not used.
            let deterministic =
                (1..4).all(|seed| rewrite.texts(sample, seed) == rewrite.texts(sample, 0));
            Some(json!({
                "name": meta.id, "description": meta.summary, "aliases": meta.aliases,
                "params": strategies::options_of(*strategy), "deterministic": deterministic, "needs_llm": false,
                "suits_models": tactic.suits().includes(Receiver::Model),
                "suits_tool_arguments": tactic.suits().includes(Receiver::Arguments),
                "docs": meta.docs,
            }))
        })
        .filter(|one| !arguments.flag("deterministic_only", false) || one["deterministic"] == true)
        .collect();
    let text = format!("{} converters", items.len());
    Ok(Reply::new(arguments.page(items), text))
}

#[expect(clippy::unused_async, reason = "all tools have one signature")]
async fn apply(call: Call<'_>) -> Result<Reply, ToolError> {
    let arguments = Arguments(call.arguments);
    let tactics = converters::read(&arguments.list("converters"))?;
    let steps =
        converters::apply(arguments.required("text"), &tactics, arguments.number("seed", 0))?;
    let output = steps.last().cloned().unwrap_or_default();
    let steps: Vec<Value> = tactics
        .iter()
        .zip(&steps)
        .map(|(tactic, output)| json!({"converter": tactic.id(), "output": output}))
        .collect();
    let text = crate::platform::results::shown(&output);
    Ok(Reply::new(json!({"output": output, "steps": steps}), text))
}
