//! A resource that is read and leaves no trace in later calls and answers.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::{CallKind, Role, TraceStep};
use serde_json::Value;

use super::{Checked, Fault, TraceCheck};
use crate::canonical::scalars;
use crate::fast_hash::FastSet;
use crate::policy::CallPolicy;
use crate::view::{CallView, View};
use crate::word_list;

pub(super) struct ResourceUnused;

static META: Meta = Meta {
    id: "resource.unused",
    aliases: &[],
    summary: "a resource is read, but nothing of it is used",
    docs: "\
# What it does
Looks for the numbers, ids and words of each resource in later arguments and in what the application says. Only what
was not known before the resource was read counts.

# Why it matters
Unused content fills the context and costs tokens. It may be a sign that the model read the wrong resource.

# What counts as proof
No number or id and fewer than two words that first appear in the resource are used later. It is info: a resource may
shape an answer without leaving words in it.

# Severity
Info, in the layer *trace*.

# When it does not apply
No resource is read, or nothing that the application says is recorded.

# Example
`resources/read {\"uri\": \"file:///menu.md\"}`, and an answer about the weather
",
    since: "0.2.0",
};

/// Words of a resource that are looked at.
const MAX_WORDS: usize = 20_000;
/// Long words that occur in any text.
const COMMON: &str = "about above after again against although always among another answer available based because \
    before being below between contains could default details different document during either enough every example \
    examples first following found general given however important include includes including information instead into \
    large later least likely listed little longer makes might needed never number other others please possible provide \
    provided provides question quite rather really right section several shall should since small something still their \
    there these thing things think those though through today together tomorrow under until using usually value values \
    version where whether which while whole within without would years";

static COMMON_SET: LazyLock<FastSet<&str>> = LazyLock::new(|| word_list::set(COMMON));

impl TraceCheck for ResourceUnused {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let is_read =
            |call: &&CallView<'_>| call.call.kind == CallKind::Resource && call.succeeded();
        if !view.calls.iter().any(|call| is_read(&call)) {
            return Checked::NotApplicable("no resource is read");
        }
        if view.trace.messages().all(|message| message.role != Role::Assistant) {
            return Checked::NotApplicable("nothing that the application says is recorded");
        }
        let words = Words::new(view);
        let unused = view.calls.iter().filter(is_read);
        let unused = unused.filter(|call| words.is_unused(call));
        Checked::Findings(unused.map(fault).collect())
    }
}

/// When words are first known, and last used by the application.
struct Words {
    known: HashMap<String, usize>,
    used: HashMap<String, usize>,
}

impl Words {
    fn new(view: &View<'_>) -> Self {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut used: HashMap<String, usize> = HashMap::new();
        let mut calls = view.calls.iter();
        for (step, entry) in view.trace.steps.iter().enumerate() {
            match entry {
                TraceStep::Message(message) if message.role == Role::Assistant => {
                    used.extend(words(&message.text).map(|word| (word, step)));
                }
                TraceStep::Message(message) => {
                    words(&message.text).for_each(|word| _ = known.entry(word).or_insert(step));
                }
                TraceStep::Call(call) => {
                    let args = call.args.json().map(scalars).unwrap_or_default();
                    let args = args.iter().flat_map(|arg| words(arg));
                    let name = words(&call.name);
                    used.extend(args.chain(name).map(|word| (word, step)));
                    let Some(call) = calls.next() else { continue };
                    words(call.text()).for_each(|word| _ = known.entry(word).or_insert(step));
                }
            }
        }
        Self { known, used }
    }

    fn is_unused(&self, call: &CallView<'_>) -> bool {
        let uri = self.used.get(&call.call.name.to_lowercase());
        if uri.is_some_and(|step| *step > call.step) || call.text().trim().is_empty() {
            return false;
        }
        let mut plain = 0;
        let mut seen = HashSet::new();
        for word in words(call.text()) {
            let is_new = self.known.get(&word) == Some(&call.step);
            let is_used = self.used.get(&word).is_some_and(|step| *step > call.step);
            if !is_new || !is_used || !seen.insert(word.clone()) {
                continue;
            }
            plain += 1;
            if plain == 2 || word.contains(|c: char| c.is_ascii_digit()) {
                return false;
            }
        }
        true
    }
}

/// Numbers, ids and words that say something, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let parts = text.split(|c: char| !c.is_alphanumeric() && !"-_.@".contains(c)).take(MAX_WORDS);
    let parts = parts.map(|part| part.trim_matches(['-', '_', '.', '@']).to_lowercase());
    parts.filter(|word| {
        let has_digit = word.contains(|c: char| c.is_ascii_digit());
        let least = if has_digit {
            2
        } else if word.is_ascii() {
            5
        } else {
            2
        };
        word.chars().count() >= least && word.len() <= 100 && !COMMON_SET.contains(word.as_str())
    })
}

fn fault(call: &CallView<'_>) -> Fault {
    let mime = call.call.result().and_then(|result| result.pointer("/contents/0/mimeType"));
    let mime = mime.and_then(Value::as_str).unwrap_or("text");
    Fault {
        severity: Level::Info,
        call: Some(call.position),
        pointer: String::new(),
        message: format!(
            "resource `{}` is read, but nothing of it is used",
            one_line(&call.call.name, 200)
        ),
        evidence: format!("{mime}: {}", one_line(call.text(), 150)),
        hint: "read only what the answer needs".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Args, Call, CallOutcome, Trace};
    use serde_json::json;

    use super::super::testing::{found_at, made, turn};
    use super::*;

    fn read(text: &str) -> Call {
        let result = json!({"contents": [{"uri": "file:///a.md", "text": text}]});
        let call = Call::new(CallKind::Resource, "file:///a.md", Args::default());
        Call { outcome: CallOutcome::Result(result), ..call }
    }

    fn found(calls: Vec<Call>, answer: &str) -> Vec<usize> {
        found_at(&ResourceUnused, &turn("What does the manual say about warranty?", calls, answer))
    }

    #[test]
    fn unused_resources_are_found() {
        let menu = "Monday: lentil soup with bread, 7.50. Tuesday: pasta, 8.20.";
        assert_eq!(found(vec![read(menu)], "The warranty lasts two years."), [0]);
        assert_eq!(found(vec![read(menu)], "On Monday there is lentil soup."), [0; 0]);
        assert_eq!(found(vec![read(menu)], "It costs 7.50."), [0; 0]);
        let order = made("order", json!({"dish": "lentil soup with bread"}), "ok");
        assert_eq!(found(vec![read(menu), order], "Done."), [0; 0]);
    }

    #[test]
    fn words_of_the_request_and_earlier_words_do_not_count() {
        let text = "The manual describes warranty terms.";
        assert_eq!(found(vec![read(text)], "The manual covers the warranty."), [0]);
    }

    #[test]
    fn silence_and_empty_resources_prove_nothing() {
        assert_eq!(found(vec![read("")], "x"), [0; 0]);
        let mut capture = Trace::default();
        capture.call(read("lentil soup"));
        assert_eq!(found_at(&ResourceUnused, &capture), [0; 0]);
    }
}
