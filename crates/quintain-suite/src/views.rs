//! The data of a response for assertions, with the places it comes from.

use std::borrow::Cow;

use quintain_content::json_text;
use quintain_evidence::evidence::Exchange;
use quintain_evidence::surface::Tool;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::Scene;

/// A piece of data, and its place in the last outcome if that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Part<'a> {
    pub value: Cow<'a, Value>,
    /// JSON pointer into the outcome.
    pub pointer: Option<String>,
    /// The data is JSON inside a text, so that pointers end at the text.
    pub inside_text: bool,
}

impl Part<'_> {
    /// Adds a place in this data as a proof.
    pub fn prove(&self, scene: &Scene<'_>, pointer: &str, verdict: Verdict) -> Verdict {
        let Some(last) = scene.evidence.exchanges.len().checked_sub(1) else { return verdict };
        match &self.pointer {
            Some(base) if self.inside_text => verdict.proof(last, base.as_str()),
            Some(base) => verdict.proof(last, format!("{base}{pointer}")),
            None => verdict.proof(last, ""),
        }
    }
}

/// The data of a response: first the output as JSON, then every text block that is JSON, in order.
pub fn parts<'a>(scene: &Scene<'a>) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let output = match scene.output {
        Value::String(text) => json_text::parse(text).ok().map(Cow::Owned),
        other => Some(Cow::Borrowed(other)),
    };
    if let Some(value) = output {
        let pointer = origin(scene, &value).map(str::to_owned);
        parts.push(Part { value, pointer, inside_text: false });
    }
    let blocks = blocks(scene).into_owned();
    for (index, block) in blocks.iter().enumerate() {
        let text = block.get("text").and_then(Value::as_str);
        if let Some(value) = text.and_then(|text| json_text::parse(text).ok()) {
            let pointer = result(scene).is_some().then(|| format!("/content/{index}/text"));
            parts.push(Part { value: Cow::Owned(value), pointer, inside_text: true });
        }
    }
    parts
}

/// The place of the output in the outcome, if no transform changed it.
fn origin(scene: &Scene<'_>, value: &Value) -> Option<&'static str> {
    let result = result(scene)?;
    ["/content", "/structuredContent", ""]
        .into_iter()
        .find(|pointer| result.pointer(pointer) == Some(value))
}

/// The last exchange of the case and its index.
///
/// # Errors
/// If nothing was sent, an error verdict with the reason.
pub fn last<'a>(scene: &Scene<'a>) -> Result<(usize, &'a Exchange), Box<Verdict>> {
    let exchanges = &scene.evidence.exchanges;
    exchanges.iter().enumerate().next_back().ok_or_else(|| {
        let why = scene.response.error.as_deref().unwrap_or("nothing was sent to the target");
        Box::new(Verdict::error(why))
    })
}

/// The result of the last exchange.
pub fn result<'a>(scene: &Scene<'a>) -> Option<&'a Value> {
    scene.evidence.last()?.outcome.result()
}

/// The content blocks of the response, or of a recorded output if nothing was sent.
pub fn blocks<'a>(scene: &Scene<'a>) -> Cow<'a, [Value]> {
    if let Some(content) = result(scene).and_then(|result| result.get("content")) {
        return Cow::Borrowed(content.as_array().map(Vec::as_slice).unwrap_or_default());
    }
    let looks_like_blocks = |items: &[Value]| {
        !items.is_empty() && items.iter().all(|item| item.get("type").is_some_and(Value::is_string))
    };
    match scene.output {
        Value::Array(items) if looks_like_blocks(items) => Cow::Borrowed(items),
        Value::String(text) => match json_text::parse(text) {
            Ok(Value::Array(items)) if looks_like_blocks(&items) => Cow::Owned(items),
            _ => Cow::Borrowed(&[]),
        },
        _ => Cow::Borrowed(&[]),
    }
}

/// The tool that an exchange called, as its server lists it.
pub fn called<'a>(
    scene: &Scene<'a>,
    exchange: &'a Exchange,
) -> Option<(&'a str, Option<&'a Tool>)> {
    if exchange.method != "tools/call" {
        return None;
    }
    let name = exchange.sent.get("name")?.as_str()?;
    let surface = scene.surfaces.iter().find(|(server, _)| *server == exchange.server);
    Some((name, surface.and_then(|(_, surface)| surface.tool(name))))
}
