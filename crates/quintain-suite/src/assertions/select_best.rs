//! The best response of all prompts and targets of a test, as a model judges.

use quintain_content::registry::Meta;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::question::{Answer, JudgeQuestion, Question};
use quintain_evidence::result::CaseResult;
use quintain_evidence::verdict::Verdict;
use serde_json::{Value, json};

use crate::check::{Builtin, Check, Expected, Scene};
use crate::compare::{Compared, Comparison};

pub(super) static SELECT_BEST: Builtin = Builtin {
    meta: &Meta {
        id: "select-best",
        aliases: &[],
        summary: "A model judges the response as the best of all responses to the same test",
        docs: r"# What it does
Compares the responses of all prompts and targets to a test: asks a model which one meets the criterion in
`value` best. That one passes, all others fail.

Quintain does not support models as judges yet: the result is an error, never a pass.

# Example
```yaml
- type: select-best
  value: is the easiest to understand
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let negated = spec.negated;
        let criterion = spec.expect(move |value| match value {
            Some(Value::String(text)) if !negated => Ok(text.clone()),
            _ if negated => Err("select-best cannot be negated".to_owned()),
            _ => Err("select-best must have a string value".to_owned()),
        });
        let provider = spec.node.get("provider").map(quintain_source::Node::to_json);
        Some(Box::new(Choosing { criterion, provider }))
    },
};

struct Choosing {
    criterion: Expected<String>,
    provider: Option<Value>,
}

impl Check for Choosing {
    fn next(&self, _: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(Verdict::error(
            "`select-best` compares the responses to a test and cannot be in an `assert-set`",
        ))
    }

    fn comparison(&self) -> Option<&dyn Comparison> {
        Some(self)
    }
}

impl Comparison for Choosing {
    fn next(&self, graded: &[&CaseResult], rounds: &Rounds) -> Next<Compared> {
        rounds.once(|| self.questions(graded), |answers| self.compare(graded, answers))
    }
}

impl Choosing {
    fn questions(&self, graded: &[&CaseResult]) -> Vec<Question> {
        let Some(criterion) = self.criterion.constant() else { return Vec::new() };
        let outputs = graded.iter().map(|result| result.response.output.clone()).collect();
        let mut criteria = json!({"value": criterion});
        if let Some(provider) = &self.provider {
            criteria["provider"] = provider.clone();
        }
        let kind = "select-best".to_owned();
        vec![Question::Judge(JudgeQuestion { kind, criteria, output: outputs })]
    }

    fn compare(&self, graded: &[&CaseResult], answers: &[Answer]) -> Compared {
        let Some(criterion) = self.criterion.constant() else {
            return Err("`value` of `select-best` is invalid".to_owned());
        };
        if graded.len() < 2 {
            return Err("select-best assertion must have at least two outputs to compare between"
                .to_owned());
        }
        let said = match answers.first() {
            Some(Answer::Value(said)) => said,
            Some(Answer::Failed(why)) => {
                return Err(format!("the judge for `select-best` failed: {why}"));
            }
            Some(Answer::Unavailable(why)) => {
                return Err(format!("`select-best` needs a model: {why}"));
            }
            Some(Answer::Exchange(_) | Answer::Reply(_)) | None => {
                return Err("the judge for `select-best` was not asked".to_owned());
            }
        };
        let best = said.get("best").unwrap_or(said).as_u64();
        let best = best.and_then(|best| usize::try_from(best).ok());
        let Some(best) = best.filter(|best| *best < graded.len()) else {
            return Err(format!("Invalid select-best verdict: {said}"));
        };
        let verdict = |at| {
            if at == best {
                Verdict::pass(format!("Output selected as the best: {criterion}"))
            } else {
                Verdict::fail(format!("Output not selected: {criterion}"))
            }
        };
        Ok((0..graded.len()).map(verdict).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{compile, flaw};

    #[test]
    fn without_answers_to_compare_or_a_judge_nobody_is_selected() {
        let asserts = compile("[{type: select-best, value: short}]");
        let comparison = asserts[0].comparison().unwrap();
        let Next::Ask(questions) = comparison.next(&[], &Rounds::default()) else { panic!() };
        let mut rounds = Rounds::default();
        let nobody = Answer::Unavailable("no judge is configured".to_owned());
        rounds.push(questions, vec![nobody]);
        assert!(matches!(comparison.next(&[], &rounds), Next::Done(Err(_))));
        flaw("[{type: select-best}]", "x");
        flaw("[{type: not-select-best, value: short}]", "x");
    }
}
