//! What the runs of a principal may use. An operator owns the machine; what everybody else sends is data.

use quintain_engine::{Access, Policy};
use quintain_evidence::code::Language;
use quintain_wire::destination::{Destination, Destinations};
use url::Url;

use super::generator::Generator;
use super::{Platform, Quota};
use crate::error::{ErrorCode, ToolError};
use crate::principal::Principal;

impl Platform {
    /// How much a principal may use.
    pub fn quota(&self, principal: &Principal) -> Quota {
        if principal.operator { self.allowances.operator_quota } else { self.allowances.quota }
    }

    /// What the runs of a principal on these generators may use; the engine checks it at every access.
    pub fn policy(&self, principal: &Principal, generators: &[&Generator]) -> Policy {
        let settings = &self.allowances;
        let hidden = settings.hidden.clone();
        if !principal.operator {
            // No file, variable, program, interpreter or login; no listener, since that needs a free port of loopback.
            let addresses = Access::Only(settings.allow_targets.clone());
            return Policy { addresses, hidden, ..Policy::nothing() };
        }
        let everything = settings.allow_commands.is_everything();
        Policy {
            files: Access::Only(
                std::iter::once(settings.workspace.clone())
                    .chain(generators.iter().filter_map(|one| one.folder()).filter(|_| everything))
                    .collect(),
            ),
            commands: settings.allow_commands.clone(),
            interpreters: if everything {
                Access::Everything
            } else {
                Access::Only(vec![Language::JavaScript])
            },
            addresses: Access::Only(self.addresses(generators)),
            hidden,
            ..Policy::everything()
        }
    }

    /// The same for attacks, which look for what a program of an operator reads and writes.
    pub fn policy_of_attack(&self, principal: &Principal, generators: &[&Generator]) -> Policy {
        let policy = self.policy(principal, generators);
        if principal.operator && self.allowances.allow_commands.is_everything() {
            Policy { files: Access::Everything, ..policy }
        } else {
            policy
        }
    }

    /// Where the runs of an operator may go: this machine, what is listed, and what the user of a host was asked about.
    fn addresses(&self, generators: &[&Generator]) -> Vec<Destination> {
        let mut addresses = vec![Destination::loopback()];
        addresses.extend(self.allowances.allow_targets.iter().cloned());
        if !self.allowances.asks_its_user {
            return addresses;
        }
        for generator in generators {
            if generator.is_at_provider() && !generator.is_offline() {
                addresses.push(Destination::public());
            } else if generator.is_contact_confirmed() {
                let urls: Vec<Url> =
                    generator.urls().iter().filter_map(|url| Url::parse(url).ok()).collect();
                if urls.is_empty() {
                    addresses.push(Destination::public());
                }
                let confirmed = urls.iter().filter(|url| !Self::needs_entry(url));
                addresses.extend(confirmed.filter_map(Destination::of));
            }
        }
        addresses
    }

    /// Refuses a generator that a principal may not use, before anything is stored or contacted.
    pub fn check_generator(
        &self,
        principal: &Principal,
        generator: &Generator,
    ) -> Result<(), ToolError> {
        let refused = |what: String, hint: &str| {
            Err(ToolError::new(ErrorCode::NotAllowed, what).with_hint(hint))
        };
        if let Some(command) = generator.command() {
            if !principal.operator {
                return refused(
                    "only the operator of this server may start programs".to_owned(),
                    "use a `connection` with a `url`",
                );
            }
            if let Access::Only(list) = &self.allowances.allow_commands
                && !list.contains(&command)
            {
                return refused(
                    format!("the command `{command}` is not in `serve.allowCommands`"),
                    "the operator of this server can add it",
                );
            }
        }
        generator.urls().iter().try_for_each(|url| self.check_url(principal, generator, url))
    }

    fn check_url(
        &self,
        principal: &Principal,
        generator: &Generator,
        url: &str,
    ) -> Result<(), ToolError> {
        let refused = |what: String, hint: &str| {
            Err(ToolError::new(ErrorCode::NotAllowed, what).with_hint(hint))
        };
        let Ok(url) = Url::parse(url) else {
            let what = format!("`{url}` is not a valid URL");
            return Err(ToolError::new(ErrorCode::InvalidConfiguration, what));
        };
        if !matches!(url.scheme(), "http" | "https") {
            let what = format!("expected an `http` or `https` URL, not `{}`", url.scheme());
            return Err(ToolError::new(ErrorCode::InvalidConfiguration, what));
        }
        let destinations = if principal.operator {
            // Others are confirmed, or refused, before they are contacted.
            if !Self::needs_entry(&url) {
                return Ok(());
            }
            Destinations::only(&self.allowances.allow_targets)
        } else {
            self.policy(principal, &[generator]).destinations()
        };
        match destinations.check(&url) {
            Ok(()) => Ok(()),
            Err(_) => refused(
                format!(
                    "the target {}:{} is not in `serve.allowTargets`",
                    url.host_str().unwrap_or_default(),
                    url.port_or_known_default().unwrap_or_default()
                ),
                "the operator of this server can add it",
            ),
        }
    }
}
