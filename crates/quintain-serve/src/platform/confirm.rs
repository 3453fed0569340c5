//! Asks before a target off this machine is contacted, before an attack, and before data is destroyed. Hosts that cannot ask
//! their user get a tool error that `confirm: true` answers; off loopback, the owner of the server must have listed the
//! target, too. Over HTTP the list decides alone: nobody at the machine sees a question.

use quintain_engine::store::EntityKind;
use quintain_wire::destination::{Destinations, is_link_or_metadata};
use serde_json::{Value, json};
use url::Url;

use super::Platform;
use super::generator::Generator;
use crate::error::{ErrorCode, ToolError};
use crate::host::{Decision, Host, Question};
use crate::principal::Principal;

/// In the body of a generator: the addresses whose attack, or whose use, the user agreed to.
const ATTACK: &str = "attack_confirmed";
const CONTACT: &str = "contact_confirmed";

impl Generator {
    /// What was confirmed is forgotten when it changes.
    fn addresses(&self) -> Value {
        json!([self.command(), self.urls()])
    }

    fn is_confirmed(&self, what: &str) -> bool {
        self.body.get(what) == Some(&self.addresses())
    }

    /// Whether the user agreed that this address off loopback is contacted.
    pub fn is_contact_confirmed(&self) -> bool {
        self.is_confirmed(CONTACT)
    }
}

/// Forgets what was confirmed.
pub fn forget(body: &mut Value) {
    if let Some(body) = body.as_object_mut() {
        for key in [ATTACK, CONTACT] {
            body.remove(key);
        }
    }
}

impl Platform {
    /// Asks before the first attack on a target, and before every one that is not on this machine or may destroy data.
    pub async fn confirm_attack(
        &self,
        principal: &Principal,
        host: &dyn Host,
        generator: &mut Generator,
        is_confirmed: bool,
        destroys: bool,
    ) -> Result<(), ToolError> {
        if generator.is_offline() {
            return Ok(());
        }
        let is_local = generator.is_local();
        if is_local && !destroys && generator.is_confirmed(ATTACK) {
            return Ok(());
        }
        if is_confirmed {
            self.check_listed(generator)?;
        } else {
            let destroys = if destroys { " The attack may destroy data." } else { "" };
            let message = format!(
                "Attack {}? Do this only if you have permission to attack it.{destroys}",
                generator.place()
            );
            ask(host, message).await?;
        }
        self.remember(principal, generator, &[ATTACK, CONTACT]).await;
        self.check_contact(principal, generator)
    }

    /// Asks before the first contact with a target or model at an address off this machine that the caller chose.
    pub async fn confirm_contact(
        &self,
        principal: &Principal,
        host: &dyn Host,
        generator: &mut Generator,
    ) -> Result<(), ToolError> {
        if self.allowances.asks_its_user && principal.operator && self.needs_question(generator) {
            let message = format!("Contact {}? It is not on this machine.", generator.place());
            match host.elicit(Question { message }).await {
                Some(Decision::Accepted) => {
                    self.remember(principal, generator, &[CONTACT]).await;
                }
                Some(Decision::Declined) => {
                    return Err(ToolError::new(ErrorCode::Cancelled, "the user declined"));
                }
                None => self.check_listed(generator)?,
            }
        }
        self.check_contact(principal, generator)
    }

    fn needs_question(&self, generator: &Generator) -> bool {
        let is_known = generator.is_offline() || generator.is_local() || generator.is_at_provider();
        !is_known && !generator.is_contact_confirmed() && !self.is_listed(generator)
    }

    /// Refuses what the policy of the run would refuse, with a hint that helps.
    fn check_contact(&self, principal: &Principal, generator: &Generator) -> Result<(), ToolError> {
        let destinations = self.policy(principal, &[generator]).destinations();
        for url in generator.urls() {
            let Ok(url) = Url::parse(&url) else { continue };
            if destinations.check(&url).is_err() {
                let what = format!(
                    "the target {}:{} is not in `serve.allowTargets`",
                    url.host_str().unwrap_or_default(),
                    url.port_or_known_default().unwrap_or_default()
                );
                return Err(ToolError::new(ErrorCode::NotAllowed, what)
                    .with_hint("the owner of this server can add it"));
            }
        }
        Ok(())
    }

    async fn remember(&self, principal: &Principal, generator: &mut Generator, what: &[&str]) {
        let addresses = generator.addresses();
        if what.iter().all(|key| generator.is_confirmed(key)) {
            return;
        }
        for key in what {
            generator.body[*key] = addresses.clone();
        }
        let kind = EntityKind::Generator;
        let Ok(entity) = self.entity(principal, kind, &generator.id).await else { return };
        let mut body = entity.body.clone();
        for key in what {
            body[*key] = addresses.clone();
        }
        // It may have changed meanwhile, and then it is asked again.
        let _ = self.change_entity(principal, kind, &entity, &entity.name, &body).await;
    }

    fn check_listed(&self, generator: &Generator) -> Result<(), ToolError> {
        if generator.is_local() || self.is_listed(generator) {
            return Ok(());
        }
        let what = format!("{} is not on this machine", generator.place());
        Err(ToolError::new(ErrorCode::ConfirmationRequired, what).with_hint(
            "the owner of this server must add it to `serve.allowTargets`; `confirm: true` alone is not enough",
        ))
    }

    /// Whether the owner of the server listed the target.
    fn is_listed(&self, generator: &Generator) -> bool {
        let listed = Destinations::only(&self.allowances.allow_targets);
        let is_listed = |url: &String| Url::parse(url).is_ok_and(|url| listed.check(&url).is_ok());
        let urls = generator.urls();
        !urls.is_empty() && urls.iter().all(is_listed)
    }

    /// Whether a confirmation of the user cannot allow this address.
    pub(super) fn needs_entry(url: &Url) -> bool {
        is_link_or_metadata(url)
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
