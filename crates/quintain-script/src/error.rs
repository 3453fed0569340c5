//! Errors of scripts.

use std::time::Duration;

use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// Lines and columns start at 1 and refer to the user's text.
    #[error("{message} (line {line}, column {column})")]
    Syntax { message: String, line: u32, column: u32 },
    /// `name` is the class of the error, empty if the thrown value is not an error.
    #[error("the script threw {}{message}", prefix(name))]
    Thrown { name: String, message: String, stack: String },
    #[error("the script was still running after {after:?}")]
    TimedOut { after: Duration },
    #[error("the script needs more than {} of memory", size(*limit))]
    OutOfMemory { limit: usize },
    #[error("{}", no_function(file, function.as_deref(), exports))]
    NoFunction { file: String, function: Option<String>, exports: Vec<String> },
    #[error("{what} is not available to scripts")]
    Unavailable { what: String },
    #[error("the script returned a promise that never settles")]
    NeverSettles,
    #[error("the argument `{name}` cannot be passed to the script: {why}")]
    Argument { name: String, why: String },
    #[error("the script returned a value that is not JSON data: {why}")]
    Result { why: String },
    /// The engine itself could not start or failed.
    #[error("the script engine failed: {why}")]
    Engine { why: String },
}

fn prefix(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name}: ") }
}

fn size(bytes: usize) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

fn no_function(file: &str, function: Option<&str>, exports: &[String]) -> String {
    let missing = match function {
        Some(name) => format!("{file} exports no function `{name}`"),
        None => format!("{file} has no default export that is a function"),
    };
    match exports {
        [] => missing,
        names => format!("{missing}; it exports {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_well_behind_the_word_error() {
        let thrown = |name: &str| ScriptError::Thrown {
            name: name.to_owned(),
            message: "no".to_owned(),
            stack: String::new(),
        };
        assert_eq!(thrown("TypeError").to_string(), "the script threw TypeError: no");
        assert_eq!(thrown("").to_string(), "the script threw no");
        let limit = ScriptError::OutOfMemory { limit: 128 << 20 };
        assert_eq!(limit.to_string(), "the script needs more than 128 MiB of memory");
        let none = ScriptError::NoFunction {
            file: "a.js".to_owned(),
            function: Some("f".to_owned()),
            exports: vec!["g".to_owned(), "h".to_owned()],
        };
        assert_eq!(none.to_string(), "a.js exports no function `f`; it exports g, h");
    }
}
