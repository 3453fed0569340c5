//! A run that was broken off: what it learned and what it did, so that it need not be done again.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use quintain_evidence::event::Event;
use quintain_evidence::tally::Tally;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::trial_record::{TrialKey, TrialRecord};
use quintain_redteam::knowledge::Knowledge;
use serde::{Deserialize, Serialize};

use super::canary_files::PlantedFiles;
use crate::store::{Run, Store, StoreError};

/// What was learned, and where the canary ground was then.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredKnowledge {
    pub ground: Option<PathBuf>,
    /// The mark of what was planted in folders of the target.
    #[serde(default)]
    pub mark: Option<String>,
    pub knowledge: Knowledge,
    /// Calls that a model proposed.
    #[serde(default)]
    pub proposed: Vec<ToolCall>,
}

impl StoredKnowledge {
    /// What is worth trying first on another ground: the old one is gone, and new files have another mark.
    pub(super) fn on(self, planted: &PlantedFiles) -> Knowledge {
        let Ok(mut text) = serde_json::to_string(&self.knowledge) else { return self.knowledge };
        if let Some(old) = &self.ground {
            let new = planted.ground.root.display().to_string();
            text = text.replace(&old.display().to_string(), &new);
        }
        if let Some(old) = &self.mark {
            text = text.replace(old, planted.mark().as_str());
        }
        serde_json::from_str(&text).unwrap_or(self.knowledge)
    }
}

/// A stored run that is gone on with.
pub struct PreviousTrials {
    store: Store,
    run: Run,
    pub(super) stored_knowledge: Option<StoredKnowledge>,
    pub(super) bouts: Vec<TrialRecord>,
}

impl PreviousTrials {
    /// Reads what a run has left.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn read(store: Store, run: Run) -> Result<Self, StoreError> {
        let stored_knowledge = store.knowledge(&run).await?;
        let bouts = store.trials(&run).await?;
        Ok(Self { store, run, stored_knowledge, bouts })
    }

    pub(super) fn done(&self) -> HashSet<TrialKey> {
        self.bouts.iter().map(|bout| bout.key.clone()).collect()
    }

    /// Tells the rows of the run as if they came now; returns how many there are.
    pub(super) async fn tell(
        &self,
        tally: &mut Tally,
        listen: &mut dyn FnMut(Event),
    ) -> Result<usize, StoreError> {
        let mut cases = self.store.cases(&self.run);
        let mut told = 0;
        while let Some(case) = cases.try_next().await? {
            told = told.max(case.ordinal + 1);
            tally.add(&case);
            listen(Event::Case(Arc::new(case)));
        }
        Ok(told)
    }
}
