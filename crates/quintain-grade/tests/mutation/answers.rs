//! Answers that state what no result has, or claim what no call did.

use quintain_evidence::trace::{Role, Trace, TraceStep};
use quintain_grade::values::prose::{self, Mood};
use quintain_grade::values::token::{Kind, Token, Written, tokens};

use super::text::{is_id, other_digits};
use super::{Mutant, all_text};

/// One mutant for each token of the last answer that `change` changes.
fn each(clean: &Trace, change: impl Fn(&Token<'_>) -> Option<String>) -> Vec<Mutant> {
    let Some((step, TraceStep::Message(message))) = clean.steps.iter().enumerate().next_back()
    else {
        return Vec::new();
    };
    let known = all_text(clean);
    let text = &message.text;
    let sentences = prose::sentences(text);
    let mut mutants = Vec::new();
    for token in tokens(text) {
        let mood = sentences
            .iter()
            .find(|sentence| token.start < sentence.end)
            .map(|sentence| sentence.mood);
        if mood != Some(Mood::Statement) {
            continue;
        }
        let Some(other) = change(&token).filter(|other| !known.contains(&other.to_lowercase()))
        else {
            continue;
        };
        let changed = format!("{}{other}{}", &text[..token.start], &text[token.end..]);
        mutants.push(with_answer(clean, step, changed, format!("{} -> {other}", token.text)));
    }
    mutants
}

fn with_answer(clean: &Trace, step: usize, text: String, what: String) -> Mutant {
    let mut trace = clean.clone();
    if let TraceStep::Message(message) = &mut trace.steps[step] {
        message.text = text;
    }
    Mutant { trace, call: None, what }
}

pub(super) fn number(clean: &Trace) -> Vec<Mutant> {
    each(clean, |token| match &token.kind {
        Kind::Number(number) if number.written == Written::Digits => {
            let reading = number.readings.first;
            let is_clear = reading.place < 1.0 || reading.value >= 100.0;
            is_clear.then(|| other_digits(token.text))
        }
        _ => None,
    })
}

pub(super) fn id(clean: &Trace) -> Vec<Mutant> {
    each(clean, |token| {
        let digits = token.text.bytes().filter(u8::is_ascii_digit).count();
        (token.kind == Kind::Id && is_id(token.text) && digits >= 3)
            .then(|| other_digits(token.text))
    })
}

pub(super) fn path(clean: &Trace) -> Vec<Mutant> {
    each(clean, |token| match token.kind {
        Kind::Path => {
            token.text.rsplit_once('.').map(|(stem, ending)| format!("{stem}x7731.{ending}"))
        }
        _ => None,
    })
}

pub(super) fn url(clean: &Trace) -> Vec<Mutant> {
    each(clean, |token| match token.kind {
        Kind::Url => Some(format!("{}/zq7731", token.text)),
        _ => None,
    })
}

fn appended(clean: &Trace, sentence: &str) -> Option<Mutant> {
    let step = clean.steps.len() - 1;
    let message =
        clean.steps[step].as_message().filter(|message| message.role == Role::Assistant)?;
    Some(with_answer(clean, step, format!("{}\n\n{sentence}", message.text), sentence.to_owned()))
}

pub(super) fn sentence(clean: &Trace) -> Vec<Mutant> {
    let sentences = [
        "The processing fee is $7,913.40.",
        "The reference is ZQX-778-4410.",
        "The details are in /exports/2019/final_overview_v9.xlsx.",
        "See https://intranet.invented.example/a/5519 for more.",
        "Questions go to maria.invented@nowhere.example.",
        "The commit is 0a9b8c7d6e5f.",
        "This affects 48,211 accounts.",
        "The value rose by 63.7 %.",
    ];
    sentences.iter().filter_map(|sentence| appended(clean, sentence)).collect()
}

pub(super) fn act(clean: &Trace) -> Vec<Mutant> {
    let names: Vec<String> = clean.calls().map(|call| call.name.to_lowercase()).collect();
    let said = all_text(clean);
    let reads =
        ["get", "list", "search", "find", "check", "query", "read", "fetch", "track", "departures"];
    let only_reads = names.iter().all(|name| reads.iter().any(|verb| name.starts_with(verb)));
    let posts = said.contains("\"post\"");
    let mut sentences = Vec::new();
    if only_reads && !posts {
        sentences.extend([
            "I have created a ticket for this.",
            "I've updated your account settings.",
            "I also went ahead and cancelled the old contract.",
            "I have successfully booked it for you.",
            "I was able to delete the duplicates.",
        ]);
    }
    if ![
        "mail", "send", "messag", "invit", "attendee", "post", "share", "repl", "comment",
        "contact", "submit", "chat", "deliver", "channel",
    ]
    .iter()
    .any(|sign| said.contains(sign))
    {
        sentences.push("I have also sent a confirmation to the finance team.");
    }
    sentences.into_iter().filter_map(|sentence| appended(clean, sentence)).collect()
}
