//! The best response of all prompts and targets of a test, as a model judges.

use std::fmt::Write as _;
use std::sync::Arc;

use quintain_content::registry::Meta;
use quintain_content::text::fence;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::result::CaseResult;
use quintain_evidence::verdict::Verdict;
use quintain_source::{Node, Nunjucks, is_template};
use serde_json::{Map, Value};

use super::judge::Judge;
use super::replies::Replies;
use super::rubric::{self, Rubric};
use crate::check::{
    Builtin, Check, Compared, Comparison, Expected, ModelTask, Scene, Test, TestOptions,
    WrittenModel, as_text,
};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/select-best.txt"));

pub(in super::super) static SELECT_BEST: Builtin = Builtin {
    meta: &Meta {
        id: "select-best",
        aliases: &[],
        summary: "A model judges the response as the best of all responses to the same test",
        docs: r"# What it does
Compares the responses of all prompts and targets to a test: asks a model which one meets the criterion in
`value` best. That one passes, all others fail. Responses that are errors are not compared.

`provider` names the judge, `rubricPrompt` replaces the question (variables `criteria`, `outputs` and those
of the test); see `llm-rubric`.

# What counts as proof
The reply of the judge, which is stored: the first whole number in it is the position of the best response,
counted from 0. If the judge cannot answer, or the number is none of them, the result is an error.

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
        // The criterion is expanded when the responses are compared.
        let template =
            spec.node.get("value").and_then(Node::as_str).filter(|text| is_template(text));
        let criterion = template.map(str::to_owned);
        let value = spec.expect(move |value| match value {
            Some(Value::String(text)) if !negated => Ok(text.clone()),
            _ if negated => Err("select-best cannot be negated".to_owned()),
            _ => Err("select-best must have a string value".to_owned()),
        });
        let written = Arc::new(Written { judge: Judge::read(spec), value, criterion });
        Some(Box::new(SelectBest { written, test: Test::default() }))
    },
};

/// The assertion as written.
struct Written {
    judge: Judge,
    value: Expected<String>,
    /// The criterion, if it is a template.
    criterion: Option<String>,
}

struct SelectBest {
    written: Arc<Written>,
    /// Has the options of the test.
    test: Test,
}

impl Check for SelectBest {
    fn next(&self, _: &Scene<'_>, _: &Rounds) -> Next<Verdict> {
        Next::Done(Verdict::error(
            "`select-best` compares the responses to a test and cannot be in an `assert-set`",
        ))
    }

    fn model_tasks(&self) -> &'static [ModelTask] {
        &[ModelTask::Text]
    }

    fn written_model(&self) -> Option<&WrittenModel> {
        self.written.judge.provider()
    }

    fn comparison(&self) -> Option<&dyn Comparison> {
        Some(self)
    }

    fn with_options(&self, options: &TestOptions) -> Option<Box<dyn Check>> {
        let test = Test { options: options.clone(), ..Test::default() };
        Some(Box::new(Self { written: self.written.clone(), test }))
    }
}

impl Comparison for SelectBest {
    fn next(&self, graded: &[&CaseResult], rounds: &Rounds) -> Next<Compared> {
        let replies = Replies::of(rounds, &self.written.judge.kind);
        let step = self.written.step(&self.test, graded, &replies);
        step.unwrap_or_else(|why| Next::Done(Err(why)))
    }
}

impl Written {
    fn step(
        &self,
        test: &Test,
        graded: &[&CaseResult],
        replies: &Replies<'_>,
    ) -> Result<Next<Compared>, String> {
        let reason = |verdict: Box<Verdict>| verdict.reason;
        if graded.len() < 2 {
            let why = "select-best assertion must have at least two outputs to compare between";
            return Err(why.to_owned());
        }
        let vars = &graded[0].vars;
        let criterion = match (&self.criterion, self.value.constant()) {
            (Some(template), _) => {
                Nunjucks::default().render(template, vars).map_err(|why| why.to_string())?
            }
            (None, Some(text)) => text.clone(),
            (None, None) => return Err("`value` of `select-best` is invalid".to_owned()),
        };
        if replies.is_empty() {
            let prompt = self.prompt(test, vars, &criterion, graded).map_err(reason)?;
            let question = self.judge.chat(test, prompt).map_err(reason)?;
            return Ok(Next::Ask(vec![question]));
        }
        let text = replies.text(0).map_err(reason)?;
        let best = first_number(&text).filter(|best| *best < graded.len());
        let Some(best) = best else {
            return Err(format!("Invalid select-best verdict: {text}"));
        };
        let verdicts = (0..graded.len()).map(|at| {
            replies.counted(if at == best {
                Verdict::pass(format!("Output selected as the best: {criterion}"))
            } else {
                Verdict::fail(format!("Output not selected: {criterion}"))
            })
        });
        Ok(Next::Done(Ok(verdicts.collect())))
    }

    fn prompt(
        &self,
        test: &Test,
        vars: &Map<String, Value>,
        criterion: &str,
        graded: &[&CaseResult],
    ) -> Result<String, Box<Verdict>> {
        let outputs = graded.iter().map(|result| as_text(&result.response.output));
        if let Some(own) = self.judge.rubric_prompt(test, &Nunjucks::default())? {
            let outputs = outputs.map(|output| rubric::parsed(&output)).collect();
            let vars = rubric::with(vars, [("criteria", criterion.into()), ("outputs", outputs)]);
            return rubric::render(&Nunjucks::default(), own, vars);
        }
        let mut texts = String::new();
        for (at, output) in outputs.enumerate() {
            let _ = writeln!(texts, "Text {at}:\n{}\n", fence::quote(&output));
        }
        Ok(RUBRIC.fill(&[("criteria", criterion), ("outputs", texts.trim_end())]))
    }
}

fn first_number(text: &str) -> Option<usize> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let digits = text[start..].split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use quintain_evidence::question::{Answer, Question};

    use super::*;
    use crate::testing::{compile, flaw};

    #[test]
    fn the_first_number_is_the_choice() {
        assert_eq!(first_number("Text 12 is best, not 3"), Some(12));
        assert_eq!(first_number("none"), None);
        assert_eq!(first_number(&"9".repeat(40)), None);
    }

    #[test]
    fn the_options_of_the_test_name_the_judge() {
        let asserts = compile("[{type: select-best, value: short}]");
        let value = serde_json::json!("judge");
        let options = TestOptions {
            judge: Some(WrittenModel {
                value: value.clone(),
                span: quintain_source::Span::default(),
            }),
            ..TestOptions::default()
        };
        let bound = asserts[0].with_options(&options).unwrap();
        let result = crate::testing::result("a");
        let Next::Ask(asked) =
            bound.comparison().unwrap().next(&[&result, &result], &Rounds::default())
        else {
            panic!("it asks")
        };
        let [Question::Model(question)] = asked.as_slice() else { panic!("{asked:?}") };
        assert_eq!(question.model, Some(value));
    }

    #[test]
    fn without_answers_to_compare_or_a_judge_nobody_is_selected() {
        let asserts = compile("[{type: select-best, value: short}]");
        let comparison = asserts[0].comparison().unwrap();
        let mut rounds = Rounds::default();
        assert!(matches!(comparison.next(&[], &rounds), Next::Done(Err(_))));
        rounds.push(Vec::new(), vec![Answer::Unavailable("no judge is configured".to_owned())]);
        assert!(matches!(comparison.next(&[], &rounds), Next::Done(Err(_))));
        flaw("[{type: select-best}]", "x");
        flaw("[{type: not-select-best, value: short}]", "x");
    }
}
