//! Models cannot be asked yet.

use quintain_suite::suite::{ModelKind, ModelTarget, Target};
use serde_json::Value;

use super::{Ask, Asked, Open, Opening, Sender, Told};
use crate::external_services::ExternalServices;

impl Sender for ModelKind {
    type Settings = ModelTarget;

    async fn open(&self, asked: &Asked<'_, ModelTarget>, _: &Opening<'_>) -> Result<Open, String> {
        Err(unavailable(asked.target))
    }

    async fn ask(&self, asked: &Asked<'_, ModelTarget>, _: &Ask<'_>, _: &ExternalServices) -> Told {
        Told::refused("ask", Value::Null, unavailable(asked.target))
    }
}

fn unavailable(target: &Target) -> String {
    let id = &target.id;
    format!(
        "the target `{id}` cannot be used: models are not supported yet. An MCP server can be \
         tested without one: write the tool calls as prompts"
    )
}
