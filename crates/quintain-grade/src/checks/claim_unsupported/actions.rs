//! What an answer claims to have done, and whether a call did it.

use quintain_content::text::short::one_line;

use crate::effect::Effect;
use crate::values::prose::{Mood, Sentence};
use crate::values::word_list::WordList;
use crate::view::{CallView, View};

/// What kind of act a verb means. Any change supports a general one; the others need a call that is about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    General,
    Send,
    Delete,
    Pay,
    Book,
}

impl Act {
    /// Beginnings of words by which a call shows that it is about the act.
    fn signs(self) -> &'static str {
        match self {
            Self::General => "",
            Self::Send => {
                "send sent mail messag notif forward repl sms invit attendee recipient share \
                 sharing post publish tweet submit submission contact alert slack chat comment \
                 webhook deliver broadcast guest participant channel"
            }
            Self::Delete => {
                "delet remov cancel archiv clos purg eras revok unsubscri drop terminat disabl \
                 clear uninstall deactivat trash destroy resolv unassign prune clean"
            }
            Self::Pay => {
                "pay paid refund charg transfer purchas buy bought order credit reimburs donat \
                 checkout cart invoice billing amount"
            }
            Self::Book => {
                "book reserv schedul appointment event calendar meeting slot itinerar remind \
                 cron"
            }
        }
    }
}

/// Past participles of what an application can do.
static VERBS: [(WordList, Act); 5] = [
    (
        WordList::new(
            "sent emailed mailed messaged notified forwarded replied texted invited shared \
             posted published tweeted submitted alerted contacted",
        ),
        Act::Send,
    ),
    (
        WordList::new(
            "deleted removed cancelled canceled archived closed purged erased revoked \
             unsubscribed dropped terminated disabled cleared uninstalled deactivated",
        ),
        Act::Delete,
    ),
    (
        WordList::new(
            "paid refunded charged transferred purchased bought ordered credited reimbursed",
        ),
        Act::Pay,
    ),
    (WordList::new("booked reserved scheduled rescheduled"), Act::Book),
    (
        WordList::new(
            "created updated added changed saved configured installed deployed merged \
             committed pushed uploaded moved renamed edited modified enabled assigned \
             registered placed approved replaced inserted restarted activated subscribed \
             filed stored marked tagged set upgraded reset",
        ),
        Act::General,
    ),
];

/// The same verbs in their base form, after `was able to`.
fn base(word: &str) -> Option<Act> {
    const IRREGULAR: [(&str, &str); 8] = [
        ("send", "sent"),
        ("pay", "paid"),
        ("buy", "bought"),
        ("set", "set"),
        ("reset", "reset"),
        ("cancel", "cancelled"),
        ("drop", "dropped"),
        ("transfer", "transferred"),
    ];
    let irregular = IRREGULAR.iter().find(|(base, _)| *base == word).map(|(_, past)| *past);
    let is_past = |past: &str| {
        irregular == Some(past)
            || past.strip_suffix("ed") == Some(word)
            || past.strip_suffix('d') == Some(word)
            || word.strip_suffix('y').is_some_and(|stem| past.strip_suffix("ied") == Some(stem))
    };
    VERBS.iter().find(|(verbs, _)| verbs.iter().any(is_past)).map(|(_, act)| *act)
}

/// The act that a past participle means.
fn act(past: &str) -> Option<Act> {
    VERBS.iter().find(|(verbs, _)| verbs.has(past)).map(|(_, act)| *act)
}

/// What an answer itself consists of: whoever created one of these may have written it into the answer.
static TEXTS: WordList = WordList::new(
    "summary summaries list table plan overview draft breakdown comparison outline report \
     itinerary analysis description answer response recommendation recommendations example \
     examples snippet code function poem template version section sections notes explanation \
     guide checklist chart diagram query script details information info links schedule timeline \
     text wording suggestion suggestions sizes totals column columns figures numbers dates prices",
);

/// Verbs of writing, which an answer may fulfil by itself.
static WRITES: WordList =
    WordList::new("created added updated edited modified changed replaced marked");

/// Signs that something is kept outside of the answer.
static KEPT: WordList = WordList::new(
    "/ file calendar drive database folder repository repo ticket issue crm account notion sheet \
     board wiki inbox branch project workspace server system",
);

/// An act that an answer claims without a call that did it.
pub(super) struct Unsupported {
    pub(super) words: String,
    /// Whether no call changed anything; otherwise no call is about this act.
    pub(super) is_alone: bool,
}

/// The calls that may have changed something, in their order.
pub(super) struct Changes<'v, 't>(Vec<(&'v CallView<'t>, Effect)>);

/// Among more changes than these, something is always about the act.
const MAX_CHANGES: usize = 200;

impl<'v, 't> Changes<'v, 't> {
    pub(super) fn new(view: &'v View<'t>) -> Self {
        let done =
            view.calls.iter().filter(|call| call.is_accepted()).map(|call| (call, call.effect()));
        Self(done.filter(|(_, effect)| *effect != Effect::Reads).collect())
    }

    fn before(&self, step: usize) -> &[(&'v CallView<'t>, Effect)] {
        let end = self.0.partition_point(|(call, _)| call.step < step);
        &self.0[end.saturating_sub(MAX_CHANGES)..end]
    }
}

/// The claimed acts of an answer that no call supports.
pub(super) fn unsupported(
    view: &View<'_>,
    changes: &Changes<'_, '_>,
    step: usize,
    sentences: &[Sentence<'_>],
) -> Vec<Unsupported> {
    let mut found = Vec::new();
    let changes = changes.before(step);
    let stated = sentences.iter().filter(|sentence| sentence.mood == Mood::Statement);
    for (words, act) in stated.take(2000).flat_map(|sentence| acts(sentence.text)) {
        let is_supported = changes.iter().rev().any(|(call, _)| is_about(call, act));
        if !is_supported && !is_quoted(view, step, &words) {
            let is_alone = changes.iter().all(|(_, effect)| *effect == Effect::Unknown);
            found.push(Unsupported { words, is_alone });
        }
        if found.len() >= 10 {
            break;
        }
    }
    found
}

fn is_about(call: &CallView<'_>, act: Act) -> bool {
    const MOST: usize = 20_000;
    if act == Act::General {
        return true;
    }
    let start = |text: &str| text[..text.floor_char_boundary(MOST)].to_lowercase();
    let has = |text: &str| act.signs().split_ascii_whitespace().any(|sign| text.contains(sign));
    let described = call.tool().and_then(|tool| tool.description()).unwrap_or_default();
    let args = call.call.args.json().map(ToString::to_string).unwrap_or_default();
    has(&start(&call.call.name))
        || has(&start(described))
        || has(&start(&args))
        || has(&start(call.text()))
}

/// Whether the words are those of another author: a result or the user has them, too.
fn is_quoted(view: &View<'_>, step: usize, words: &str) -> bool {
    let results = view.calls.iter().filter(|call| call.step < step).map(CallView::text);
    let users = view.trace.steps[..step]
        .iter()
        .filter_map(|step| step.as_message())
        .map(|message| message.text.as_str());
    results.chain(users).any(|text| text.contains(words))
}

/// The acts that a sentence claims for its speaker.
fn acts(sentence: &str) -> Vec<(String, Act)> {
    let plain = sentence.replace('\u{2019}', "'");
    let words: Vec<(usize, String)> = split_words(&plain);
    let lower = plain.to_lowercase();
    let is_condition = words.first().is_some_and(|(_, word)| {
        matches!(word.as_str(), "if" | "once" | "when" | "unless" | "before" | "after")
    });
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() && !is_condition {
        let (place, word) = &words[at];
        let is_subject = matches!(word.as_str(), "i" | "we" | "i've" | "we've");
        at += 1;
        if !is_subject || is_inside_quotes(&plain[..*place]) {
            continue;
        }
        if let Some((verb_at, act)) = verb_after(&words, at) {
            let end =
                words.get(verb_at + 4).map_or(plain.trim_end().len(), |(at, _)| *at).max(*place);
            let verb = words[verb_at].1.as_str();
            let object: Vec<&str> =
                words[verb_at + 1..].iter().take(8).map(|(_, word)| word.as_str()).collect();
            let is_text = WRITES.has(verb)
                && TEXTS.has_any(&object)
                && !KEPT
                    .iter()
                    .any(|sign| lower[lower.floor_char_boundary(*place)..].contains(sign));
            if !is_text {
                found.push((plain[*place..end.min(plain.len())].trim_end().to_owned(), act));
            }
            at = verb_at + 1;
        }
    }
    found
}

/// The words of a text in lower case with their places; apostrophes belong to words.
fn split_words(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric() || c == '\'', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, text[from..at].to_lowercase()));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The first verb of an act that belongs to the subject before a place.
fn verb_after(words: &[(usize, String)], from: usize) -> Option<(usize, Act)> {
    let mut joins = true;
    let mut able = false;
    for (at, (_, word)) in words.iter().enumerate().skip(from).take(25) {
        let word = word.as_str();
        match word {
            "not" | "never" | "couldn't" | "can't" | "cannot" | "haven't" | "didn't" | "wasn't"
            | "don't" | "unable" | "won't" | "no" | "can" | "could" | "will" | "would" | "may"
            | "might" | "should" | "need" | "want" | "wanted" | "plan" | "tried" | "attempted"
            | "i" | "i'd" | "i'll" | "you" | "which" | "that" | "who" | "if" | "hasn't"
            | "without" => return None,
            "have" | "'ve" | "just" | "already" | "also" | "now" | "successfully" | "finally"
            | "then" | "went" | "gone" | "ahead" | "and" | "both" | "first" | "since"
            | "therefore" | "automatically" | "manually" | "been" | "had" => joins = true,
            "able" | "managed" => able = true,
            "to" if able => joins = true,
            _ => {
                let verb = act(word).or_else(|| base(word).filter(|_| able));
                let after_and = at > from && words[at - 1].1 == "and" && at > from + 1;
                let next = words.get(at + 1).map_or("", |(_, word)| word.as_str());
                let takes_object = matches!(
                    next,
                    "it" | "them"
                        | "the"
                        | "a"
                        | "an"
                        | "your"
                        | "this"
                        | "that"
                        | "you"
                        | "all"
                        | "both"
                        | "these"
                        | "those"
                        | "to"
                );
                if let Some(act) = verb.filter(|_| joins && (!after_and || takes_object)) {
                    return Some((at, act));
                }
                joins = false;
            }
        }
    }
    None
}

fn is_inside_quotes(before: &str) -> bool {
    let straight = before.chars().filter(|c| *c == '"').count() % 2 == 1;
    let open = before.chars().filter(|c| matches!(c, '“' | '„' | '«')).count();
    let closed = before.chars().filter(|c| matches!(c, '”' | '»')).count();
    straight || open > closed
}

pub(super) fn message(claim: &Unsupported) -> String {
    let words = one_line(&claim.words, 80);
    if claim.is_alone {
        format!("the answer claims \"{words}\", but no successful call changes anything")
    } else {
        format!("the answer claims \"{words}\", but no successful call is about that")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_person_acts_are_claims() {
        for text in [
            "I have sent the report to Ann.",
            "I've just created a ticket for it.",
            "Done! I successfully booked the room.",
            "I was able to cancel your order.",
            "I looked it up and refunded the payment.",
            "We\u{2019}ve now deleted it.",
            "I went ahead and scheduled the meeting.",
            "I updated the file /a/b.txt.",
        ] {
            assert_eq!(acts(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn negations_passives_reports_and_texts_are_not_claims() {
        for text in [
            "I have not sent it.",
            "I haven't created anything.",
            "The order was cancelled on May 3.",
            "I found the report created by Ann.",
            "You have sent 3 messages.",
            "I couldn't find it, so nothing was deleted.",
            "Ann wrote: \"I have sent the report\".",
            "If I have sent it, ignore this.",
            "I checked the issue and closed items.",
            "I've created a summary of your mails below.",
            "I see that the invoice was paid.",
        ] {
            assert!(acts(text).is_empty(), "{text}: {:?}", acts(text));
        }
    }
}
