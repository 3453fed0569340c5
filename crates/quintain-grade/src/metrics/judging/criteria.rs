//! Criteria in words, for g-eval and its form for conversations: they become steps, and the steps a score.

use quintain_judge::prompt::AnswerForm;
use quintain_judge::rubric::{Level, Rubric};
use quintain_judge::template::{Prompt, Values};
use serde_json::Value;

use super::case::numbered;
use super::params::{self, Param, shown_params};
use super::scorer::{Judge, Judging};
use super::{Grade, grades};
use crate::metrics::{Measured, MetricInput, Options};

/// What is judged, and how.
pub(in crate::metrics) struct Criteria {
    words: Option<String>,
    steps: Option<Vec<String>>,
    params: Vec<Param>,
    /// Sorted, without overlaps.
    ranges: Vec<Range>,
    /// Whether the judge decides between 0 and 1 only.
    is_binary: bool,
}

/// What scores of a range mean.
#[derive(Debug, Clone, PartialEq)]
struct Range {
    from: f64,
    to: f64,
    meaning: String,
}

pub(in crate::metrics) const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "steps",
        text: "\
Turn criteria into three or four steps of an evaluation. Each step is one sentence that says what to look at in the named
parts of a test case, and how to compare them. Leave out the score.

Criteria:
{{criteria}}

Parts of a test case: {{parameters}}",
    },
    Prompt {
        id: "score",
        text: "\
Evaluate a test case by these steps:
{{steps}}

{{criteria}}

{{case}}

{{rubric}}",
    },
];

impl Criteria {
    /// Reads `criteria`, `evaluationSteps`, `evaluationParams` and `rubric`. None only if a mistake is reported.
    pub(in crate::metrics) fn read(
        options: &mut Options<'_>,
        otherwise: Param,
        is_binary: bool,
    ) -> Option<Self> {
        let criteria = options.text("criteria").map(ToOwned::to_owned);
        let steps = options.texts("evaluationSteps");
        let chosen = options.value("evaluationParams");
        let params = chosen.map(|value| params::read(options, "evaluationParams", value));
        let ranges = options.value("rubric").map(|value| ranges(options, value));
        if criteria.is_none() && steps.is_none() {
            options.error("criteria", "expected `criteria` or `evaluationSteps`");
            return None;
        }
        if criteria.as_ref().is_some_and(|text| text.trim().is_empty()) {
            options.error("criteria", "`criteria` is empty");
            return None;
        }
        if steps.as_ref().is_some_and(Vec::is_empty) {
            options.error("evaluationSteps", "`evaluationSteps` is empty");
            return None;
        }
        Some(Self {
            words: criteria,
            steps,
            params: params.unwrap_or_else(|| Some(vec![otherwise]))?,
            ranges: ranges.unwrap_or_else(|| Some(Vec::new()))?,
            is_binary,
        })
    }

    /// Makes sure that a part is judged.
    pub(in crate::metrics) fn include(&mut self, param: Param) {
        if !self.params.contains(&param) {
            self.params.push(param);
        }
    }

    /// The lowest and the highest score.
    fn bounds(&self) -> (f64, f64) {
        match (self.ranges.first(), self.ranges.last()) {
            _ if self.is_binary => (0.0, 1.0),
            (Some(first), Some(last)) => (first.from, last.to),
            _ => (0.0, 10.0),
        }
    }

    pub(in crate::metrics) fn measure(
        &self,
        input: &MetricInput<'_>,
        judge: &Judge<'_>,
    ) -> Judging<Measured> {
        let case = shown_params(input, &self.params)?;
        let steps = match (&self.steps, &self.words) {
            (Some(steps), _) => steps.clone(),
            (None, criteria) => {
                let titles: Vec<&str> = self.params.iter().map(|param| param.title()).collect();
                let values = Values::new()
                    .plain("criteria", criteria.as_deref().unwrap_or_default())
                    .plain("parameters", titles.join(", "));
                judge.texts("steps", &values, "steps")?
            }
        };
        let criteria = self.words.as_ref().map(|text| format!("Criteria:\n{text}"));
        let values = Values::new()
            .plain("steps", numbered(&steps))
            .plain("criteria", criteria.unwrap_or_default())
            .plain("case", case)
            .plain("rubric", self.shown_rubric());
        let grade = self.grade(judge, &values)?;
        let scored = grades::scored(grade.score, &[("score".to_owned(), &grade)])?;
        Ok(Measured::Score(scored.with("steps", steps)))
    }

    fn grade(&self, judge: &Judge<'_>, values: &Values<'_>) -> Judging<Grade> {
        if let Some(options) = judge.settings.careful() {
            let question = "How well does the test case satisfy the evaluation?";
            let own = self.levels();
            let rubric = Rubric::new(question, own).unwrap_or_else(|_| {
                Rubric::between(
                    question,
                    "it fails the evaluation",
                    "it passes every step",
                    options.levels,
                )
            });
            return Ok(judge.level(&judge.filled("score", values), &rubric)?);
        }
        let (low, high) = self.bounds();
        let question = if self.is_binary {
            "Answer with score 1 if the test case passes every step completely, otherwise with score 0.".to_owned()
        } else {
            format!("Score it with a whole number from {low} (worst) to {high} (best).")
        };
        let body = format!("{}\n\n{question}", judge.filled("score", values).trim_end());
        let answer = judge.ask(&body, &AnswerForm::score())?;
        let scaled = |score: f64| {
            if self.is_binary { score.floor() } else { (score - low) / (high - low) }
        };
        Ok(Grade::read(&answer, scaled)?)
    }

    /// The ranges as levels, if they are as many as a rubric can have.
    fn levels(&self) -> Vec<Level> {
        let (low, high) = self.bounds();
        let scaled = |range: &Range| (f64::midpoint(range.from, range.to) - low) / (high - low);
        let last = self.ranges.len().saturating_sub(1);
        let level = |(index, range): (usize, &Range)| Level {
            score: match index {
                0 => 0.0,
                index if index == last => 1.0,
                _ => scaled(range),
            },
            name: range.name(),
            meaning: range.meaning.clone(),
        };
        self.ranges.iter().enumerate().map(level).collect()
    }

    fn shown_rubric(&self) -> String {
        if self.ranges.is_empty() || self.is_binary {
            return String::new();
        }
        let lines = self.ranges.iter().map(|range| format!("{}: {}", range.name(), range.meaning));
        format!("Meaning of scores:\n{}", lines.collect::<Vec<_>>().join("\n"))
    }
}

impl Range {
    fn name(&self) -> String {
        let is_single = (self.from - self.to).abs() < f64::EPSILON;
        if is_single { self.from.to_string() } else { format!("{}-{}", self.from, self.to) }
    }
}

/// Reads `[{scoreRange: [0, 2], expectedOutcome: ...}, ...]`, in any order.
fn ranges(options: &mut Options<'_>, value: &Value) -> Option<Vec<Range>> {
    let Some(items) = value.as_array() else {
        options.expected("rubric", "a list of ranges", value);
        return None;
    };
    let mut ranges = Vec::new();
    for item in items {
        let bounds = ["scoreRange", "score_range"].iter().find_map(|key| item.get(key));
        let bounds: Option<Vec<f64>> = bounds
            .and_then(Value::as_array)
            .map(|bounds| bounds.iter().filter_map(Value::as_f64).collect());
        let meaning = ["expectedOutcome", "expected_outcome"]
            .iter()
            .find_map(|key| item.get(key)?.as_str())
            .unwrap_or_default();
        let is_score = |score: &f64| (0.0..=10.0).contains(score);
        match bounds.as_deref() {
            Some([from, to]) if is_score(from) && is_score(to) && from <= to => {
                ranges.push(Range { from: *from, to: *to, meaning: meaning.to_owned() });
            }
            _ => {
                let expected = "`scoreRange: [FROM, TO]` from 0 to 10, and `expectedOutcome`";
                options.expected("rubric", expected, item);
                return None;
            }
        }
    }
    ranges.sort_by(|one, other| one.from.total_cmp(&other.from));
    if let Some(pair) = ranges.windows(2).find(|pair| pair[0].to >= pair[1].from) {
        let text = format!("the ranges {} and {} overlap", pair[0].name(), pair[1].name());
        options.error("rubric", text);
        return None;
    }
    if let (Some(first), Some(last)) = (ranges.first(), ranges.last())
        && (last.to - first.from).abs() < f64::EPSILON
    {
        options.error("rubric", "the ranges cover a single score, so all scores are equal");
        return None;
    }
    Some(ranges)
}
