//! MCP servers. They are opened once for a run and take steps, not text.

use quintain_evidence::connection::McpTarget;
use quintain_suite::suite::McpKind;
use serde_json::Value;

use super::{Ask, Asked, Open, Opening, Sender, Told};
use crate::external_services::ExternalServices;
use crate::sessions::Sessions;

impl Sender for McpKind {
    type Settings = McpTarget;

    async fn open(
        &self,
        target: &Asked<'_, McpTarget>,
        opening: &Opening<'_>,
    ) -> Result<Open, String> {
        let sessions = Sessions::open(target.settings, opening.world).await;
        let sessions = sessions.map_err(|error| error.to_string())?;
        let surfaces = sessions.surfaces(opening.wants_survey).await;
        Ok(Open::Sessions(sessions, surfaces))
    }

    async fn ask(&self, _: &Asked<'_, McpTarget>, _: &Ask<'_>, _: &ExternalServices) -> Told {
        Told::refused("ask", Value::Null, "the target takes no text")
    }
}
