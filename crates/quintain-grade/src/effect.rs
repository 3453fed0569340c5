//! Whether a call only reads or changes something, by what its server declares, by its arguments and by the words of its
//! name.

use quintain_content::json_value;
use quintain_evidence::lexicon::{self, Sense};
use quintain_evidence::trace::CallKind;

use crate::values::word_list::WordList;
use crate::view::CallView;

/// What a call does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Changes,
    /// Nothing says it.
    Unknown,
}

/// Verbs that compute or look up, and change nothing.
static COMPUTES: WordList = WordList::new(
    "calculate compute convert translate geocode estimate forecast detect classify compare \
     extract parse preview retrieve retrieves download crawl scrape whois ping weather quote \
     track evaluate solve think recommend suggest",
);

/// Words that are objects of other verbs more often than verbs, unless they come first.
static OBJECTS: WordList = WordList::new(
    "message comment note report order book log record issue label tag post mark plan schedule \
     share link page web request request feed index format",
);

pub(crate) fn effect(call: &CallView<'_>) -> Effect {
    if call.call.kind != CallKind::Tool {
        return Effect::Reads;
    }
    if writes_by_arguments(call) {
        return Effect::Changes;
    }
    if let Some(tool) = call.tool() {
        match tool.hint("readOnlyHint") {
            Some(true) => return Effect::Reads,
            Some(false) => return Effect::Changes,
            None => {}
        }
        if tool.hint("destructiveHint") == Some(true) {
            return Effect::Changes;
        }
    }
    let name = lexicon::words(&call.call.name);
    match by_words(&name) {
        Effect::Unknown => {
            // `departures`, `prices`: the name of what is listed.
            let is_list = name
                .last()
                .is_some_and(|word| word.len() > 4 && word.ends_with('s') && !word.ends_with("ss"));
            if is_list && name.len() == 1 {
                return Effect::Reads;
            }
            let said = call.tool().and_then(|tool| tool.description()).unwrap_or_default();
            let first = lexicon::words(said).into_iter().next();
            first.map_or(Effect::Unknown, |word| {
                let plain = word.strip_suffix('s').unwrap_or(&word).to_owned();
                by_words(&[plain])
            })
        }
        effect => effect,
    }
}

/// The first word that says something decides: `get_message` reads, `send_report` changes.
fn by_words(words: &[String]) -> Effect {
    let reads = |word: &str| {
        Sense::OnlyLooks.is(word)
            || Sense::Looks.is(word)
            || Sense::Reads.is(word)
            || COMPUTES.has(word)
    };
    let changes = |word: &str| {
        [
            Sense::Writes,
            Sense::Destroys,
            Sense::Moves,
            Sense::Grants,
            Sense::Acts,
            Sense::Sends,
            Sense::Sets,
        ]
        .iter()
        .any(|sense| sense.is(word))
    };
    for (index, word) in words.iter().enumerate() {
        let is_object = OBJECTS.has(word);
        let rest = &words[index + 1..];
        if is_object && (index > 0 || rest.iter().any(|word| reads(word))) {
            continue;
        }
        if reads(word) && word != "export" {
            return Effect::Reads;
        }
        if changes(word) {
            return Effect::Changes;
        }
    }
    Effect::Unknown
}

/// Queries and requests say themselves whether they change something.
fn writes_by_arguments(call: &CallView<'_>) -> bool {
    let Some(args) = call.call.args.object() else { return false };
    let method = args
        .iter()
        .find(|(key, _)| key.eq_ignore_ascii_case("method"))
        .and_then(|(_, value)| value.as_str());
    if method.is_some_and(|method| {
        ["POST", "PUT", "PATCH", "DELETE"].iter().any(|one| method.eq_ignore_ascii_case(one))
    }) {
        return true;
    }
    let sql = |text: &str| {
        let first = text.split_whitespace().next().unwrap_or_default();
        [
            "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "TRUNCATE", "MERGE",
            "REPLACE", "GRANT",
        ]
        .iter()
        .any(|verb| first.eq_ignore_ascii_case(verb))
            && ["INTO", "SET", "FROM", "TABLE", "INDEX", "VIEW", "DATABASE", "USING", "TO", "ON"]
                .iter()
                .any(|word| text.split_whitespace().any(|one| one.eq_ignore_ascii_case(word)))
    };
    let keys = ["sql", "query", "statement", "command"];
    let mut queries =
        args.iter().filter(|(key, _)| keys.iter().any(|one| key.eq_ignore_ascii_case(one)));
    queries.any(|(_, value)| json_value::texts(value).into_iter().any(sql))
}

/// Whether a call succeeded as far as its server says.
pub(crate) fn succeeded(call: &CallView<'_>) -> bool {
    !call.call.is_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_verb_decides() {
        for (name, expected) in [
            ("get_message", Effect::Reads),
            ("send_report", Effect::Changes),
            ("createOrder", Effect::Changes),
            ("order_status", Effect::Reads),
            ("book_flight", Effect::Changes),
            ("cancel-booking", Effect::Changes),
            ("list_posts", Effect::Reads),
            ("search", Effect::Reads),
            ("convert_currency", Effect::Reads),
            ("frobnicate", Effect::Unknown),
        ] {
            assert_eq!(by_words(&lexicon::words(name)), expected, "{name}");
        }
    }
}
