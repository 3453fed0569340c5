//! Tools and a resource for tests of the protocol: they do nothing but answer, ask, wait and fail. A hidden flag of the
//! binary serves them in addition to the real ones.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::host::{Decision, Progress, Question, SamplingRequest};
use crate::platform::Platform;
use crate::principal::{Access, Group, Principal, Scope};
use crate::resource::{Contents, Listed, ResourceKind, ResourceMeta};
use crate::tool::{Call, ErrorCode, Hints, Reply, Tool, ToolError, ToolMeta};

type Answer<'a> = BoxFuture<'a, Result<Reply, ToolError>>;

struct Fixture {
    meta: &'static ToolMeta,
    properties: fn() -> Value,
    required: &'static [&'static str],
    run: for<'a> fn(Call<'a>) -> Answer<'a>,
}

impl Tool for Fixture {
    fn meta(&self) -> &'static ToolMeta {
        self.meta
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": (self.properties)(),
            "required": self.required,
            "additionalProperties": false,
        })
    }

    fn output_schema(&self) -> Value {
        json!({"type": "object", "properties": {"answer": {}}, "required": ["answer"]})
    }

    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, ToolError>> {
        (self.run)(call)
    }
}

const READS: Hints =
    Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
const WRITES: Hints =
    Hints { read_only: false, destructive: false, idempotent: false, open_world: false };

const fn meta(name: &'static str, access: Access, hints: Hints, is_long: bool) -> ToolMeta {
    ToolMeta {
        name,
        title: "Test fixture",
        description: "For tests of the protocol only.",
        core: true,
        scope: Scope::new(Group::Texts, access),
        hints,
        argument_aliases: &[("message", "text")],
        is_long,
    }
}

static ECHO: ToolMeta = meta("fixture_echo", Access::Read, READS, false);
static SLOW: ToolMeta = meta("fixture_slow", Access::Write, WRITES, true);
static CONFIRM: ToolMeta = meta("fixture_confirm", Access::Write, WRITES, false);
static SAMPLE: ToolMeta = meta("fixture_sample", Access::Read, READS, false);
static FAIL: ToolMeta = meta("fixture_fail", Access::Read, READS, false);

fn reply(answer: Value) -> Reply {
    let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
    Reply::new(json!({"answer": answer}), text)
}

fn echo(call: Call<'_>) -> Answer<'_> {
    Box::pin(async move {
        let text = call.arguments.get("text").cloned().unwrap_or_default();
        let link = "quintain://fixtures/greeting".to_owned();
        let mut echoed = reply(text);
        echoed.structured["owner"] = json!(call.principal.owner);
        Ok(echoed.with_link(link, "greeting", "text/plain"))
    })
}

fn slow(call: Call<'_>) -> Answer<'_> {
    Box::pin(async move {
        let seconds = call.arguments.get("seconds").and_then(Value::as_f64).unwrap_or(1.0);
        let work = tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 600.0)));
        let progress = Progress { done: 1.0, total: Some(2.0), message: "half".to_owned() };
        call.host.progress(progress).await;
        tokio::select! {
            () = work => {
                call.host.resource_updated("quintain://fixtures/greeting".to_owned()).await;
                Ok(reply(json!("done")))
            }
            () = call.host.cancelled() => Err(ToolError::new(ErrorCode::Cancelled, "stopped")),
        }
    })
}

fn confirm(call: Call<'_>) -> Answer<'_> {
    Box::pin(async move {
        let question = Question { message: "Continue?".to_owned() };
        match call.host.elicit(question).await {
            Some(Decision::Accepted) => Ok(reply(json!("accepted"))),
            Some(Decision::Declined) => Ok(reply(json!("declined"))),
            None => Err(ToolError::new(ErrorCode::ConfirmationRequired, "nobody can be asked")
                .with_hint("pass confirm: true")),
        }
    })
}

fn sample(call: Call<'_>) -> Answer<'_> {
    Box::pin(async move {
        let content = json!({"type": "text", "text": "say something"});
        let request = SamplingRequest {
            messages: json!([{"role": "user", "content": content}]),
            system_prompt: None,
            max_tokens: 50,
            temperature: None,
        };
        match call.host.sample(request).await {
            Some(Ok(answer)) => Ok(reply(answer)),
            Some(Err(why)) => Err(ToolError::new(ErrorCode::TargetUnreachable, why)),
            None => {
                Err(ToolError::new(ErrorCode::UnsupportedCapability, "the client has no model"))
            }
        }
    })
}

fn fail(_: Call<'_>) -> Answer<'_> {
    Box::pin(async {
        Err(ToolError::new(ErrorCode::NotFound, "no such thing").with_hint("list the things first"))
    })
}

static TOOLS: [Fixture; 5] = [
    Fixture {
        meta: &ECHO,
        properties: || json!({"text": {"type": "string", "maxLength": 100_000}, "level": {"type": "string", "enum": ["a", "b"]}}),
        required: &["text"],
        run: echo,
    },
    Fixture {
        meta: &SLOW,
        properties: || json!({"seconds": {"type": "number", "minimum": 0, "maximum": 600}}),
        required: &[],
        run: slow,
    },
    Fixture { meta: &CONFIRM, properties: || json!({}), required: &[], run: confirm },
    Fixture { meta: &SAMPLE, properties: || json!({}), required: &[], run: sample },
    Fixture { meta: &FAIL, properties: || json!({}), required: &[], run: fail },
];

/// The tools.
pub fn tools() -> impl Iterator<Item = &'static dyn Tool> {
    TOOLS.iter().map(|fixture| fixture as &'static dyn Tool)
}

struct Greeting;

static GREETING: ResourceMeta = ResourceMeta {
    name: "fixture",
    title: "Test fixture",
    description: "For tests of the protocol only.",
    templates: &["fixtures/{name}"],
    mime_type: "text/plain",
    scope: Scope::new(Group::Texts, Access::Read),
    is_cached: true,
};

impl ResourceKind for Greeting {
    fn meta(&self) -> &'static ResourceMeta {
        &GREETING
    }

    fn list<'a>(
        &'a self,
        _: &'a Platform,
        _: &'a Principal,
    ) -> BoxFuture<'a, Result<Vec<Listed>, ToolError>> {
        let greeting = Listed {
            path: "fixtures/greeting".to_owned(),
            name: "greeting".to_owned(),
            description: "Hello".to_owned(),
            size: Some(5),
        };
        Box::pin(std::future::ready(Ok(vec![greeting])))
    }

    fn read<'a>(
        &'a self,
        _: &'a Platform,
        _: &'a Principal,
        path: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Option<Contents>, ToolError>> {
        let is_known = path == ["fixtures", "greeting"];
        let contents = is_known.then(|| Contents {
            mime_type: "text/plain".to_owned(),
            text: "hello".to_owned(),
            version: "1".to_owned(),
        });
        Box::pin(std::future::ready(Ok(contents)))
    }
}

/// The resource.
pub fn resources() -> impl Iterator<Item = &'static dyn ResourceKind> {
    std::iter::once(&Greeting as &'static dyn ResourceKind)
}
