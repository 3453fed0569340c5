//! What the name of an argument says about its value: an id, a path, a size that the application chooses itself, a text.

use super::word_list::WordList;
use quintain_evidence::lexicon;

/// The role of an argument, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Page sizes, limits and settings of the call itself: the application chooses them.
    OwnChoice,
    /// Texts in the application's own words, and words of formats and kinds.
    Free,
    /// What is searched for.
    Query,
    Id,
    Path,
    Phone,
    Plain,
}

/// Sizes and settings that no user gives.
static CHOSEN: WordList = WordList::new(
    "limit page pages offset cursor skip take top size per batch timeout retry retries attempts \
     depth zoom width height quality dpi precision decimals results count hits rows lines line \
     head tail tokens length chars characters bytes items entries records temperature seed delay \
     wait threshold confidence concurrency ttl radius index position indent level fps steps chunk \
     overlap window k n thought thoughts interval step resolution bucket granularity",
);

static FREE: WordList = WordList::new(
    "name title description text content contents body message subject comment note notes reason \
     summary prompt command script sql expression formula regex topic symbol ticker format \
     encoding charset codec algorithm model engine mode type kind locale language lang color \
     colour font theme style layout currency unit units resolution aspect timezone tz zone method \
     sort fields field columns column scope scopes role status state priority severity category \
     period label labels tags tag location city country address fragment",
);

static QUERY: WordList = WordList::new("query q search keyword keywords pattern term terms filter");

static IDS: WordList = WordList::new(
    "id ids uuid guid key keys ref reference number no code sku isbn ean sha hash commit revision \
     rev version etag token ticket order invoice issue pr account customer user booking \
     reservation tracking serial iban vin asin doi handle task job run case session transaction \
     event",
);

static PATHS: WordList = WordList::new(
    "path paths file files filename filepath dir directory folder source destination src dst dest \
     output input",
);

/// Ids that a caller makes up, so that a call is not carried out twice.
static MADE_UP: WordList = WordList::new("idempotency nonce correlation trace dedup salt");

pub fn role(key: &str) -> Role {
    let words = lexicon::words(key);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_in = |list: &WordList| list.has_any(&words);
    let Some(last) = words.last().map(String::as_str) else { return Role::Plain };
    let ends_as_id = IDS.has(last) || last.ends_with("id") && last.len() > 3 && key.ends_with("Id");
    if has(&["phone", "tel", "telephone", "mobile", "fax", "whatsapp", "msisdn"]) {
        return Role::Phone;
    }
    if ends_as_id {
        let is_sent = has(&["client"]) && has(&["request", "token", "reference"]);
        let made_up =
            (is_in(&MADE_UP) || is_sent) && words.len() > 1 && !has(&["customer", "user", "order"]);
        return if made_up { Role::OwnChoice } else { Role::Id };
    }
    if PATHS.has(last) || has(&["path", "filename", "filepath", "directory", "folder"]) {
        return Role::Path;
    }
    // Coordinates and colours of drawings.
    if is_in(&CHOSEN) || key.len() == 1 {
        return Role::OwnChoice;
    }
    if QUERY.has(last) {
        return Role::Query;
    }
    if FREE.has(last) { Role::Free } else { Role::Plain }
}

/// Whether a key may name an id that the caller makes up, if the value is long and random: `request_id` is also the id of
/// somebody's request.
pub fn may_be_made_up(key: &str) -> bool {
    let words = lexicon::words(key);
    words.len() > 1 && words.iter().any(|word| matches!(word.as_str(), "request" | "client"))
}

/// Whether a key names a number of people.
pub fn counts_people(key: &str) -> bool {
    let people = ["guests", "adults", "people", "persons", "passengers", "travelers", "travellers"];
    lexicon::words(key).iter().any(|word| people.contains(&word.as_str()))
}

/// Whether a key names a name: `name`, `podName`.
pub fn is_name(key: &str) -> bool {
    lexicon::words(key).last().is_some_and(|word| word == "name")
}

/// Whether a word is in a key.
pub fn has_word(key: &str, word: &str) -> bool {
    lexicon::words(key).iter().any(|one| one == word)
}

/// Whether a key names a text that people read.
pub fn is_prose(key: &str) -> bool {
    let texts = [
        "message",
        "comment",
        "text",
        "content",
        "body",
        "title",
        "subject",
        "description",
        "summary",
        "reason",
        "note",
        "notes",
        "prompt",
        "caption",
        "reply",
    ];
    lexicon::words(key).last().is_some_and(|word| texts.contains(&word.as_str()))
}

/// Whether a key names the end or the beginning of a span: such days are often one off, because one of the ends is left out.
pub fn is_end(key: &str) -> bool {
    let ends = [
        "end", "to", "until", "till", "before", "max", "due", "out", "checkout", "stop", "expires",
        "return", "finish", "close", "latest", "deadline", "through",
    ];
    lexicon::words(key).iter().any(|word| ends.contains(&word.as_str()))
}

pub fn is_start(key: &str) -> bool {
    let starts = ["start", "from", "since", "after", "min", "in", "checkin", "begin"];
    lexicon::words(key).iter().any(|word| starts.contains(&word.as_str()))
}

/// Whether a key names something that the call makes.
pub fn is_target(key: &str) -> bool {
    let targets =
        ["output", "out", "dest", "destination", "target", "save", "dst", "export", "to", "new"];
    lexicon::words(key).iter().any(|word| targets.contains(&word.as_str()))
}

/// Whether a key measures time without a unit in its name.
pub fn is_duration(key: &str) -> bool {
    let words = [
        "duration", "length", "minutes", "hours", "seconds", "days", "nights", "weeks", "time",
        "reminder", "remind", "before",
    ];
    lexicon::words(key).iter().any(|word| words.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_the_role_of_arguments() {
        for (key, expected) in [
            ("page_size", Role::OwnChoice),
            ("maxResults", Role::OwnChoice),
            ("max_price", Role::Plain),
            ("customer_id", Role::Id),
            ("issueNumber", Role::Id),
            ("idempotency_key", Role::OwnChoice),
            ("clientRequestToken", Role::OwnChoice),
            ("request_id", Role::Id),
            ("file_path", Role::Path),
            ("query", Role::Query),
            ("body", Role::Free),
            ("amount", Role::Plain),
            ("phoneNumber", Role::Phone),
            ("quantity", Role::Plain),
            ("", Role::Plain),
        ] {
            assert_eq!(role(key), expected, "{key}");
        }
    }
}
