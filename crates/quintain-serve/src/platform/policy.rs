//! What the runs of a principal may use. An operator owns the machine; what everybody else sends is data.

use quintain_engine::{Access, Policy};
use quintain_evidence::code::Language;
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

    /// What the runs of a principal may use; the engine checks it at every access.
    pub fn policy(&self, principal: &Principal) -> Policy {
        let settings = &self.allowances;
        if !principal.operator {
            // No file, variable, program, interpreter or login; no listener, since that needs a free port of loopback.
            let addresses = Access::Only(settings.allow_targets.clone());
            return Policy { addresses, ..Policy::nothing() };
        }
        let everything = settings.allow_commands.is_everything();
        Policy {
            files: if everything {
                Access::Everything
            } else {
                Access::Only(vec![settings.workspace.clone()])
            },
            commands: settings.allow_commands.clone(),
            interpreters: if everything {
                Access::Everything
            } else {
                Access::Only(vec![Language::JavaScript])
            },
            ..Policy::everything()
        }
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
        let Some(url) = generator.url() else { return Ok(()) };
        let Ok(url) = Url::parse(&url) else {
            let what = format!("`{url}` is not a valid URL");
            return Err(ToolError::new(ErrorCode::InvalidConfiguration, what));
        };
        if !matches!(url.scheme(), "http" | "https") {
            let what = format!("expected an `http` or `https` URL, not `{}`", url.scheme());
            return Err(ToolError::new(ErrorCode::InvalidConfiguration, what));
        }
        match self.policy(principal).destinations().check(&url) {
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
