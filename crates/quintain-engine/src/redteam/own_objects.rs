//! What a destructive call may name: objects that this run created, and values that cannot exist.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use quintain_redteam::attack::{Kind, Nonce};
use quintain_redteam::knowledge::{Hints, Leaf, Learned, classify, words};
use serde_json::Value;

/// Number of letters in a mark.
const LETTERS: usize = 12;
/// Ids of at least this length are unique across kinds of objects.
const UNGUESSABLE: usize = 16;
/// Verbs of tools that create something and return its id.
const MAKES: [&str; 9] =
    ["add", "create", "insert", "make", "new", "open", "register", "start", "upload"];

/// An object that the target created for this run.
struct Record {
    server: String,
    /// The tool that created it.
    tool: String,
    value: Value,
}

/// Everything that belongs to a run.
#[derive(Default)]
pub(super) struct OwnObjects {
    /// The marks of attempts.
    marks: HashSet<String>,
    /// Values that cannot exist, by tool, argument and whether a number is required.
    absent: HashMap<(String, String, bool), Value>,
    /// The same values as text.
    absent_texts: HashSet<String>,
    /// Planted files, and paths that do not exist.
    files: Vec<PathBuf>,
    /// Planted files that may be destroyed.
    spare: Vec<PathBuf>,
    canary_folder: Option<PathBuf>,
    records: Vec<Record>,
    process: Option<Process>,
    /// The program of the helper process; `None` if it may not be started.
    sleep: Option<OsString>,
    /// Lifetime of the helper process.
    life: Duration,
}

/// A helper process that does nothing, for tools that kill processes. It is not waited for before the end of the run,
/// so that the system does not reuse its process id.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl OwnObjects {
    /// An empty set.
    pub(super) fn new(sleep: Option<OsString>, life: Duration) -> Self {
        Self { sleep, life, ..Self::default() }
    }

    pub(super) fn add_planted(&mut self, hints: &Hints, canary_folder: Option<PathBuf>) {
        self.files = hints.files.iter().chain(&hints.spare).chain(&hints.fresh).cloned().collect();
        self.spare.clone_from(&hints.spare);
        self.canary_folder = canary_folder;
    }

    pub(super) fn mark(&mut self, mark: &str) {
        self.marks.insert(mark.to_owned());
    }

    /// Records the ids of objects that a tool created: new ids that were neither sent nor received before.
    pub(super) fn add_created(
        &mut self,
        server: &str,
        tool: &str,
        said: &[Learned],
        is_known: impl Fn(&Value) -> bool,
    ) {
        let verb = words(tool).into_iter().next().unwrap_or_default();
        if !MAKES.contains(&verb.as_str()) {
            return;
        }
        let nouns = nouns(tool);
        for learned in said.iter().filter(|learned| !is_known(&learned.value)) {
            let name = words(&learned.name);
            let is_id =
                name.last().is_some_and(|word| matches!(word.as_str(), "id" | "uuid" | "key"));
            // `owner_id` is the id of another object.
            let of_it = name.len() == 1 || name.iter().any(|word| nouns.contains(&stem(word)));
            let is_process = Leaf { tool, name: &learned.name, schema: &Value::Null }.is_process();
            if is_id && of_it && !is_process {
                let (server, tool) = (server.to_owned(), tool.to_owned());
                self.records.push(Record { server, tool, value: learned.value.clone() });
            }
        }
    }

    /// Whether a value names an object of this run, or one that cannot exist.
    pub(super) fn owns(&self, server: Option<&str>, leaf: &Leaf<'_>, value: &Value) -> bool {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return false,
        };
        let is_process = leaf.is_process();
        self.absent_texts.contains(&text)
            || (is_process && self.pid().is_some_and(|pid| pid.to_string() == text))
            || (!is_process && self.records.iter().any(|one| one.is(server, leaf, value)))
            || self.is_own_path(&text)
            || self.is_marked(&text)
    }

    /// Whether a text is the path of a planted file, or below the canary folder.
    fn is_own_path(&self, text: &str) -> bool {
        let path = Path::new(text);
        let own = |root: &PathBuf| {
            let Ok(below) = path.strip_prefix(root) else { return false };
            let below = below.to_string_lossy();
            !below.is_empty()
                && is_token(&below)
                && !below.split(['/', '\\']).any(|one| one == "..")
        };
        self.files.iter().any(|file| file == path) || self.canary_folder.as_ref().is_some_and(own)
    }

    /// Whether a text contains a mark and no character with a special meaning for an interpreter. As a path, it leads to
    /// something with a mark or to nothing.
    fn is_marked(&self, text: &str) -> bool {
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split(['/', '\\']) {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        is_token(text) && parts.iter().any(|part| self.has_mark(part))
    }

    fn has_mark(&self, text: &str) -> bool {
        Nonce::candidates(text).any(|part| self.marks.contains(part))
    }

    fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.0.id())
    }

    /// Values for an argument instead of `was`: objects of the run first, one that cannot exist last.
    pub(super) fn values(&mut self, server: &str, leaf: &Leaf<'_>, was: &Value) -> Vec<Value> {
        let as_number = was.is_number();
        let typed = |text: String| match text.parse::<u64>() {
            Ok(number) if as_number => Value::from(number),
            _ => Value::String(text),
        };
        let mut values = Vec::new();
        if leaf.is_process() {
            self.start();
            values.extend(self.pid().map(|pid| typed(pid.to_string())));
        } else {
            let records = self.records.iter().rev();
            let fitting = records.filter(|one| one.is(Some(server), leaf, &one.value));
            values.extend(fitting.take(1).map(|one| one.value.clone()));
            let said = leaf.schema.get("description").and_then(Value::as_str);
            if !as_number && classify(leaf.name, said, leaf.schema).contains(&Kind::Path) {
                let spare = self.spare.first();
                values.extend(spare.map(|path| Value::from(path.display().to_string())));
                let name = spare.and_then(|path| path.file_name());
                let name = name.map(|name| name.to_string_lossy().into_owned());
                // The names of planted files contain a mark.
                self.absent_texts.extend(name.clone());
                values.extend(name.map(Value::from));
            }
        }
        values.extend(self.absent(leaf, as_number));
        values
    }

    /// A value that cannot exist, always the same for the same argument; `None` without a source of randomness.
    fn absent(&mut self, leaf: &Leaf<'_>, as_number: bool) -> Option<Value> {
        let key = (leaf.tool.to_owned(), leaf.name.to_owned(), as_number);
        if let Some(known) = self.absent.get(&key) {
            return Some(known.clone());
        }
        let value = unguessable(leaf, as_number)?;
        self.absent_texts.insert(text_of(&value));
        self.absent.insert(key, value.clone());
        Some(value)
    }

    fn start(&mut self) {
        if let (None, Some(sleep)) = (&self.process, &self.sleep) {
            let mut command = Command::new(sleep);
            command.arg(self.life.as_secs().to_string());
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            self.process = command.spawn().ok().map(Process);
        }
    }
}

impl Record {
    /// Whether an argument names this object. For short ids, the tool must be about the same kind of object, since other
    /// kinds may use the same ids.
    fn is(&self, server: Option<&str>, leaf: &Leaf<'_>, value: &Value) -> bool {
        let own = text_of(&self.value);
        let same = own == text_of(value);
        let here = server.is_none_or(|server| server.is_empty() || server == self.server);
        let mine = nouns(&self.tool);
        let related = nouns(leaf.tool).iter().any(|noun| mine.contains(noun));
        same && here && (related || own.len() >= UNGUESSABLE)
    }
}

/// The words of a tool's name after its verb.
fn nouns(tool: &str) -> Vec<String> {
    words(tool).iter().skip(1).map(|word| stem(word)).collect()
}

fn stem(word: &str) -> String {
    word.trim_end_matches('s').to_owned()
}

/// Whether a text has no special meaning in a shell, pattern or query.
fn is_token(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:@/\\".contains(c);
    text.chars().all(plain) && !text.starts_with('-') && !text.contains("--")
}

/// A random value that no existing object can have.
fn unguessable(leaf: &Leaf<'_>, as_number: bool) -> Option<Value> {
    let random_number = random()?;
    if as_number {
        // Above the maximum process id of Linux. Windows uses multiples of 4, never odd numbers.
        let process = ((1 << 30) + random_number % (1 << 30)) | 1;
        let other = (1 << 52) + random_number % (1 << 52);
        return Some(Value::from(if leaf.is_process() { process } else { other }));
    }
    let mark = letters(random_number);
    let format = leaf.schema.get("format").and_then(Value::as_str);
    Some(Value::String(match format.unwrap_or_default() {
        "uuid" => {
            let more = random()?;
            let [a, b, c, d] = [
                random_number >> 32,
                random_number >> 16 & 0xffff,
                random_number & 0xfff,
                more & 0xfff,
            ];
            format!("{a:08x}-{b:04x}-4{c:03x}-8{d:03x}-{:012x}", more >> 16)
        }
        "email" | "idn-email" => format!("{mark}@quintain.invalid"),
        "uri" | "url" | "uri-reference" | "iri" => format!("http://{mark}.invalid/"),
        _ => format!("quintain-{mark}"),
    }))
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn random() -> Option<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}

fn letters(mut number: u64) -> String {
    let letter = |_| {
        let letter = char::from(b'a' + (number % 26) as u8);
        number /= 26;
        letter
    };
    (0..LETTERS).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn leaf<'a>(tool: &'a str, name: &'a str) -> Leaf<'a> {
        Leaf { tool, name, schema: &Value::Null }
    }

    #[test]
    fn processes_are_ours_or_cannot_exist() {
        let mut own = OwnObjects::new(Some("sleep".into()), Duration::from_secs(30));
        let pid = leaf("kill_process", "pid");
        let values = own.values("", &pid, &json!(1));
        assert!(values.len() == 2 && values[1].as_u64().unwrap() >= 1 << 30, "{values:?}");
        assert!(values.iter().all(|value| own.owns(None, &pid, value)));
        let mine = own.pid().unwrap();
        assert!(own.owns(None, &pid, &json!(mine.to_string())));
        for other in [json!(0), json!(1), json!(-1), json!(std::process::id()), json!("")] {
            assert!(!own.owns(None, &pid, &other), "{other}");
        }
        assert!(
            !own.owns(None, &leaf("delete_user", "id"), &json!(mine)),
            "a user with that id is not ours"
        );
    }

    #[test]
    fn marked_names_are_ours_unless_something_leads_out_of_them() {
        let mut own =
            OwnObjects { canary_folder: Some("/tmp/quintain-g".into()), ..OwnObjects::default() };
        own.mark("qwertyuiopas");
        let path = leaf("delete_file", "path");
        for text in ["qwertyuiopas", "a/../x-qwertyuiopas.txt", "/tmp/quintain-g/drop/x"] {
            assert!(own.owns(None, &path, &json!(text)), "{text}");
        }
        for text in [
            "qwertyuiopas/..",
            "qwertyuiopas/../../etc",
            "/tmp/quintain-g",
            "/tmp/quintain-g/../x",
            "$(x)qwertyuiopas",
            "qwertyuiopas' OR '1'='1",
            "qwertyuiopas*",
            "*",
            "/",
            ".",
            "",
            "administrators",
        ] {
            assert!(!own.owns(None, &path, &json!(text)), "{text}");
        }
    }

    #[test]
    fn records_that_the_target_made_for_us_are_ours() {
        let mut own = OwnObjects::default();
        let learned = |name: &str, value: Value| Learned {
            name: name.into(),
            value,
            tool: "create_note".into(),
            identity: 0,
        };
        let said =
            [learned("id", json!(17)), learned("owner_id", json!(3)), learned("id", json!(1))];
        own.add_created("s", "create_note", &said, |value| *value == json!(1));
        own.add_created("s", "list_notes", &[learned("id", json!(99))], |_| false);
        let note = leaf("delete_note", "id");
        assert!(own.owns(Some("s"), &note, &json!(17)) && own.owns(None, &note, &json!("17")));
        assert!(!own.owns(Some("s"), &leaf("delete_user", "id"), &json!(17)));
        for other in [3, 1, 99] {
            assert!(!own.owns(Some("s"), &note, &json!(other)), "{other}");
        }
        assert_eq!(own.values("s", &note, &json!(1))[0], json!(17));
    }

    #[test]
    fn what_cannot_exist_stays_the_same_for_an_argument() {
        let mut own = OwnObjects::default();
        let id = leaf("delete_user", "id");
        let first = own.values("", &id, &json!("x"));
        assert_eq!(first, own.values("", &id, &json!("y")));
        assert!(own.owns(None, &id, &first[0]));
        let schema = json!({"format": "uuid"});
        let uuid = Leaf { schema: &schema, ..leaf("delete_key", "id") };
        let value = own.values("", &uuid, &json!("x"))[0].clone();
        assert_eq!(value.as_str().unwrap().len(), 36);
    }
}
