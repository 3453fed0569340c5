//! The purpose of a tool, by the words of its name and description. All verbs are in `lexicon.txt`, which lists every
//! word once with all its senses; the functions below read names with it.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::surface::Tool;

/// What a word says about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sense {
    /// Changes files or records.
    Writes,
    /// Changes or destroys something for good.
    Destroys,
    /// The same for the first word of a description, where fewer words mean it: `Sends`, `Formats` and `Clears` begin
    /// many harmless descriptions.
    DestroysFirst,
    /// The same for the beginning of a word that joins verb and object: `deleteuser`.
    DestroysJoined,
    /// Reads, or records that something was done.
    Records,
    /// Reads something, whatever annotations say: some servers declare all their tools destructive.
    Looks,
    /// Certainly only reads; all other tools may change their input.
    OnlyLooks,
    /// Removes something from where it is.
    Moves,
    /// Changes permissions or settings, whatever its object.
    Grants,
    /// Changes settings if its object is a setting.
    Sets,
    /// In a query or command: changes something.
    HarmsQuery,
    /// Removes the file it is given.
    TakesAway,
    /// Reads an existing file in.
    TakesIn,
    /// Changes or moves the file it is given.
    Alters,
    /// Reads, for the rules of access control.
    Reads,
    /// Acts on something, for the rules of access control.
    Acts,
    /// Suggests a tool for administrators.
    Administers,
    /// May change every row that matches a condition.
    UpdatesRows,
    /// May write something as a side effect.
    Makes,
    /// Lists existing objects.
    Lists,
    /// Fetches something from the network, or names what it fetches.
    Fetches,
    /// Stores a text for others to read.
    Keeps,
    /// Adds to what others stored under the same name.
    Adds,
    /// Stores its input, so that long texts would remain there.
    Accumulates,
    /// Sends something out.
    Sends,
    /// Creates something that others see.
    Publishes,
    /// Begins names of tools, so that a name in a text may be a tool.
    BeginsNames,
    /// At the start or end of a name: answers a question, or converts or fetches something.
    Answers,
    /// So common in names of servers and tools that it does not identify a product.
    Common,
}

impl Sense {
    const NAMES: [(&'static str, Self); 29] = [
        ("writes", Self::Writes),
        ("destroys", Self::Destroys),
        ("destroys-first", Self::DestroysFirst),
        ("destroys-joined", Self::DestroysJoined),
        ("records", Self::Records),
        ("looks", Self::Looks),
        ("only-looks", Self::OnlyLooks),
        ("moves", Self::Moves),
        ("grants", Self::Grants),
        ("sets", Self::Sets),
        ("harms-query", Self::HarmsQuery),
        ("takes-away", Self::TakesAway),
        ("takes-in", Self::TakesIn),
        ("alters", Self::Alters),
        ("reads", Self::Reads),
        ("acts", Self::Acts),
        ("administers", Self::Administers),
        ("updates-rows", Self::UpdatesRows),
        ("makes", Self::Makes),
        ("lists", Self::Lists),
        ("fetches", Self::Fetches),
        ("keeps", Self::Keeps),
        ("adds", Self::Adds),
        ("accumulates", Self::Accumulates),
        ("sends", Self::Sends),
        ("publishes", Self::Publishes),
        ("begins-names", Self::BeginsNames),
        ("answers", Self::Answers),
        ("common", Self::Common),
    ];

    fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Whether a word has this sense.
    pub fn is(self, word: &str) -> bool {
        SENSES.get(word).is_some_and(|senses| senses & self.bit() != 0)
    }

    /// Whether one of the words has this sense.
    pub fn is_in(self, words: &[String]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    /// Whether a word of the name of a tool has this sense.
    pub fn names(self, tool: &Tool) -> bool {
        self.is_in(&words(tool.name().unwrap_or_default()))
    }

    /// Whether the description of a tool begins with a verb of this sense.
    pub fn begins(self, tool: &Tool) -> bool {
        begins(tool, |word| self.is(word))
    }
}

/// The senses of each word, as bits.
static SENSES: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let lines = include_str!("lexicon.txt").lines().filter_map(|line| line.split_once(':'));
    let entries = lines.filter(|(word, _)| !word.starts_with('#')).map(|(word, senses)| {
        let known =
            Sense::NAMES.iter().filter(|(name, _)| senses.split(' ').any(|one| one == *name));
        (word, known.fold(0, |bits, (_, sense)| bits | sense.bit()))
    });
    entries.collect()
});

/// Phrases in descriptions for irreversible effects.
const FOR_GOOD: [&str; 5] = [
    "cannot be undone",
    "can't be undone",
    "irreversibl",
    "permanently delete",
    "permanently remove",
];

/// The words of a name in lower case: the same for `getUserData`, `get_user_data` and `get-user-data`.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() {
            last = ' ';
            continue;
        }
        let starts = last == ' ' || (c.is_uppercase() && !last.is_uppercase());
        match words.last_mut().filter(|_| !starts) {
            Some(word) => word.extend(c.to_lowercase()),
            None => words.push(c.to_lowercase().collect()),
        }
        last = c;
    }
    words
}

/// Whether a description begins with a verb that `is` accepts; `Deletes` counts as `delete`.
fn begins(tool: &Tool, is: impl Fn(&str) -> bool) -> bool {
    let first = words(tool.description().unwrap_or_default()).into_iter().next();
    first.is_some_and(|word| is(&word) || is(word.strip_suffix('s').unwrap_or(&word)))
}

/// Whether a tool appears to change something.
pub fn writes(tool: &Tool) -> bool {
    tool.hint("readOnlyHint") != Some(true)
        && (Sense::Writes.names(tool) || Sense::Writes.begins(tool))
}

/// Whether the name of a tool says that it only reads, or its description does and the name does not contradict.
/// Annotations do not count.
pub fn only_looks(tool: &Tool) -> bool {
    let named = words(tool.name().unwrap_or_default());
    if Sense::Destroys.is_in(&named) || Sense::Moves.is_in(&named) {
        return false;
    }
    // An export is written to a file or only returned.
    let exports = named.iter().any(|word| word == "export");
    let changes = named.iter().any(|word| Sense::Writes.is(word) && word != "export");
    let returns = begins(tool, |word| matches!(word, "print" | "return"));
    let described = Sense::OnlyLooks.begins(tool) || returns;
    !changes && (described || Sense::OnlyLooks.is_in(&named) && !exports)
}

/// Whether a tool is declared or appears to be destructive.
pub fn claims_to_destroy(tool: &Tool) -> bool {
    sounds_destructive(tool) || says_destructive(tool)
}

/// Whether a tool is declared destructive. If it is declared read-only too, it counts as destructive unless its name
/// says that it only reads.
pub fn says_destructive(tool: &Tool) -> bool {
    let only_reads = tool.hint("readOnlyHint") == Some(true) && only_looks(tool);
    tool.hint("destructiveHint") == Some(true) && !only_reads
}

/// Whether the words of a tool are about destroying. `mark_reboot` with the description `Record that a host was
/// rebooted` is about recording; `record_delete` with a description that begins with `Delete` is not.
pub fn sounds_destructive(tool: &Tool) -> bool {
    let said = tool.description().unwrap_or_default().to_lowercase();
    (is_destructive(tool.name().unwrap_or_default()) && !tells(tool))
        || Sense::DestroysFirst.begins(tool)
        || FOR_GOOD.iter().any(|words| said.contains(words))
}

/// Whether a tool reads, or records that something was done, by its name and description.
pub fn tells(tool: &Tool) -> bool {
    let name = words(tool.name().unwrap_or_default());
    let joins = name.iter().any(|word| matches!(word.as_str(), "and" | "then" | "or"));
    let first = name.first().is_some_and(|verb| Sense::Records.is(verb));
    first && !joins && Sense::Records.begins(tool)
}

/// Whether a tool reads something and changes nothing, by its name.
pub fn looks(tool: &Tool) -> bool {
    Sense::Looks.names(tool) && !Sense::Writes.names(tool)
}

/// Whether a name alone suggests that something is destroyed.
pub fn is_destructive(name: &str) -> bool {
    let joined = |word: &str| {
        let is_done = word.ends_with('d');
        let starts =
            |end: usize| word.get(..end).is_some_and(|verb| Sense::DestroysJoined.is(verb));
        !is_done && (1..=word.len()).any(starts)
    };
    words(name).iter().any(|word| Sense::Destroys.is(word) || joined(word))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn every_word_is_listed_once_in_order_with_known_senses() {
        let text = include_str!("lexicon.txt");
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let words: Vec<&str> = lines.iter().filter_map(|line| line.split(':').next()).collect();
        assert!(words.is_sorted() && words.windows(2).all(|pair| pair[0] != pair[1]));
        for line in lines {
            let (_, senses) = line.split_once(':').unwrap();
            for sense in senses.split_whitespace() {
                assert!(Sense::NAMES.iter().any(|(name, _)| *name == sense), "{line}");
            }
        }
        for (name, sense) in Sense::NAMES {
            assert!(SENSES.values().any(|senses| senses & sense.bit() != 0), "{name}");
        }
    }

    #[test]
    fn names_fall_apart_into_words() {
        for name in ["getUserData", "get_user_data", "get-user-data", "Get User data"] {
            assert_eq!(words(name), ["get", "user", "data"]);
        }
        assert_eq!(words("parseURL2"), ["parse", "url2"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn claims_of_destruction_and_names_that_sound_like_it_count() {
        let tool = |name: &str, hints: Value| Tool(json!({"name": name, "annotations": hints}));
        assert!(claims_to_destroy(&tool("delete_user", json!({}))) && is_destructive("drop_all"));
        assert!(claims_to_destroy(&tool("tidy", json!({"destructiveHint": true}))));
        assert!(!claims_to_destroy(&tool("list_users", json!({}))));
        let look = tool("look", json!({"destructiveHint": true, "readOnlyHint": true}));
        assert!(!claims_to_destroy(&look));
        // Annotations never outweigh a name.
        let claims = json!({"destructiveHint": true, "readOnlyHint": true});
        assert!(claims_to_destroy(&tool("delete_everything", claims)));
        assert!(claims_to_destroy(&tool("delete_everything", json!({"readOnlyHint": true}))));
    }
}
