//! Runs inquiries in rounds until all are done.

use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Inquiry, Next, Rounds};
use quintain_evidence::question::Question;

use super::Asker;

impl Asker<'_> {
    /// The outcomes, in the order of the inquiries. Each round asks the questions of all inquiries together, every
    /// question once.
    pub(crate) async fn run_rounds<I: Inquiry>(
        &self,
        inquiries: &[I],
        evidence: &mut Evidence,
    ) -> Vec<I::Conclusion> {
        let mut progress: Vec<(Rounds, Option<I::Conclusion>)> =
            inquiries.iter().map(|_| (Rounds::default(), None)).collect();
        let mut unusable = Vec::new();
        loop {
            let mut asking = Vec::new();
            let mut questions: Vec<Question> = Vec::new();
            for (inquiry, (rounds, outcome)) in inquiries.iter().zip(&mut progress) {
                if outcome.is_some() {
                    continue;
                }
                match inquiry.next(evidence, rounds) {
                    Next::Done(done) => {
                        if inquiry.is_unusable(&done) {
                            let asked = rounds.asked().map(|(question, _)| question.clone());
                            unusable.extend(asked);
                        }
                        *outcome = Some(done);
                    }
                    Next::Ask(_) if rounds.len() >= inquiry.max_rounds() => {
                        *outcome = Some(inquiry.unfinished());
                    }
                    Next::Ask(asked) => {
                        asking.push((rounds, asked.len()));
                        questions.extend(asked);
                    }
                }
            }
            if asking.is_empty() {
                break;
            }
            let answers = self.ask(&questions, evidence).await;
            let (mut questions, mut answers) = (questions.into_iter(), answers.into_iter());
            for (rounds, count) in asking {
                let asked = questions.by_ref().take(count).collect();
                rounds.push(asked, answers.by_ref().take(count).collect());
            }
        }
        self.reject(&unusable, evidence).await;
        let outcomes = inquiries.iter().zip(progress);
        outcomes
            .map(|(inquiry, (_, outcome))| outcome.unwrap_or_else(|| inquiry.unfinished()))
            .collect()
    }
}
