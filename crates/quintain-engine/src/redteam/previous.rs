//! An interrupted run: its knowledge and finished trials, so that a resumed run does not repeat them.

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
use crate::masked::Emitted;
use crate::store::{Run, Store, StoreError};

/// The knowledge of a run, with the canary folder and the mark that it contains.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredKnowledge {
    #[serde(alias = "ground")]
    pub canary_folder: Option<PathBuf>,
    /// The mark of what was planted in the target's folders.
    #[serde(default)]
    pub mark: Option<String>,
    pub knowledge: Knowledge,
    /// Calls that a model proposed.
    #[serde(default)]
    pub proposed: Vec<ToolCall>,
}

impl StoredKnowledge {
    /// Replaces the old canary folder and mark, which are gone, by those of the new run.
    pub(super) fn on(self, planted: &PlantedFiles) -> Knowledge {
        let Ok(mut text) = serde_json::to_string(&self.knowledge) else { return self.knowledge };
        if let Some(old) = &self.canary_folder {
            let new = planted.canaries.root.display().to_string();
            text = text.replace(&old.display().to_string(), &new);
        }
        if let Some(old) = &self.mark {
            text = text.replace(old, planted.mark().as_str());
        }
        serde_json::from_str(&text).unwrap_or(self.knowledge)
    }
}

/// A stored run to resume.
pub struct PreviousTrials {
    store: Store,
    run: Run,
    pub(super) stored_knowledge: Option<StoredKnowledge>,
    pub(super) trials: Vec<TrialRecord>,
}

impl PreviousTrials {
    /// Reads the knowledge and trials of a stored run.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn read(store: Store, run: Run) -> Result<Self, StoreError> {
        let stored_knowledge = store.knowledge(&run).await?;
        let trials = store.trials(&run).await?;
        Ok(Self { store, run, stored_knowledge, trials })
    }

    pub(super) fn done(&self) -> HashSet<TrialKey> {
        self.trials.iter().map(|trial| trial.key.clone()).collect()
    }

    /// Emits the stored rows as events. Returns the number of rows.
    pub(super) async fn replay_cases(
        &self,
        tally: &mut Tally,
        listen: &mut dyn FnMut(Emitted),
    ) -> Result<usize, StoreError> {
        let mut cases = self.store.cases(&self.run);
        let mut count = 0;
        while let Some(case) = cases.try_next().await? {
            count = count.max(case.ordinal + 1);
            tally.add(&case);
            listen(Event::Case(Arc::new(case)).into());
        }
        Ok(count)
    }
}
