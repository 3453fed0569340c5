//! Votes on ordered choices, from the worst to the best: what they decide, and how far they agree.

use serde::Serialize;

/// One opinion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Vote {
    /// The position among the choices.
    pub choice: usize,
    pub reason: String,
}

/// What votes say together.
#[derive(Debug, Clone, PartialEq)]
pub struct VoteTally {
    /// The middle one of the votes in their order; of two middle ones the worse.
    pub choice: usize,
    pub votes: Vec<Vote>,
    /// The share of votes for the most frequent choice.
    pub agreement: f64,
    /// Of the choices, in bits: 0 if all votes are equal.
    pub entropy: f64,
    /// The share of votes that differ from the one before.
    pub flip_rate: f64,
}

impl VoteTally {
    /// None without votes.
    pub fn of(votes: Vec<Vote>) -> Option<Self> {
        let mut choices: Vec<usize> = votes.iter().map(|vote| vote.choice).collect();
        let flips = choices.windows(2).filter(|pair| pair[0] != pair[1]).count();
        choices.sort_unstable();
        let choice = *choices.get(choices.len().checked_sub(1)? / 2)?;
        let all = choices.len() as f64;
        let shares =
            choices.chunk_by(|one, other| one == other).map(|same| same.len() as f64 / all);
        let (mut agreement, mut entropy) = (0.0_f64, 0.0);
        for share in shares {
            agreement = agreement.max(share);
            entropy -= share * share.log2();
        }
        let flip_rate = if votes.len() > 1 { flips as f64 / (all - 1.0) } else { 0.0 };
        // Minus zero reads badly.
        Some(Self { choice, votes, agreement, entropy: entropy.max(0.0), flip_rate })
    }

    /// The reason of the first vote for the outcome.
    pub fn reason(&self) -> &str {
        let same = self.votes.iter().find(|vote| vote.choice == self.choice);
        same.map_or("", |vote| vote.reason.as_str())
    }
}

/// Whether further votes can change the outcome. `abstain_below` is the agreement below which nothing is decided.
pub fn is_decided(
    votes: &[usize],
    samples: usize,
    choices: usize,
    abstain_below: Option<f64>,
) -> bool {
    let open = samples.saturating_sub(votes.len());
    if open == 0 {
        return true;
    }
    let median_with = |choice: usize| {
        let mut all = votes.to_vec();
        all.extend(std::iter::repeat_n(choice, open));
        all.sort_unstable();
        all.get((all.len() - 1) / 2).copied()
    };
    if median_with(0) != median_with(choices.saturating_sub(1)) {
        return false;
    }
    abstain_below.is_none_or(|bound| {
        let most = (0..choices)
            .map(|choice| votes.iter().filter(|vote| **vote == choice).count())
            .max()
            .unwrap_or_default();
        let all = samples as f64;
        most as f64 / all >= bound || ((most + open) as f64) / all < bound
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(choices: &[usize]) -> VoteTally {
        let vote = |choice: &usize| Vote { choice: *choice, reason: format!("for {choice}") };
        VoteTally::of(choices.iter().map(vote).collect()).unwrap()
    }

    #[test]
    fn the_middle_vote_counts_and_doubt_counts_against() {
        assert_eq!(tally(&[3, 0, 3]).choice, 3);
        assert_eq!(tally(&[3, 0]).choice, 0);
        assert_eq!(tally(&[0, 1, 3]).choice, 1);
        assert_eq!(tally(&[3, 0, 3]).reason(), "for 3");
        assert_eq!(VoteTally::of(Vec::new()), None);
    }

    #[test]
    fn figures_of_agreement() {
        let same = tally(&[2, 2, 2]);
        assert!((same.agreement, same.entropy, same.flip_rate) == (1.0, 0.0, 0.0));
        let split = tally(&[0, 1, 0, 1]);
        assert!((split.agreement - 0.5).abs() < 1e-12);
        assert!((split.entropy - 1.0).abs() < 1e-12);
        assert!((split.flip_rate - 1.0).abs() < 1e-12);
        assert!(tally(&[1]).flip_rate.abs() < 1e-12);
    }

    #[test]
    fn asking_stops_once_nothing_can_change() {
        assert!(is_decided(&[2, 2], 3, 4, None), "two of three");
        assert!(!is_decided(&[2, 1], 3, 4, None));
        assert!(!is_decided(&[2, 2], 5, 4, None), "the other three could outvote them");
        assert!(is_decided(&[2, 2, 2], 5, 4, None));
        assert!(is_decided(&[0, 3, 2, 2], 5, 4, None) || is_decided(&[0, 3, 2, 2, 2], 5, 4, None));
        assert!(is_decided(&[1], 1, 2, None));
        assert!(is_decided(&[2, 2, 2], 5, 4, Some(0.6)), "three of five agree already");
        assert!(!is_decided(&[2, 2, 2], 5, 4, Some(0.8)), "whether it abstains is open");
    }

    proptest! {
        #[test]
        fn an_early_end_decides_as_all_votes_would(
            votes in proptest::collection::vec(0_usize..4, 1..8)
        ) {
            let samples = votes.len();
            let all = tally(&votes).choice;
            for asked in 1..=samples {
                if is_decided(&votes[..asked], samples, 4, None) {
                    let mut sorted = votes[..asked].to_vec();
                    // What the decision is based on: the outcome with any completion.
                    sorted.extend(std::iter::repeat_n(0, samples - asked));
                    sorted.sort_unstable();
                    prop_assert_eq!(sorted[(samples - 1) / 2], all);
                    break;
                }
            }
        }
    }
}
