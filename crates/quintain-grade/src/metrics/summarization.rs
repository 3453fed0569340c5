//! Whether a summary is right and complete.

use quintain_content::registry::Meta;
use quintain_judge::consultation::{Heard, both};
use quintain_judge::template::{Prompt, Values};
use serde_json::{Value, json};

use super::judging::case::{Case, numbered};
use super::judging::verdicts::{ONLY_YES, Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct Summarization;

static META: Meta = Meta {
    id: "summarization",
    aliases: &["SummarizationMetric"],
    summary: "a summary contains what matters, and nothing that the original does not say",
    docs: "\
# What it does
Computes two shares. *Alignment*: claims of the summary that the original supports. *Coverage*: of yes-or-no questions
that the original answers with yes, those that the summary answers with yes, too. The score is the smaller one. The
request is the original, the answer the summary. Questions are written by the judge, for each case, unless they
are given.

# Why it matters
A short text is easy to believe.

# What counts as proof
The opinion of the judge: `details` has both shares, `details.verdicts` every claim, and `details.questions` the
answers.

# Options
`assessmentQuestions`: yes-or-no questions to which the original says yes. `n`: the number of questions that the judge
writes; 5 unless set. `truthsExtractionLimit`: compare claims with this number of facts of the original instead of all of it.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `truths`, `claims`, `questions`, `answers` and `verdicts`. Variables:
truths: limit, original; claims: summary; questions: n, original; answers: text, questions; verdicts: original,
claims.

# When it does not apply
The trace records no request or no answer. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: summarization
    assessmentQuestions: [\"Is the deadline named?\"]
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for Summarization {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let limit = options.count("truthsExtractionLimit");
        let count = options.count("n").unwrap_or(5);
        let given = options.texts("assessmentQuestions").filter(|given| !given.is_empty());
        judged(META.id, settings, move |input, judge| {
            measure(input, judge, &Wanted { limit, count, given: given.as_deref() })
        })
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "truths",
        text: "\
List the {{limit}} most important facts that a text states. Each is one sentence that can be understood alone. Add
nothing that the text does not state.

Text:
{{original}}",
    },
    Prompt {
        id: "claims",
        text: "\
List the claims of a text: every statement of fact, each as one sentence that can be understood alone. Do not correct
them.

Text:
{{summary}}",
    },
    Prompt {
        id: "questions",
        text: "\
Write exactly {{n}} questions about the most important content of a text. Each can be answered with yes or no, and the
text answers it with yes.

Text:
{{original}}",
    },
    Prompt {
        id: "answers",
        text: "\
Answer questions with a text alone, not with what you know.
yes: the text supports it.
no: it does not, or it says nothing about it.

Text:
{{text}}

Questions, one per line:
{{questions}}

Give one verdict for each question, in their order.",
    },
    Prompt {
        id: "verdicts",
        text: "\
Judge whether each claim of a summary agrees with the original. Use the original alone, not what you know.
yes: the original supports the claim.
borderline: the original says nothing about it.
no: the original contradicts it.

Original:
{{original}}

Claims, one per line:
{{claims}}

Give one verdict for each claim, in their order. For `no` and `borderline`, the reason says what the original states
instead.",
    },
];

struct Wanted<'w> {
    limit: Option<usize>,
    count: usize,
    given: Option<&'w [String]>,
}

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>, wanted: &Wanted<'_>) -> Judging<Measured> {
    let case = Case::of(input);
    let (original, summary) = (case.request()?, case.answer()?);
    let (alignment, coverage) =
        both(aligned(judge, original, summary, wanted), covered(judge, original, summary, wanted))?;
    let (claims, tallies) = alignment;
    let verdicts = Verdicts { words: ONLY_YES, items: &claims, tallies: &tallies };
    let share = verdicts.share().unwrap_or(0.0);
    let scored =
        verdicts.scored(judge.panel(), share.min(coverage.share), "claims are supported")?;
    let mut scored = scored
        .with("alignment", share)
        .with("coverage", coverage.share)
        .with("questions", coverage.listed);
    scored.reason = format!("{}. {}", scored.reason, coverage.reason);
    Ok(Measured::Score(scored))
}

type Claims = (Vec<String>, Vec<quintain_judge::ballot::VoteTally>);

/// The claims of the summary with the verdicts on them.
fn aligned(judge: &Judge<'_>, original: &str, summary: &str, wanted: &Wanted<'_>) -> Heard<Claims> {
    let truths = match wanted.limit {
        None => Ok(original.to_owned()),
        Some(limit) => {
            let values =
                Values::new().plain("limit", limit.to_string()).quoted("original", original);
            judge.texts("truths", &values, "truths").map(|truths| truths.join("\n"))
        }
    };
    let claims = judge.texts("claims", &Values::new().quoted("summary", summary), "claims");
    let (original, claims) = both(truths, claims)?;
    if claims.is_empty() {
        return Ok((claims, Vec::new()));
    }
    let values = Values::new().quoted("original", &original).quoted("claims", &numbered(&claims));
    let tallies = judge.verdicts("verdicts", &values, ONLY_YES.all, claims.len())?;
    Ok((claims, tallies))
}

struct Coverage {
    share: f64,
    reason: String,
    listed: Value,
}

/// How many of the questions that the original answers with yes the summary answers with yes.
fn covered(
    judge: &Judge<'_>,
    original: &str,
    summary: &str,
    wanted: &Wanted<'_>,
) -> Heard<Coverage> {
    let questions = if let Some(given) = wanted.given {
        given.to_vec()
    } else {
        let count = wanted.count.to_string();
        let values = Values::new().plain("n", count).quoted("original", original);
        judge.texts("questions", &values, "questions")?
    };
    let answers = |text: &str| {
        let values = Values::new().quoted("text", text).quoted("questions", &numbered(&questions));
        judge.verdicts("answers", &values, YES_IS_GOOD.all, questions.len())
    };
    let (by_original, by_summary) = both(answers(original), answers(summary))?;
    let (mut all, mut kept, mut listed) = (0.0, 0.0, Vec::new());
    for (question, (original, summary)) in questions.iter().zip(by_original.iter().zip(&by_summary))
    {
        let (original, summary) = (YES_IS_GOOD.is_good(original), YES_IS_GOOD.is_good(summary));
        if original {
            all += 1.0;
            kept += f64::from(u8::from(summary));
        }
        listed.push(json!({"question": question, "original": original, "summary": summary}));
    }
    let share = if all > 0.0 { kept / all } else { 0.0 };
    let reason =
        format!("{kept} of {all} questions that the original answers are answered by the summary");
    Ok(Coverage { share, reason, listed: listed.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    fn list(verdicts: &[&str]) -> Value {
        let list: Vec<Value> = verdicts.iter().map(|verdict| json!({"verdict": verdict})).collect();
        json!({"verdicts": list})
    }

    #[test]
    fn the_smaller_share_counts() {
        let metric = compiled(META.id, &json!({}));
        let answers = [
            json!({"claims": ["a", "b"]}),
            json!({"questions": ["1", "2", "3"]}),
            list(&["yes", "borderline"]),
            list(&["yes", "yes", "no"]),
            list(&["yes", "yes", "yes"]),
        ];
        let score = judged_score(&metric, &exchange("long", "short"), &answers);
        assert_eq!(score.score, Some(0.5));
        assert_eq!(score.details["coverage"], json!(1.0));
    }

    #[test]
    fn given_questions_are_used() {
        let metric = compiled(META.id, &json!({"assessmentQuestions": ["1", "2"]}));
        let answers =
            [json!({"claims": ["a"]}), list(&["yes", "yes"]), list(&["yes", "no"]), list(&["yes"])];
        let score = judged_score(&metric, &exchange("long", "short"), &answers);
        assert_eq!((score.score, &score.details["alignment"]), (Some(0.5), &json!(1.0)));
    }
}
