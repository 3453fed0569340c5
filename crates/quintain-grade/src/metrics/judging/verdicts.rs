//! Verdicts on the items of a list, and the share of good ones.

use quintain_judge::ballot::VoteTally;
use quintain_judge::panel::{self, Panel};
use serde_json::{Map, Value, json};

use super::scorer::Stop;
use crate::metrics::Scored;

/// Words of verdicts, from the worst to the best, and how many of the best ones are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::metrics) struct Words {
    pub(in crate::metrics) all: &'static [&'static str],
    good: usize,
}

/// "yes" is good.
pub(in crate::metrics) const YES_IS_GOOD: Words = Words { all: &["no", "yes"], good: 1 };
/// "yes" is bad.
pub(in crate::metrics) const NO_IS_GOOD: Words = Words { all: &["yes", "no"], good: 1 };
/// Only a clear "yes" is good.
pub(in crate::metrics) const ONLY_YES: Words = Words { all: &["no", "borderline", "yes"], good: 1 };
/// Only a clear "no" is bad.
pub(in crate::metrics) const ALL_BUT_NO: Words =
    Words { all: &["no", "borderline", "yes"], good: 2 };

impl Words {
    /// `good` of the last ones are good.
    pub(in crate::metrics) const fn new(all: &'static [&'static str], good: usize) -> Self {
        Self { all, good }
    }

    pub(in crate::metrics) fn is_good(&self, tally: &VoteTally) -> bool {
        tally.choice + self.good >= self.all.len()
    }
}

/// Items with the verdicts on them.
pub(in crate::metrics) struct Verdicts<'v> {
    pub(in crate::metrics) words: Words,
    pub(in crate::metrics) items: &'v [String],
    pub(in crate::metrics) tallies: &'v [VoteTally],
}

impl Verdicts<'_> {
    /// The share of good verdicts; none without any.
    pub(in crate::metrics) fn share(&self) -> Option<f64> {
        let good = self.tallies.iter().filter(|tally| self.words.is_good(tally)).count();
        (!self.tallies.is_empty()).then(|| good as f64 / self.tallies.len() as f64)
    }

    /// A score with the reasons of the bad verdicts. `are_good` completes "3 of 4 ...".
    pub(in crate::metrics) fn scored(
        &self,
        panel: Panel,
        value: f64,
        are_good: &str,
    ) -> Result<Scored, Stop> {
        self.decided(panel)?;
        let good = self.tallies.iter().filter(|tally| self.words.is_good(tally)).count();
        let mut reason = format!("{good} of {} {are_good}", self.tallies.len());
        let bad = self.tallies.iter().filter(|tally| !self.words.is_good(tally));
        let whys: Vec<&str> = bad.map(VoteTally::reason).filter(|why| !why.is_empty()).collect();
        for (index, why) in whys.iter().take(REASONS).enumerate() {
            reason.push_str(if index == 0 { ": " } else { "; " });
            reason.push_str(why.trim_end_matches('.'));
        }
        if whys.len() > REASONS {
            reason.push_str("; ...");
        }
        Ok(Scored::new(value, reason).with("verdicts", self.listed()).judged())
    }

    /// For reports.
    pub(in crate::metrics) fn listed(&self) -> Value {
        let name = |choice: usize| self.words.all.get(choice).copied().unwrap_or_default();
        let of = |(index, tally): (usize, &VoteTally)| {
            let mut entry = json!({
                "item": self.items.get(index),
                "verdict": name(tally.choice),
                "reason": tally.reason(),
            });
            let votes = panel::details(tally, name);
            if let (Some(entry), Some(votes), true) =
                (entry.as_object_mut(), votes.as_object(), tally.votes.len() > 1)
            {
                entry.extend(votes.clone());
            }
            entry
        };
        self.tallies.iter().enumerate().map(of).collect()
    }

    /// Stops if the opinions on an item agree too little.
    pub(in crate::metrics) fn decided(&self, panel: Panel) -> Result<(), Stop> {
        let open = self.tallies.iter().filter(|tally| panel.abstains(tally)).count();
        if open == 0 {
            return Ok(());
        }
        let all = self.tallies.len();
        let reason = format!("the opinions on {open} of {all} items differ too much");
        let details = Map::from_iter([("verdicts".to_owned(), self.listed())]);
        Err(Stop::Abstained { reason, details })
    }
}

/// Reasons that are quoted.
const REASONS: usize = 5;
