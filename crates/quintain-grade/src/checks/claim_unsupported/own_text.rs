//! Acts that an answer does by itself: it writes a table, marks a row, or shares a list below.

use crate::values::word_list::WordList;

/// What an answer itself consists of: whoever created one of these may have written it into the answer.
static TEXTS: WordList = WordList::new(
    "summary summaries list table plan overview draft breakdown comparison outline report \
     itinerary analysis description answer response recommendation recommendations example \
     examples snippet code function poem template version section sections notes explanation \
     guide checklist chart diagram query script details information info links schedule timeline \
     text wording suggestion suggestions sizes totals column columns figures numbers dates prices \
     unit units duplicates understanding context emphasis formatting ranking order \
     headings bullets assumptions estimate estimates calculation calculations percentages",
);

/// Verbs of writing, which an answer may fulfil by itself.
static WRITES: WordList = WordList::new(
    "created added updated edited modified changed replaced marked removed set dropped inserted \
     renamed moved cleared corrected",
);

/// Verbs of writing and showing, whose object may be a part of the answer if it names the place: "marked it in bold", "shared it
/// below".
static SHOWS: WordList = WordList::new(
    "created added updated edited changed replaced marked removed set inserted shared posted saved \
     recorded logged placed filed tagged moved attached linked switched",
);

/// Verbs of editing a text that the user pasted.
static EDITS: WordList = WordList::new(
    "added deleted removed renamed merged replaced inserted edited changed updated swapped split \
     combined joined dropped cleared corrected moved reordered numbered modified marked tagged",
);

/// Signs that an edit concerns something other than the text of the conversation.
const NOT_TEXT: [&str; 18] = [
    "meeting",
    "appointment",
    "event",
    "user ",
    "customer",
    "contact",
    "your order",
    "the order ",
    "booking",
    "reservation",
    "subscription",
    "mail",
    "reminder",
    "task",
    "record",
    "payment",
    "password",
    "permission",
];

/// Where something is in an answer.
const IN_ANSWER: [&str; 14] = [
    " below",
    " above",
    " here",
    " in bold",
    " in italics",
    " in brackets",
    " in parentheses",
    " in the table",
    " in a table",
    " in the list",
    " in a list",
    " in this answer",
    " with an asterisk",
    " for last",
];

/// Verbs that mean something else with the word that follows: "added up", "ordered by price".
const IDIOMS: [(&str, &str); 13] = [
    ("added", "up together"),
    ("set", "out forth aside"),
    ("moved", "on through past"),
    ("opened", "with by"),
    ("closed", "with by"),
    ("turned", "to into out"),
    ("ordered", "by alphabetically chronologically"),
    ("reordered", "by alphabetically chronologically"),
    ("saved", "you"),
    ("placed", "first last"),
    ("committed", "to"),
    ("resolved", "to"),
    ("posted", "about"),
];

/// Signs that something is kept outside of the answer.
static KEPT: WordList = WordList::new(
    "/ file calendar drive database folder repository repo ticket issue crm account notion sheet \
     board wiki inbox branch project workspace server system playlist cart",
);

/// Whom a query is sent to by a call that only reads.
static ASKED: WordList = WordList::new("server api database service tool endpoint index backend");

/// What leaves nothing to be done.
pub(super) static NOTHING: WordList = WordList::new("nothing none neither no nobody nowhere");

/// Whether the act is done by the answer itself, by asking a server, or was not done.
pub(super) fn is_about_text(verb: &str, object: &[String], rest: &str) -> bool {
    let first = object.first().map_or("", String::as_str);
    let rest = rest.to_lowercase();
    let is_kept = || KEPT.iter().any(|sign| rest.contains(sign));
    let is_written = WRITES.has(verb) && TEXTS.has_any(object) && !is_kept();
    let has = |words: &[&str]| object.iter().take(4).any(|word| words.contains(&word.as_str()));
    let is_query = matches!(verb, "sent" | "submitted" | "placed")
        && has(&["query", "request", "search", "lookup", "call"])
        && ASKED.has_any(object);
    let saves_time = verb == "saved" && has(&["time", "effort", "trouble", "work"]);
    // "I opened the file" reads it.
    let only_opens = verb == "opened"
        && !has(&["ticket", "issue", "pr", "pull", "incident", "case", "account", "bug"]);
    let turns = verb != "turned" || has(&["on", "off", "up", "down"]);
    // "I removed duplicate rows" is about the rows of the answer.
    let removes_doubles = matches!(verb, "removed" | "dropped")
        && object.windows(2).any(|pair| pair[0] == "duplicate" && pair[1].ends_with('s'))
        && !is_kept();
    // "I ordered the results by price"
    let sorts = matches!(verb, "ordered" | "reordered")
        && has(&["by", "alphabetically", "chronologically", "list", "rows", "results"]);
    let is_idiom =
        IDIOMS.iter().any(|(one, next)| *one == verb && next.split(' ').any(|next| next == first));
    let is_shown =
        SHOWS.has(verb) && IN_ANSWER.iter().any(|place| has_phrase(&rest, place)) && !is_kept();
    NOTHING.has(first)
        || is_written
        || is_shown
        || is_idiom
        || sorts
        || removes_doubles
        || is_query
        || saves_time
        || only_opens
        || !turns
}

/// Whether an answer edits a text and shows the outcome: after a colon, or in a block of code.
pub(super) fn shows_edit(verb: &str, sentence: &str, answer: &str) -> bool {
    let sentence = sentence.to_lowercase();
    let (act, outcome) = sentence.split_once(':').unwrap_or((&sentence, ""));
    let is_shown = sentence.trim_end().ends_with(':')
        || !outcome.trim().is_empty()
        || answer.contains("```")
        || answer.contains("~~~");
    EDITS.has(verb)
        && is_shown
        && !KEPT.iter().any(|sign| act.contains(sign))
        && !NOT_TEXT.iter().any(|sign| act.contains(sign))
}

/// Whether a text has a phrase that no letter follows.
fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase)
        .any(|(at, _)| !text[at + phrase.len()..].starts_with(char::is_alphanumeric))
}
