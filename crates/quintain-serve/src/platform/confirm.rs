//! Asks before an attack on a target and before data is destroyed. Hosts that cannot ask their user get a tool error that
//! `confirm: true` answers; off loopback, the owner of the server must have listed the target, too.

use quintain_engine::store::EntityKind;
use quintain_wire::destination::Destinations;
use serde_json::json;
use url::Url;

use super::Platform;
use super::generator::Generator;
use crate::error::{ErrorCode, ToolError};
use crate::host::{Decision, Host, Question};
use crate::principal::Principal;

/// Set in the body of a generator whose attack was confirmed.
const CONFIRMED: &str = "attack_confirmed";

impl Platform {
    /// Asks before the first attack on a target, and before every one that is not on this machine or may destroy data.
    pub async fn confirm_attack(
        &self,
        principal: &Principal,
        host: &dyn Host,
        generator: &Generator,
        is_confirmed: bool,
        destroys: bool,
    ) -> Result<(), ToolError> {
        if generator.is_offline() {
            return Ok(());
        }
        let is_local = generator.is_local();
        if is_local && !destroys && generator.body[CONFIRMED] == true {
            return Ok(());
        }
        if is_confirmed {
            if !is_local && !self.is_listed(generator) {
                let what = format!("{} is not on this machine", generator.place());
                let error = ToolError::new(ErrorCode::ConfirmationRequired, what);
                return Err(error.with_hint(
                    "the owner of this server must add it to `serve.allowTargets`; `confirm: true` alone is not enough",
                ));
            }
        } else {
            let destroys = if destroys { " The attack may destroy data." } else { "" };
            let message = format!(
                "Attack {}? Do this only if you have permission to attack it.{destroys}",
                generator.place()
            );
            ask(host, message).await?;
        }
        let entity = self.entity(principal, EntityKind::Generator, &generator.id).await?;
        if entity.body[CONFIRMED] != true {
            let mut body = entity.body.clone();
            body[CONFIRMED] = json!(true);
            // It may have changed meanwhile, and then it is asked again.
            let kind = EntityKind::Generator;
            let _ = self.change_entity(principal, kind, &entity, &entity.name, &body).await;
        }
        Ok(())
    }

    /// Whether the owner of the server listed the target.
    fn is_listed(&self, generator: &Generator) -> bool {
        let Some(url) = generator.url().and_then(|url| Url::parse(&url).ok()) else { return false };
        Destinations::only(&self.allowances.allow_targets).check(&url).is_ok()
    }
}

/// Asks before something stored is deleted.
pub async fn confirm_deletion(
    host: &dyn Host,
    what: &str,
    is_confirmed: bool,
) -> Result<(), ToolError> {
    if is_confirmed {
        return Ok(());
    }
    ask(host, format!("Delete {what}? This cannot be undone.")).await
}

async fn ask(host: &dyn Host, message: String) -> Result<(), ToolError> {
    match host.elicit(Question { message: message.clone() }).await {
        Some(Decision::Accepted) => Ok(()),
        Some(Decision::Declined) => Err(ToolError::new(ErrorCode::Cancelled, "the user declined")),
        None => Err(ToolError::new(ErrorCode::ConfirmationRequired, message)
            .with_hint("repeat the call with `confirm: true` if the user agrees")),
    }
}
