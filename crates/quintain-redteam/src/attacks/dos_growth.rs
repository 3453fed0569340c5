//! Texts that take disproportionately long to process as they get longer.

use std::time::Duration;

use quintain_content::registry::Meta;
use quintain_evidence::evidence::Exchange;
use quintain_evidence::finding::{Place, Severity};
use quintain_evidence::probe::Step;
use quintain_evidence::weakness::Weakness;
use serde_json::{Map, Value};

use super::{reach, tool_contract};
use crate::attack::{Action, Aim, Attack, Attempt, Brief, Hit, Kind, TargetView, Trial, Tried};
use crate::knowledge::{Sense, classify, put, words};

pub(super) struct DosGrowth;

static META: Meta = Meta {
    id: "dos-growth",
    aliases: &["redos", "regex-dos", "algorithmic-complexity"],
    summary: "Response time grows faster than the length of the input",
    docs: "\
# What it does
Sends texts that grow step by step: short ones that make patterns with nested repetitions backtrack (10 to 27 characters), long ones that
make lists, tags and brackets cost quadratic time (thousands of parts), and patterns of this kind where the caller chooses the pattern. A
harmless text of the same size precedes each series. Each place gets its own session, and nothing else is sent in the meantime. A series
ends with the first response that takes long twice, so the target is busy for seconds at most. Tools that store their input are skipped.

# Why it matters
One short call keeps a server busy for hours.

# What counts as proof
The response times form a curve: the last step took far longer than the one before, longer than the growth of the text explains, and
far longer than the harmless text of the same size. Quintain sends the slow text and the texts it is compared with again and uses
the faster response, since a busy machine produces no curve. One slow response proves nothing. A tool that is slow for every text is
skipped.

# Example
```yaml
redteam:
  plugins: [dos-growth]
```

# References
- CWE-1333, CWE-400, OWASP LLM10
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::Medium, cwe: &[1333, 400], frameworks: &["LLM10", "ASI08"] };

const KINDS: [Kind; 6] =
    [Kind::Pattern, Kind::Text, Kind::Filter, Kind::Name, Kind::Url, Kind::Other];
/// The maximum number of places. Each needs a separate session.
const MAX_AIMS: usize = 8;

/// A response that takes longer ends the row.
const SLOW_AFTER: Duration = Duration::from_millis(400);
/// A tool that takes longer for an innocent text is skipped, since its rows would take a minute. A busy machine
/// may be slow once; a tool that is also slow for the first harmless text is skipped then.
const SLOW: Duration = Duration::from_secs(1);
/// Longer than delays caused by scheduling.
const NOTABLE: Duration = Duration::from_millis(120);
/// Smaller differences are noise.
const NOISE: Duration = Duration::from_millis(3);

/// The steps get smaller, since the cost may double with each character.
const SHORT: [usize; 6] = [10, 15, 20, 23, 25, 27];
const LONG: [usize; 5] = [500, 2_000, 8_000, 16_000, 32_000];

/// A series of growing texts.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    sizes: &'static [usize],
    text: fn(usize, &str) -> String,
}

const TEXTS: [Row; 8] = [
    Row { name: "letters and a mark", sizes: &SHORT, text: |n, _| "a".repeat(n) + "!" },
    Row { name: "digits and a letter", sizes: &SHORT, text: |n, _| "1".repeat(n) + "x!" },
    Row { name: "words and a mark", sizes: &SHORT, text: |n, _| "a ".repeat(n) + "!" },
    Row { name: "dots and a mark", sizes: &SHORT, text: |n, _| "a.".repeat(n) + "!" },
    Row {
        name: "letters behind the innocent text",
        sizes: &SHORT,
        text: |n, innocent| format!("{innocent}{}!", "a".repeat(n)),
    },
    Row { name: "blanks", sizes: &LONG, text: |n, _| format!("a{}b", " ".repeat(n)) },
    Row { name: "parts between commas", sizes: &LONG, text: |n, _| numbered(n, ",") },
    Row { name: "different lines", sizes: &LONG, text: |n, _| numbered(n, "\n") },
];

/// The name of a row in words. The name itself is part of fingerprints.
fn described(name: &'static str) -> &'static str {
    match name {
        "letters and a mark" => "letters followed by a punctuation mark",
        "digits and a letter" => "digits followed by a letter",
        "words and a mark" => "words followed by a punctuation mark",
        "dots and a mark" => "dots followed by a punctuation mark",
        "letters behind the innocent text" => "letters after the harmless text",
        "blanks" => "many spaces",
        "parts between commas" => "comma-separated parts",
        other => other,
    }
}

/// Patterns, for tools where the caller does not choose the text. Nothing matches them.
const PATTERNS: [Row; 3] = [
    Row { name: "nested repetition", sizes: &SHORT, text: |_, _| "^(a+)+$".to_owned() },
    Row {
        name: "optional parts",
        sizes: &SHORT,
        text: |n, _| format!("^(?:[\\s\\S]?){{{n}}}[^\\s\\S]"),
    },
    Row { name: "many stars", sizes: &SHORT, text: |n, _| "*a".repeat(n / 2) + "*!" },
];

fn numbered(count: usize, between: &str) -> String {
    (0..count).map(|number| format!("a{number}")).collect::<Vec<_>>().join(between)
}

impl Row {
    /// A harmless text of the largest size.
    fn harmless(&self, innocent: &str, pattern: bool) -> String {
        let size = self.sizes.last().copied().unwrap_or_default();
        if pattern {
            return "a".repeat(size);
        }
        let length = (self.text)(size, innocent).len();
        "the quick brown fox ".chars().cycle().take(length).collect()
    }

    fn is_short(&self) -> bool {
        self.sizes == SHORT
    }
}

fn rows(aim: &Aim) -> &'static [Row] {
    if aim.kinds.first() == Some(&Kind::Pattern) { &PATTERNS } else { &TEXTS }
}

impl Attack for DosGrowth {
    fn meta(&self) -> Meta {
        META
    }

    fn is_unsteady(&self) -> bool {
        true
    }

    fn may_end_target(&self) -> bool {
        true
    }

    fn wants_quiet(&self) -> bool {
        true
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts(&KINDS, true);
        aims.retain(|aim| {
            let meant = aim.kinds.first().is_some_and(|kind| KINDS.contains(kind));
            let quick = aim.baseline.as_ref().is_some_and(|usual| usual.exchange.took < SLOW);
            let tool = words(aim.place.tool().unwrap_or_default());
            let keeps = Sense::Accumulates.is_in(&tool);
            let harmed = keeps || tool_contract::changes_data(aim);
            meant && quick && !harmed && aim.schema.get("enum").is_none()
        });
        aims.truncate(MAX_AIMS);
        aims
    }

    /// One attempt with all rows in sequence, each preceded by its harmless text.
    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let innocent = reach::plausible(aim);
        let pattern = aim.kinds.first() == Some(&Kind::Pattern);
        let mut steps = Vec::new();
        for row in rows(aim) {
            let sizes = row.sizes.iter().map(|size| ((row.text)(*size, &innocent), *size));
            let greatest = row.sizes.last().copied().unwrap_or_default();
            let harmless = (row.harmless(&innocent, pattern), greatest);
            for (text, size) in std::iter::once(harmless).chain(sizes) {
                let Some(step) = reach::step(aim, text.into()) else { return Vec::new() };
                steps.push(if pattern { with_subject(step, aim, size) } else { step });
            }
        }
        vec![Attempt {
            form: "growing texts".to_owned(),
            set: 0,
            role: String::new(),
            action: Action::Until { steps, identity: 0, slow_after: SLOW_AFTER },
            nonce: brief.nonce(),
            payload: None,
        }]
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        trial.tried.iter().filter_map(|tried| judge(trial, tried)).collect()
    }
}

/// Adds a text that the pattern fails to match, if the call has a text argument.
fn with_subject(step: Step, aim: &Aim, size: usize) -> Step {
    let (Step::Call(mut call), Place::Argument { pointer, .. }) = (step.clone(), &aim.place) else {
        return step;
    };
    let is_subject = |(key, value): &(&String, &Value)| {
        let kinds = classify(key, None, &Value::Null);
        let prose = matches!(kinds.first(), Some(Kind::Text | Kind::Other));
        value.is_string() && prose && **pointer != format!("/{key}")
    };
    let found = call.args.iter().find(is_subject).map(|(key, _)| format!("/{key}"));
    if let Some(subject) = found {
        let mut args: Map<String, Value> = call.args.clone();
        put(&mut args, &subject, Value::from("a".repeat(size) + "!"));
        call.args = args;
    }
    Step::Call(call)
}

/// A hit for the first row with a curve that is too steep.
fn judge(trial: &Trial<'_>, tried: &Tried) -> Option<Hit> {
    let mut left = tried.evidence.exchanges.as_slice();
    for row in rows(trial.aim) {
        let count = (row.sizes.len() + 1).min(left.len());
        let (mine, rest) = left.split_at(count);
        left = rest;
        let Some((harmless, points)) = mine.split_first() else { continue };
        let took: Vec<Duration> = points.iter().map(|exchange| exchange.took).collect();
        if is_answered(harmless) && grows(row, harmless.took, &took) {
            let title = format!(
                "Denial of service through `{}`: response time grows faster than the input ({})",
                trial.aim.place,
                described(row.name)
            );
            let curve = row.sizes.iter().zip(&took);
            let curve: Vec<String> =
                curve.map(|(size, took)| format!("{size}: {} ms", took.as_millis())).collect();
            let what = format!(
                "response time by input size: {}; a harmless text of the largest size: {} ms",
                curve.join(", "),
                harmless.took.as_millis()
            );
            // A pause of the machine may look like growth once, but hardly twice in one row.
            return Some(Hit::confirmed(title, what).by(tried).fault(row.name));
        }
    }
    None
}

fn is_answered(exchange: &Exchange) -> bool {
    exchange.outcome.is_answer()
}

/// Whether the last point is notable, far above the harmless text, and above what the growth of the text
/// explains, but not so far above it that only a pause of the machine explains it.
fn grows(row: &Row, harmless: Duration, took: &[Duration]) -> bool {
    let [earlier @ .., before, last] = took else { return false };
    // Times below a millisecond are noise.
    let times = |of: &Duration| last.as_secs_f64() / of.as_secs_f64().max(1e-3);
    // Linear growth is expected, and somewhat more for sorting.
    let size = |at: usize| row.sizes.get(at).map_or(1.0, |size| *size as f64);
    let longer = |at: usize| size(took.len() - 1) / size(at);
    let steep = match earlier.last() {
        // One to five more characters: expect less than 1.5 times as long.
        Some(_) if row.is_short() => times(before) > 1.8,
        Some(earlier) => {
            let at = took.len() - 2;
            times(before) > longer(at).powf(1.2) && times(earlier) > longer(at - 1).powf(1.55)
        }
        None => times(before) > 20.0,
    };
    *last > NOTABLE && steep && times(&harmless) > 12.0 && !is_pause(row, took)
}

/// Whether the last point is an outlier of a flat row: more than four times the time per additional character,
/// or a hundred times for four times the text, has another cause.
fn is_pause(row: &Row, took: &[Duration]) -> bool {
    let [.., before, last] = took else { return false };
    let least = took.iter().min().copied().unwrap_or_default();
    let cost = before.saturating_sub(least).max(NOISE).as_secs_f64();
    let most = if row.is_short() {
        let sizes = &row.sizes[took.len() - 2..took.len()];
        4_f64.powi(i32::try_from(sizes[1] - sizes[0]).unwrap_or(i32::MAX))
    } else {
        100.0
    };
    last.saturating_sub(least).as_secs_f64() > cost * most
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers};

    /// The hits for a target that takes `cost` milliseconds for a text.
    fn judged(argument: &str, cost: impl Fn(&str) -> f64) -> Vec<Hit> {
        let room = TestTarget::with_argument("check", argument, "hello");
        room.run_attack(&DosGrowth, |attempt| {
            let Action::Until { steps, slow_after, .. } = &attempt.action else { panic!() };
            let mut evidence = Evidence::default();
            for step in steps {
                let Step::Call(call) = step else { panic!() };
                let text = call.args[argument].as_str().unwrap();
                let mut exchange = answers("ok").exchanges.remove(0);
                exchange.took = Duration::from_secs_f64(cost(text) / 1e3);
                let slow = exchange.took > *slow_after;
                evidence.exchanges.push(exchange);
                if slow {
                    break;
                }
            }
            evidence
        })
    }

    #[test]
    fn exponential_and_quadratic_costs_are_proof() {
        let nested = |text: &str| {
            let run = text.trim_end_matches('!').len();
            let evil = text.ends_with('!') && text.starts_with("aaa");
            1.0 + if evil { 1e-5 * (run as f64).exp2() } else { 0.0 }
        };
        let hits = judged("text", nested);
        assert_eq!(hits.len(), 1);
        assert!(hits[0].title.contains("letters followed by"), "{}", hits[0].title);
        let square = |text: &str| 1.0 + (text.lines().count() as f64).powi(2) * 1e-6;
        assert!(judged("text", square)[0].title.contains("different lines"));
        let pattern = |text: &str| {
            let times = text.split(['{', '}']).nth(1).and_then(|n| n.parse::<f64>().ok());
            1.0 + times.map_or(0.0, |n| 1e-5 * n.exp2())
        };
        assert!(judged("pattern", pattern)[0].title.contains("optional parts"));
    }

    #[test]
    fn slow_linear_and_sorting_tools_are_none() {
        assert!(judged("text", |_| 350.0).is_empty(), "always slow");
        assert!(judged("text", |text| text.len() as f64 * 0.002).is_empty(), "linear");
        let sorted = |text: &str| {
            let count = text.split(['\n', ',', ' ']).count() as f64;
            1.0 + count * count.max(2.0).log2() * 6e-4
        };
        assert!(judged("text", sorted).is_empty(), "a little more than linear");
        assert!(judged("text", |_| 2_000.0).is_empty(), "ends with the first");
    }

    #[test]
    fn one_long_wait_is_none() {
        let calls = std::cell::Cell::new(0);
        let hits = judged("text", |_| {
            calls.set(calls.get() + 1);
            if calls.get() == 2 { 5_000.0 } else { 1.0 }
        });
        assert!(hits.is_empty());
        for (text, pause) in [("a".repeat(27) + "!", 636.0), ("1".repeat(25) + "x!", 150.0)] {
            let hits = judged("text", |sent| if sent == text { pause } else { 13.0 });
            assert!(hits.is_empty(), "{text}");
        }
    }

    #[test]
    fn only_texts_and_patterns_are_tried() {
        let room = TestTarget::with_argument("read", "path", "/tmp/x");
        assert!(DosGrowth.aims(&room.view()).is_empty());
        let room = TestTarget::with_argument("create_note", "text", "x");
        assert!(DosGrowth.aims(&room.view()).is_empty(), "it would be kept");
    }
}
