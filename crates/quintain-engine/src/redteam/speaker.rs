//! What a run asks besides its MCP sessions: a target that takes text, and the models that judge or write messages.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use quintain_evidence::redteam_report::NotRun;

use super::RedteamRun;
use super::outage::Outage;
use super::text::TextSender;
use crate::external_services::ExternalServices;
use crate::inquiry::{AnswerSources, AskMode};
use crate::role_models::RoleModels;

/// A target that takes text, and who answers questions of attacks and strategies.
pub(super) struct Speaker<'a> {
    /// None for MCP servers.
    pub(super) sender: Option<TextSender<'a>>,
    /// None without the consent of the user.
    pub(super) answer_sources: Option<AnswerSources<'a>>,
    notes: Mutex<BTreeSet<(String, String)>>,
    pub(super) outage: Outage,
}

impl<'a> Speaker<'a> {
    pub(super) fn of(redteam_run: &RedteamRun<'a>) -> Self {
        let text_target = redteam_run.target.as_text();
        Self {
            sender: text_target.map(|target| TextSender::of(target, redteam_run.orders)),
            answer_sources: answer_sources(redteam_run),
            notes: Mutex::default(),
            outage: Outage::default(),
        }
    }

    /// A target that takes text, and everything to ask it with.
    pub(super) fn text(&self) -> Option<(&TextSender<'a>, &AnswerSources<'a>)> {
        Some((self.sender.as_ref()?, self.answer_sources.as_ref()?))
    }

    /// Notes something for the report, once.
    pub(super) fn note(&self, what: String, why: String) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert((what, why));
    }

    /// What could not run, or not as ordered.
    pub(super) fn not_run(&self) -> Vec<NotRun> {
        let mut not_run: Vec<NotRun> =
            self.sender.iter().flat_map(|sender| sender.not_run.clone()).collect();
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        not_run.extend(notes.iter().cloned().map(|(what, why)| NotRun { what, why }));
        not_run
    }

    pub(super) async fn close(&self) {
        if let Some(answer_sources) = &self.answer_sources {
            answer_sources.close().await;
        }
    }
}

/// Who answers questions of attacks and strategies; none without the consent of the user.
pub(super) fn answer_sources<'a>(redteam_run: &RedteamRun<'a>) -> Option<AnswerSources<'a>> {
    let (world, consent) = (redteam_run.world, redteam_run.consent?);
    let suite = redteam_run.target.as_text().map(|text| text.suite);
    let env = suite.map_or(&*world.env, |suite| &suite.env);
    let targets = suite.map_or(&[][..], |suite| &suite.targets);
    let outside = ExternalServices::new(consent, env.clone(), world);
    let concurrency = redteam_run.orders.concurrency;
    let models = RoleModels::new(targets, env, redteam_run.models.clone(), world, consent);
    let sources = AnswerSources::new(outside, AskMode::Missing, concurrency);
    let recorded = redteam_run.models.recorded().ok().flatten();
    Some(sources.with_model(Arc::new(models)).with_recorded(recorded))
}
