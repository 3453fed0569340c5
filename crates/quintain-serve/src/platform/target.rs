//! Opens an MCP server to list what it offers, under the policy of the principal.

use std::sync::Arc;
use std::time::Duration;

use quintain_engine::jobs::{RequestNotice, load_suite};
use quintain_engine::{OpenError, Sessions, World};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::surface::Surface;
use quintain_suite::suite::{Needed, Purpose, SuiteFile};
use serde_json::json;

use super::generator::Generator;
use super::{Platform, runs};
use crate::error::{ErrorCode, ToolError};
use crate::principal::Principal;

impl Platform {
    /// The servers of a generator, and the environment to reach them in.
    pub async fn opened_target(
        &self,
        principal: &Principal,
        generator: &Generator,
    ) -> Result<(McpTarget, World), ToolError> {
        if !generator.is_mcp() {
            let what = format!("`{}` is not an MCP server", generator.name);
            return Err(ToolError::new(ErrorCode::UnsupportedCapability, what));
        }
        let mut jobs = self.jobs.under(Arc::new(self.policy_of_attack(principal, &[generator])));
        jobs.world.redactor = self.redactor(&principal.owner, &[generator]).await?;
        let suite = json!({"targets": [generator.target()]});
        let file = SuiteFile {
            name: "quintain.json".to_owned(),
            text: suite.to_string().into(),
            base_dir: self.allowances.workspace.clone(),
        };
        let mut notices = Vec::new();
        let mut notify = |notice: RequestNotice<'_>| notices.push(runs::told(&notice));
        let world = jobs.world.clone();
        let purpose = Purpose::Read(Needed::Target(None));
        let opened = load_suite(
            vec![file],
            &world.env,
            jobs.files.clone(),
            purpose,
            &world.redactor,
            &mut notify,
        );
        let target = opened.and_then(|opened| opened.suite.targets.first()?.as_mcp().cloned());
        let target = target
            .ok_or_else(|| ToolError::new(ErrorCode::InvalidConfiguration, notices.join("\n")))?;
        Ok((target, world))
    }

    /// What the servers of a generator offer, with problems of their lists.
    pub async fn surfaces(
        &self,
        principal: &Principal,
        generator: &Generator,
        limit: Duration,
    ) -> Result<Vec<(String, Surface, Vec<String>)>, ToolError> {
        let (target, world) = self.opened_target(principal, generator).await?;
        let listed = async {
            let sessions = Sessions::open(&target, &world).await.map_err(|error| failed(&error))?;
            let surfaces = sessions.survey().await;
            sessions.close().await;
            Ok(surfaces)
        };
        if let Ok(listed) = tokio::time::timeout(limit, listed).await {
            listed
        } else {
            let what = format!("the target did not answer within {} s", limit.as_secs());
            Err(ToolError::new(ErrorCode::Timeout, what))
        }
    }
}

/// Why a target could not be opened.
fn failed(error: &OpenError) -> ToolError {
    let what = error.to_string();
    let code = if what.contains("policy of this run") {
        ErrorCode::NotAllowed
    } else if what.contains("401") || what.contains("403") || what.contains("login") {
        ErrorCode::TargetAuth
    } else {
        ErrorCode::TargetUnreachable
    };
    ToolError::new(code, what)
}
