//! What a model answered, as a response of a target and as an answer to a question.

use quintain_evidence::model_reply::ModelReply;
use quintain_evidence::response::Response;
use quintain_llm::{Completion, JsonAnswer, RawExchange, Usage};
use serde_json::{Map, Value, json};

/// A completion as the response of a target, with promptfoo's names.
pub(crate) fn response_of(completion: Completion) -> Response {
    let Completion {
        output,
        usage,
        cost,
        finish_reason,
        refusal,
        logprobs,
        model,
        raw,
        cached,
        ..
    } = completion;
    let mut metadata = Map::new();
    if let Some(model) = model {
        metadata.insert("model".to_owned(), model.into());
    }
    let guardrails = refusal.is_some().then(|| json!({"flagged": true}));
    if let Some(words) = refusal {
        metadata.insert("refusal".to_owned(), words.into());
    }
    Response {
        output: output.to_value(),
        raw: Some(raw.response),
        metadata,
        cached,
        token_usage: usage_of(usage),
        cost,
        finish_reason,
        guardrails,
        log_probs: logprobs.map(|values| json!(values)),
        ..Response::default()
    }
}

/// A completion as the answer to a question.
pub(crate) fn reply_of(completion: Completion) -> ModelReply {
    ModelReply {
        output: completion.output.to_value(),
        refusal: completion.refusal,
        model: completion.model,
        finish_reason: completion.finish_reason,
        token_usage: usage_of(completion.usage),
        cost: completion.cost,
        log_probs: completion.logprobs,
        cached: completion.cached,
        attempts: completion.attempts,
        exchange: exchange_of(completion.raw),
    }
}

/// A structured answer. Tokens and cost are those of all attempts to get one.
pub(crate) fn json_reply(answer: JsonAnswer) -> ModelReply {
    let JsonAnswer { value, mut completions } = answer;
    let Some(last) = completions.pop() else {
        return ModelReply { output: value, ..ModelReply::default() };
    };
    let mut reply = ModelReply { output: value, ..reply_of(last) };
    for completion in completions {
        let earlier = reply_of(completion);
        reply.attempts += earlier.attempts;
        reply.cost = sum(reply.cost, earlier.cost);
        reply.token_usage = added(reply.token_usage, earlier.token_usage);
    }
    reply
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

fn added(one: Option<Value>, other: Option<Value>) -> Option<Value> {
    let (Some(Value::Object(mut counts)), Some(Value::Object(more))) = (one.clone(), other.clone())
    else {
        return one.or(other);
    };
    for (name, count) in more {
        let known = counts.get(&name).and_then(Value::as_u64).unwrap_or_default();
        counts.insert(name, known.saturating_add(count.as_u64().unwrap_or_default()).into());
    }
    Some(Value::Object(counts))
}

/// What was sent and received, as evidence.
pub(crate) fn exchange_of(raw: RawExchange) -> Value {
    json!({"request": raw.request, "response": raw.response})
}

/// Tokens under promptfoo's names; none if the endpoint reports none.
pub(crate) fn usage_of(usage: Usage) -> Option<Value> {
    let counts = [
        ("prompt", usage.prompt),
        ("completion", usage.completion),
        ("total", usage.total),
        ("cached", usage.cached),
        ("reasoning", usage.reasoning),
    ];
    let known: Map<String, Value> = counts
        .into_iter()
        .filter_map(|(name, count)| Some((name.to_owned(), count?.into())))
        .collect();
    (!known.is_empty()).then_some(Value::Object(known))
}
