//! Whether a call changes something, as far as the annotations of its tool, its arguments and the words of its name show
//! it: what is certain, and what is likely.

use std::sync::LazyLock;

use quintain_content::json_value::texts;
use quintain_evidence::lexicon::{self, Sense};
use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{Call, CallKind};

use crate::word_list;
use crate::word_pattern::{Test, compile_test, is_match};

/// Verbs that only compute.
const COMPUTES: &str = "\
    calculate compute estimate forecast geocode translate";

/// Verbs that usually look something up or compute it.
const USUALLY_READS: &str = "\
    classify compare convert crawl detect download evaluate extract parse ping preview quote recommend retrieve \
    retrieves scrape solve suggest think weather whois";

/// Records that verbs of `Sense::Answers` change: `resolve_ticket`, `convert_lead`.
const RECORDS: &str = "\
    alert bug case comment complaint conflict conversation discussion dispute incident issue lead opportunity problem \
    prospect report request task thread ticket todo trial";

/// Words that are verbs and nouns. In front of a verb they are nouns: `order_get`, `log_search`.
const NOUNS: &str = "\
    book comment issue log message note order plan record";

/// Words that are objects of other verbs more often than verbs, unless they come first.
const OBJECTS: &str = "\
    book comment feed format index issue label link log mark message note order page plan post record report request \
    schedule share tag web";

/// What a call probably does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Changes,
    /// Nothing says it.
    Unknown,
}

/// Statements that change a database.
static CHANGES: Test = LazyLock::new(|| {
    compile_test(
        r"(?i)^\s*(?:insert\s+into|replace\s+into|merge\s+into|update\s+\S+\s+set|delete\s+from|truncate\s|drop\s+\w|alter\s+\w|create\s+(?:table|index|view|database|schema|or)|grant\s|revoke\s)",
    )
});

/// Whether a call certainly only reads: by `readOnlyHint`, else by the verb of its name. Resources and prompts are read.
pub fn reads_only(call: &Call, tool: Option<&Tool>) -> bool {
    if call.kind != CallKind::Tool {
        return true;
    }
    match tool.and_then(|tool| tool.hint("readOnlyHint")) {
        Some(hint) => hint,
        None => name_reads(&call.name) && !runs_statement(call),
    }
}

/// Whether the verb of a name says that something is only read.
pub fn name_reads(name: &str) -> bool {
    let words = lexicon::words(name);
    let changes = [Sense::Writes, Sense::Destroys, Sense::Moves];
    if changes.iter().any(|sense| sense.is_in(&words)) {
        return false;
    }
    let checks_in =
        words.windows(2).any(|pair| pair[0] == "check" && matches!(pair[1].as_str(), "in" | "out"));
    if checks_in {
        return false;
    }
    if answers(name, &words) {
        return true;
    }
    let mut verbs = words.iter().filter(|word| looks(word) || acts(word));
    match verbs.next() {
        Some(first) if looks(first) => !joins(&words) || verbs.all(|word| looks(word)),
        Some(first) => {
            word_list::contains(NOUNS, first) && verbs.next().is_some_and(|word| looks(word))
        }
        None => false,
    }
}

/// Whether a name begins or ends with a verb that answers: `is_open`, `current_weather`, `file_download`. What a host puts
/// in front of names does not count.
fn answers(name: &str, words: &[String]) -> bool {
    let own = name.rsplit_once("__").map_or(name, |(_, own)| own);
    let own = lexicon::words(own.rsplit(['.', '/', ':']).next().unwrap_or(own));
    let changes = |word: &String| acts(word) && !Sense::Answers.is(word);
    let is_record = |word: &String| {
        word_list::contains(RECORDS, word)
            || word.strip_suffix('s').is_some_and(|one| word_list::contains(RECORDS, one))
    };
    let ends = [own.first(), own.last()];
    ends.into_iter().flatten().any(|word| Sense::Answers.is(word))
        && !words.iter().any(|word| changes(word) || is_record(word))
        && !joins(words)
}

/// Whether a name says that something new is made, or gets a new name.
pub(crate) fn makes(name: &str) -> bool {
    const VERBS: &str = "\
        add book build clone copy create define draft duplicate fork generate import init insert launch make new open \
        provision publish put register rename save schedule set store submit upload upsert write";
    lexicon::words(name).iter().any(|word| word_list::contains(VERBS, word))
}

/// Whether a name says that nothing happens but time passing.
pub(crate) fn waits(name: &str) -> bool {
    let words = lexicon::words(name);
    words
        .first()
        .into_iter()
        .chain(words.last())
        .any(|word| matches!(word.as_str(), "wait" | "sleep" | "delay"))
}

fn looks(word: &str) -> bool {
    let reads = Sense::OnlyLooks.is(word) || Sense::Reads.is(word);
    // `open_ticket`, `launch` and `render` leave something behind.
    let leaves =
        [Sense::Publishes, Sense::Makes, Sense::TakesIn].iter().any(|sense| sense.is(word));
    let visits = Sense::Looks.is(word) && !Sense::Reads.is(word) && !Sense::Records.is(word);
    word == "look" || word_list::contains(COMPUTES, word) || (reads && !leaves && !visits)
}

fn acts(word: &str) -> bool {
    const ACTING: [Sense; 12] = [
        Sense::Acts,
        Sense::Sets,
        Sense::Sends,
        Sense::Publishes,
        Sense::Grants,
        Sense::Makes,
        Sense::Keeps,
        Sense::Adds,
        Sense::Accumulates,
        Sense::TakesAway,
        Sense::TakesIn,
        Sense::Alters,
    ];
    ACTING.iter().any(|sense| sense.is(word))
}

/// `fetch_and_import`: two verbs.
fn joins(words: &[String]) -> bool {
    words.iter().any(|word| matches!(word.as_str(), "and" | "or" | "then"))
}

/// Whether an argument is a statement that changes a database: `run_query` runs anything.
fn runs_statement(call: &Call) -> bool {
    let texts = call.args.json().map(texts).unwrap_or_default();
    texts.into_iter().any(|text| is_match(&CHANGES, text))
}

/// What a call does, as far as anything says it.
pub(crate) fn effect(call: &Call, tool: Option<&Tool>) -> Effect {
    if call.kind != CallKind::Tool {
        return Effect::Reads;
    }
    if sends_a_change(call) || runs_statement(call) {
        return Effect::Changes;
    }
    if let Some(tool) = tool {
        match tool.hint("readOnlyHint") {
            Some(true) => return Effect::Reads,
            Some(false) => return Effect::Changes,
            None => {}
        }
        if tool.hint("destructiveHint") == Some(true) {
            return Effect::Changes;
        }
    }
    let name = lexicon::words(&call.name);
    if name_reads(&call.name) {
        return Effect::Reads;
    }
    match by_words(&name) {
        Effect::Unknown => {
            // `departures`, `prices`: the name of what is listed.
            let is_list =
                |word: &String| word.len() > 4 && word.ends_with('s') && !word.ends_with("ss");
            if name.len() == 1 && name.iter().all(is_list) {
                return Effect::Reads;
            }
            let said = tool.and_then(|tool| tool.description()).unwrap_or_default();
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
            || word_list::contains(COMPUTES, word)
            || word_list::contains(USUALLY_READS, word)
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
        let is_object = word_list::contains(OBJECTS, word);
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

/// Whether a request says by its method that it changes something.
fn sends_a_change(call: &Call) -> bool {
    let args = call.args.object().into_iter().flatten();
    let mut methods = args.filter(|(key, _)| key.eq_ignore_ascii_case("method"));
    let changing = ["POST", "PUT", "PATCH", "DELETE"];
    methods.any(|(_, value)| {
        let method = value.as_str().unwrap_or_default();
        changing.iter().any(|one| method.eq_ignore_ascii_case(one))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    #[test]
    fn verbs_decide() {
        for name in [
            "get_weather",
            "listOrders",
            "search",
            "mcp__github__get_issue",
            "order_status",
            "order_get",
            "log_search",
            "read_file",
            "lookup-user",
            "retrieve_document",
            "calculate_sum",
            "check_availability",
            "get_log",
            "is_available",
            "mcp__shop__has_access",
            "current_weather",
            "convert_currency",
            "file_download",
            "resolve_name",
            "context7.resolve-library-id",
        ] {
            assert!(name_reads(name), "{name}");
        }
        for name in [
            "create_issue",
            "get_or_create_user",
            "check_in_guest",
            "start_check",
            "delete_list",
            "fetch_and_import",
            "open_ticket",
            "share_list",
            "send_status",
            "todo_list_add",
            "wait",
            "resolve_ticket",
            "convert_lead",
            "set_is_admin",
            "play_current_track",
            "convert_and_send",
            "track_event",
            "",
        ] {
            assert!(!name_reads(name), "{name}");
        }
    }

    #[test]
    fn annotations_come_first() {
        let call = Call::tool("get_ticket", json!({}));
        let tool = |hint: bool| Tool(json!({"annotations": {"readOnlyHint": hint}}));
        assert!(reads_only(&call, None));
        assert!(!reads_only(&call, Some(&tool(false))));
        assert!(reads_only(&Call::tool("weather", json!({})), Some(&tool(true))));
    }

    #[test]
    fn statements_that_change_a_database_count() {
        let query = |sql: &str| reads_only(&Call::tool("query", json!({"sql": sql})), None);
        assert!(query("SELECT * FROM updates"));
        assert!(query("how to delete from a list"));
        assert!(!query(" update users set a = 1"));
        assert!(!query("DELETE FROM users"));
    }
}
