//! Turns what the engine threw into an error for the user.

use rquickjs::convert::Coerced;
use rquickjs::{CaughtError, Ctx, Error, Exception, Object, Value as Js};

use crate::clock::Clock;
use crate::source::Source;
use crate::{Limits, ScriptError};

/// Names that scripts for Node or a browser expect and that are not available.
const ELSEWHERE: &[&str] = &[
    "Buffer",
    "URL",
    "URLSearchParams",
    "TextEncoder",
    "TextDecoder",
    "fetch",
    "Headers",
    "Request",
    "Response",
    "AbortController",
    "structuredClone",
    "crypto",
    "Intl",
    "WebSocket",
    "XMLHttpRequest",
    "window",
    "document",
    "self",
    "module",
    "exports",
    "__dirname",
    "__filename",
    "Bun",
    "Deno",
    "WebAssembly",
    "SharedArrayBuffer",
    "Blob",
    "File",
    "FormData",
];
/// Maximum characters of a message or a stack.
const MAX_TEXT: usize = 16 << 10;

pub(crate) enum Failure {
    Known(ScriptError),
    /// A thrown value, already taken from the engine.
    Thrown(Thrown),
    /// The exception is still in the engine.
    Error(Error),
    /// The same, thrown during the conversion of the result.
    Conversion,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

#[derive(Default)]
pub(crate) struct Thrown {
    name: String,
    message: String,
    stack: String,
    unavailable: Option<String>,
    null: bool,
}

/// Line and column of a syntax error.
pub(crate) fn syntax_place(error: &Exception<'_>) -> Option<(u32, u32)> {
    let object = error.as_object();
    if text(object, "name")? != "SyntaxError" {
        return None;
    }
    // The first frame is the place in the text: `    at file:1:2`.
    let stack = text(object, "stack").unwrap_or_default();
    let mut numbers = stack.lines().next().unwrap_or_default().trim_end_matches(')').rsplit(':');
    let mut number = || numbers.next().and_then(|digits| digits.parse().ok()).unwrap_or(1);
    let (column, line) = (number(), number());
    Some((line, column))
}

/// Reading may run getters of the script; the time limit still applies.
fn text(object: &Object<'_>, key: &str) -> Option<String> {
    let value: Js<'_> = object.get(key).ok()?;
    if value.is_undefined() { None } else { shown(&value) }
}

fn shown(value: &Js<'_>) -> Option<String> {
    let mut text = value.get::<Coerced<String>>().ok()?.0;
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.push_str(" ...");
    }
    Some(text)
}

pub(crate) fn thrown(error: &Exception<'_>) -> Thrown {
    let object = error.as_object();
    let unavailable = (text(object, "code").as_deref() == Some("UNAVAILABLE"))
        .then(|| text(object, "what"))
        .flatten();
    Thrown {
        name: text(object, "name").unwrap_or_else(|| "Error".to_owned()),
        message: text(object, "message").unwrap_or_default(),
        stack: text(object, "stack").unwrap_or_default(),
        unavailable,
        null: false,
    }
}

pub(crate) fn other(error: CaughtError<'_>) -> Failure {
    match error {
        CaughtError::Error(error) => Failure::Error(error),
        CaughtError::Exception(error) => Failure::Thrown(thrown(&error)),
        CaughtError::Value(value) => Failure::Thrown(value_thrown(value)),
    }
}

/// Why a file did not compile, where `head` columns precede its first line.
pub(crate) fn compiling(error: CaughtError<'_>, text: &str, head: u32) -> Failure {
    let CaughtError::Exception(exception) = &error else { return other(error) };
    let Some((line, column)) = syntax_place(exception) else { return other(error) };
    let column = if line == 1 { column.saturating_sub(head).max(1) } else { column };
    let message = exception.message().unwrap_or_default();
    Failure::Known(syntax(message, text, (line, column)))
}

/// Errors at the end of the text point after it, where the engine's own text begins.
pub(crate) fn syntax(message: String, text: &str, place: (u32, u32)) -> ScriptError {
    let text = text.trim_end();
    let last = text.rsplit('\n').next().unwrap_or_default();
    let end = (text.matches('\n').count() as u32 + 1, last.chars().count() as u32 + 1);
    let (line, column) = place.min(end);
    ScriptError::Syntax { message, line, column }
}

/// The thrown value is not an error.
fn value_thrown(value: Js<'_>) -> Thrown {
    let null = value.is_null();
    let message = match value.ctx().json_stringify(value.clone()) {
        Ok(Some(json)) if value.is_object() => json.to_string().ok(),
        _ => None,
    };
    let message = message.or_else(|| shown(&value)).unwrap_or_default();
    Thrown { message, null, ..Thrown::default() }
}

/// After the time limit, every error is reported as a timeout.
pub(crate) fn explain(
    ctx: &Ctx<'_>,
    failure: Failure,
    limits: &Limits,
    clock: &Clock,
    source: &Source,
) -> ScriptError {
    let error = reason(ctx, failure, limits, source);
    // Reading the reason may also have run code of the script.
    if clock.rang() {
        return ScriptError::TimedOut { after: limits.time };
    }
    error
}

fn reason(ctx: &Ctx<'_>, failure: Failure, limits: &Limits, source: &Source) -> ScriptError {
    let out_of_memory = ScriptError::OutOfMemory { limit: limits.memory };
    let (failure, converting) = match failure {
        Failure::Conversion => (Failure::Error(Error::Exception), true),
        failure => (failure, false),
    };
    let thrown = match failure {
        Failure::Known(error) => return error,
        Failure::Thrown(thrown) => thrown,
        Failure::Error(Error::Exception) => {
            match other(CaughtError::from_error(ctx, Error::Exception)) {
                Failure::Thrown(thrown) => thrown,
                _ => return out_of_memory,
            }
        }
        Failure::Error(Error::Allocation | Error::Unknown) | Failure::Conversion => {
            return out_of_memory;
        }
        Failure::Error(Error::InvalidString(_)) => {
            let message = "a NUL character in the code".to_owned();
            return ScriptError::Syntax { message, line: 1, column: 1 };
        }
        Failure::Error(error) => return ScriptError::Engine { why: error.to_string() },
    };
    // Without memory for an error object the engine throws `null`.
    let throws_null =
        || ["throw null", "reject(null"].iter().any(|word| source.text.contains(word));
    let exhausted = ["out of memory", "string too long"]
        .iter()
        .any(|reason| thrown.message.starts_with(reason));
    if thrown.name == "InternalError" && exhausted || thrown.null && !throws_null() {
        return out_of_memory;
    }
    if let Some(what) = thrown.unavailable.or_else(|| elsewhere(&thrown.name, &thrown.message)) {
        return ScriptError::Unavailable { what };
    }
    if converting {
        return ScriptError::Result { why: thrown.message };
    }
    let Thrown { name, message, stack, .. } = thrown;
    ScriptError::Thrown { name, message, stack }
}

fn elsewhere(name: &str, message: &str) -> Option<String> {
    if name != "ReferenceError" {
        return None;
    }
    if let Some(module) = message.strip_prefix("could not load module ") {
        return Some(format!("import of {module}"));
    }
    let missing = message.strip_suffix(" is not defined")?.trim_matches('\'');
    ELSEWHERE.contains(&missing).then(|| format!("`{missing}`"))
}
