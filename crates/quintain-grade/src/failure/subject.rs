//! What a call asks for. It decides whether a result that mentions an error is content or a failure.

use quintain_evidence::lexicon;
use quintain_evidence::surface::Tool;
use quintain_evidence::trace::Call;

use crate::canonical::scalars;
use crate::effect;
use crate::word_list;

/// Names of things that consist of messages about errors.
const LOGS: &str = "\
    alert alerts bug bugs console crash crashes diagnostic diagnostics dmesg err error \
    errors exception exceptions failure failures incident incidents journal journalctl log \
    logs stacktrace stderr stdout syslog trace traceback tracebacks traces warnings";
/// Tools with these words report the state of something, which may be a failure.
const STATES: &str = "\
    build builds deployment deployments health job jobs outcome pipeline poll progress run \
    runs state status statuses task tasks test tests transaction workflow workflows ci";
/// Tools with these words answer a question with yes or no.
const QUESTIONS: &str = "\
    available availability can check compare detect diagnose exists has is lint monitor ping \
    test validate verify";
/// Tools with these words return what people wrote.
const PROSE: &str = "\
    article comment comments diary document email emails feedback letter mail mails memo message messages note notes \
    post posts review reviews thread transcript";
/// Arguments that are compared with a result. More are not needed to recognise it.
const MAX_ARGS: usize = 64;
/// A shorter text occurs anywhere.
const MIN_NAMED: usize = 3;
/// Short names of tools, such as `read`, are ordinary words.
const MIN_TOOL: usize = 8;

pub(super) struct Subject<'c> {
    pub(super) name: &'c str,
    /// The tool certainly only reads.
    pub(super) reads: bool,
    /// Errors themselves are asked for: logs, crashes, incidents.
    pub(super) is_log: bool,
    /// The name of the tool mentions errors or logs.
    pub(super) is_named_log: bool,
    /// A text of the arguments, such as a query, mentions errors.
    pub(super) mentions_errors: bool,
    pub(super) is_state: bool,
    /// The tool is about runs and states, whether it reads or starts them.
    pub(super) runs: bool,
    /// The tool certainly changes something.
    pub(super) changes: bool,
    /// The words of the name of the tool.
    pub(super) words: Vec<String>,
    pub(super) is_question: bool,
    /// The tool reads what people wrote.
    pub(super) is_prose: bool,
    /// The scalars of the arguments.
    pub(super) args: Vec<String>,
}

impl<'c> Subject<'c> {
    pub(super) fn new(call: &'c Call, tool: Option<&Tool>) -> Self {
        let words = lexicon::words(&call.name);
        let named = |list: &str| words.iter().any(|word| word_list::contains(list, word));
        let mut args = call.args.json().map(scalars).unwrap_or_default();
        args.truncate(MAX_ARGS);
        let is_log =
            |text: &str| lexicon::words(text).iter().any(|word| word_list::contains(LOGS, word));
        let texts = args.iter().filter(|arg| arg.len() < 500);
        let (queries, names): (Vec<_>, Vec<_>) = texts.partition(|arg| arg.contains(' '));
        let reads = effect::reads_only(call, tool);
        // `log_time` and `create_alert` write; what they return is no log.
        let logs = words.len() > 1 && words.first().is_some_and(|word| word == "log") && !reads;
        let changes = logs || effect::effect(call, tool) == effect::Effect::Changes;
        let is_named_log = named(LOGS) && !changes;
        Self {
            name: &call.name,
            reads,
            is_log: is_named_log || !changes && names.into_iter().any(|name| is_log(name)),
            is_named_log,
            mentions_errors: !changes && queries.into_iter().any(|query| is_log(query)),
            is_state: reads && named(STATES),
            runs: named(STATES),
            changes,
            is_question: named(QUESTIONS),
            is_prose: reads && named(PROSE),
            words,
            args,
        }
    }

    /// Whether a text names the tool or one of its arguments.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        let mut args = self.args.iter().filter(|arg| arg.len() >= MIN_NAMED);
        (self.name.len() >= MIN_TOOL && text.contains(self.name))
            || args.any(|arg| text.contains(arg.as_str()))
    }

    /// Whether a key is the participle of what the tool does: `merged` of `merge_branch`.
    pub(super) fn is_done_key(&self, key: &str) -> bool {
        let is_past = |word: &str| match word {
            "send" => key == "sent",
            "pay" => key == "paid",
            "make" => key == "made",
            _ => {
                let stem = word.strip_suffix(['e', 'y']).unwrap_or(word);
                let ending = key.strip_prefix(stem).unwrap_or_default();
                let last = word.chars().next_back();
                word.len() > 2
                    && (matches!(ending, "ed" | "ied")
                        || ending.strip_suffix("ed").is_some_and(|one| one.chars().eq(last)))
            }
        };
        // Of `create_or_update` only one can be done.
        let joins = |word: &String| matches!(word.as_str(), "or" | "and" | "upsert");
        !self.reads && !self.words.iter().any(joins) && self.words.iter().any(|word| is_past(word))
    }

    /// Whether a scalar is one of the arguments.
    pub(super) fn is_argument(&self, scalar: &str) -> bool {
        self.args.iter().any(|arg| arg == scalar)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn names_and_arguments_say_what_is_asked_for() {
        let of = |name: &str, args: Value| {
            let call = Call::tool(name, args);
            let subject = Subject::new(&call, None);
            (subject.is_log, subject.mentions_errors, subject.is_state, subject.is_question)
        };
        assert_eq!(of("get_logs", json!({})), (true, false, false, false));
        assert_eq!(of("read_file", json!({"path": "/var/app.log"})), (true, false, false, false));
        assert_eq!(of("search", json!({"q": "fix an error"})), (false, true, false, false));
        assert_eq!(of("get_job_status", json!({})), (false, false, true, false));
        assert_eq!(of("check_link", json!({})), (false, false, false, true));
        assert_eq!(of("get_user", json!({"id": 7})), (false, false, false, false));
    }

    #[test]
    fn tools_that_write_logs_return_none() {
        let is_log = |name: &str| {
            let call = Call::tool(name, json!({"kind": "error"}));
            Subject::new(&call, None).is_log
        };
        assert!(is_log("get_logs") && is_log("log_search") && is_log("journalctl"));
        assert!(!is_log("log_hours") && !is_log("create_incident") && !is_log("delete_alert"));
    }

    #[test]
    fn participles_belong_to_the_verb_of_the_tool() {
        let is_done = |name: &str, key: &str| {
            let call = Call::tool(name, json!({}));
            Subject::new(&call, None).is_done_key(key)
        };
        assert!(is_done("merge_branch", "merged") && is_done("send_fax", "sent"));
        assert!(is_done("cancel_trip", "cancelled") && is_done("apply_patch", "applied"));
        assert!(!is_done("get_branch", "merged") && !is_done("create_task", "completed"));
        assert!(!is_done("create_or_update_page", "created"));
    }

    #[test]
    fn arguments_are_found_in_texts() {
        let call = Call::tool("read", json!({"path": "/a/b", "n": 1}));
        let subject = Subject::new(&call, None);
        assert!(subject.is_named_in("no such file: /a/b"));
        assert!(!subject.is_named_in("line 1 is bad"));
        assert!(subject.is_argument("1") && !subject.is_argument("2"));
    }
}
