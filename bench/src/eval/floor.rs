//! The floor: a process that makes the calls of a suite and tests nothing.

use std::process::Command;

use super::suite::{Call, Target};
use crate::Failure;
use crate::wire::bare::Piped;

/// The hidden command of this process: the number of calls, and how many of them are in flight.
pub const FLOOR: &str = "--floor";

const LIST: &str = r#"{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{}}"#;

pub fn floor(arguments: &[&str]) -> Result<(), Failure> {
    let [calls, in_flight] = arguments else { return Err("wrong arguments of the floor".into()) };
    let call = |id: usize| Call::new(Target::Everything, id - 1);
    let mut piped = Piped::start(Command::new("mcp-server-everything").arg("stdio"))?;
    piped.request(LIST)?;
    piped.converse(
        calls.parse()?,
        in_flight.parse()?,
        |id| {
            let Call { tool, arguments, .. } = call(id);
            serde_json::json!({"name": tool, "arguments": arguments})
        },
        |id, result| {
            let text = result["content"][0]["text"].as_str();
            text.is_some_and(|text| text.contains(&call(id).wanted))
        },
    )?;
    Ok(piped.leave()?)
}
