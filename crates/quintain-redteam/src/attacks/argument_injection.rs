//! Argument values that a program parses as flags.

use quintain_content::registry::Meta;
use quintain_evidence::evidence::Observation;
use quintain_evidence::finding::{Confidence, Severity};
use quintain_evidence::weakness::Weakness;

use super::{reach, tool_contract, traces};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, Nonce, TargetView, Trial, Tried};
use crate::knowledge::words;

pub(super) struct ArgumentInjection;

static META: Meta = Meta {
    id: "argument-injection",
    aliases: &["option-injection", "flag-injection"],
    summary: "An argument value becomes a flag of a program that the tool starts",
    docs: "\
# What it does
Replaces names, paths and references with values that begin with a dash, appends flags after a space, and adds entries to lists and maps
of flags. The flags belong to common programs and write a file, run a command or open a connection: `--output=`, `-o`, `--upload-pack=`,
`--exec=`, `-oProxyCommand=`, `--log-file=`, and others that the words of the tool suggest.

# Why it matters
An attacker needs no shell: one flag of `git`, `tar`, `ssh` or `find` overwrites files or runs programs.

# What counts as proof
- A marker file appears at the path that the flag names.
- Quintain's listener receives a connection.
- A recorded program receives the flag as a separate argument, before any `--` and not as the value of another flag. If the program is not
  known for harmful flags, the finding is suspected.

# Example
```yaml
redteam:
  plugins: [argument-injection]
```

# References
- CWE-88, OWASP MCP05
",
    since: "0.1.0",
};

static WEAKNESS: Weakness =
    Weakness { severity: Severity::High, cwe: &[88], frameworks: &["MCP05", "ASI05", "ASI02"] };

const KINDS: [Kind; 9] = [
    Kind::Command,
    Kind::Name,
    Kind::Path,
    Kind::Filter,
    Kind::Pattern,
    Kind::Url,
    Kind::Host,
    Kind::Id,
    Kind::Other,
];

/// What a flag makes a program do.
#[derive(Clone, Copy)]
enum Effect {
    /// Writes a file.
    Writes,
    /// Runs a shell command.
    Runs,
    /// Starts a program with arguments, without a shell.
    Starts,
    /// Connects to an address.
    Visits,
}

/// A flag, its effect, and the words of a tool that make it likely. Without words it is always tried.
type Flag = (&'static str, Effect, &'static [&'static str]);

const FLAGS: [Flag; 17] = [
    ("--output=", Effect::Writes, &[]),
    ("-o", Effect::Writes, &[]),
    ("--upload-pack=", Effect::Runs, &[]),
    ("--exec=", Effect::Runs, &[]),
    ("-oProxyCommand=", Effect::Runs, &[]),
    ("--log-file=", Effect::Writes, &[]),
    ("--open-files-in-pager=", Effect::Runs, &["git", "grep", "search", "repository", "repo"]),
    ("--receive-pack=", Effect::Runs, &["push", "remote"]),
    ("--index-file=", Effect::Writes, &["tar", "archive", "compress", "extract", "unpack"]),
    ("--use-compress-program=", Effect::Starts, &["tar", "archive", "extract", "unpack"]),
    ("--checkpoint-action=exec=", Effect::Runs, &["tar", "archive"]),
    ("--logfile-path=", Effect::Writes, &["zip", "archive", "compress"]),
    ("--rsh=", Effect::Starts, &["rsync", "sync", "backup"]),
    ("--output-document=", Effect::Writes, &["download", "fetch", "wget", "url"]),
    (
        "--server=",
        Effect::Visits,
        &["kubectl", "kubernetes", "pod", "pods", "cluster", "namespace"],
    ),
    ("--registry=", Effect::Visits, &["npm", "package", "packages", "dependency", "install"]),
    ("--index-url=", Effect::Visits, &["pip", "python", "package", "packages", "install"]),
];
/// The maximum number of flags that are tried because of words of the tool.
const MAX_SUGGESTED: usize = 4;

/// Flags after a space, for values that the server splits at spaces.
const BEHIND: [(&str, Effect); 3] =
    [("--output=", Effect::Writes), ("-o ", Effect::Writes), ("-fprint ", Effect::Writes)];

/// Map keys that servers turn into flags.
const KEYS: [&str; 3] = ["output", "--output", "o"];

/// Programs with harmful flags.
const PROGRAMS: [&str; 35] = [
    "ansible-playbook",
    "aws",
    "az",
    "cargo",
    "curl",
    "docker",
    "ffmpeg",
    "find",
    "gcloud",
    "gh",
    "git",
    "go",
    "godot",
    "helm",
    "kubectl",
    "make",
    "mysql",
    "nmap",
    "npm",
    "npx",
    "pandoc",
    "pip",
    "pip3",
    "psql",
    "rg",
    "rsync",
    "scp",
    "semgrep",
    "sort",
    "ssh",
    "tar",
    "terraform",
    "tshark",
    "wget",
    "zip",
];
/// Subcommands that only check their arguments.
const CHECKS: [&str; 4] = ["rev-parse", "check-ref-format", "show-ref", "cat-file"];

impl Attack for ArgumentInjection {
    fn meta(&self) -> Meta {
        META
    }

    fn has_one_fault(&self) -> bool {
        true
    }

    fn weakness(&self) -> Weakness<'static> {
        WEAKNESS
    }

    fn aims(&self, view: &TargetView<'_>) -> Vec<Aim> {
        let mut aims = view.texts_in_modes(&KINDS, true);
        let is_prose = |aim: &Aim| matches!(aim.kinds.first(), Some(Kind::Text | Kind::Query));
        aims.retain(|aim| !is_prose(aim) || reach::in_free_map(aim));
        for aim in &mut aims {
            aim.by_design = tool_contract::of_commands(view, aim);
            // `flags` gets only the aim, so the aim carries the description of the tool.
            let tool = view.tool_of(aim).and_then(|tool| tool.description());
            let own = aim.schema.get("description").and_then(|text| text.as_str());
            let told = format!("{} {}", tool.unwrap_or_default(), own.unwrap_or_default());
            if let Some(schema) = aim.schema.as_object_mut() {
                schema.insert("description".into(), told.into());
            }
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let mut builder = AttemptBuilder { aim, brief, set: 0, made: Vec::new() };
        // One attempt of each kind first: a slow target gets only the first few.
        let (mut flags, mut behind) = (flags(aim), BEHIND.into_iter());
        flags.by_ref().take(1).for_each(|(flag, effect, _)| builder.instead(flag, effect));
        behind.by_ref().take(1).for_each(|(flag, effect)| builder.behind(flag, effect));
        flags.for_each(|(flag, effect, _)| builder.instead(flag, effect));
        behind.for_each(|(flag, effect)| builder.behind(flag, effect));
        builder.in_list();
        builder.in_map();
        builder.made
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let proofs = trial.tried.iter().filter_map(|tried| Some((tried, proof(tried)?)));
        proofs.map(|(tried, (confidence, what))| hit(trial, tried, confidence, what)).collect()
    }
}

/// The flags that make sense at an aim, the most likely first.
fn flags(aim: &Aim) -> impl Iterator<Item = Flag> {
    let description = aim.schema.get("description").and_then(|text| text.as_str());
    let mut told = words(description.unwrap_or_default());
    told.extend(words(&aim.place.to_string()));
    let suggested = |flag: &Flag| flag.2.iter().any(|cue| told.iter().any(|word| word == cue));
    let always = FLAGS.into_iter().filter(|flag| flag.2.is_empty());
    let some: Vec<Flag> = FLAGS.into_iter().filter(suggested).take(MAX_SUGGESTED).collect();
    always.chain(some)
}

struct AttemptBuilder<'a> {
    aim: &'a Aim,
    brief: &'a Brief<'a>,
    set: usize,
    made: Vec<Attempt>,
}

impl AttemptBuilder<'_> {
    /// The value that makes the effect of a flag observable; none if it cannot be observed.
    fn bait(&self, effect: Effect, nonce: &Nonce) -> Option<String> {
        let marker = || traces::marker(self.brief, nonce);
        match effect {
            Effect::Writes => marker(),
            // The program appends its own arguments to the command.
            Effect::Runs => marker().map(|path| format!("touch {path};false")),
            Effect::Starts => marker().map(|path| format!("touch {path}")),
            Effect::Visits => self.brief.listener.map(|listener| listener.url(nonce)),
        }
    }

    /// A target on another machine gets flags as well: its programs may be recorded.
    fn flag(&self, flag: &str, effect: Effect, nonce: &Nonce) -> String {
        let bait = self.bait(effect, nonce);
        format!("{flag}{}", bait.unwrap_or_else(|| nonce.to_string()))
    }

    fn add(&mut self, aim: &Aim, form: &str, nonce: Nonce, flag: String, payload: String) {
        let attempt = reach::attempt(aim, (self.set, form), nonce, payload);
        self.made.extend(attempt.map(|attempt| Attempt { role: flag, ..attempt }));
        self.set += 1;
    }

    fn instead(&mut self, flag: &str, effect: Effect) {
        let nonce = self.brief.nonce();
        let text = self.flag(flag, effect, &nonce);
        let form = format!("leading dash: `{flag}`");
        self.add(self.aim, &form, nonce, text.clone(), text);
    }

    fn behind(&mut self, flag: &str, effect: Effect) {
        let nonce = self.brief.nonce();
        let text = self.flag(flag, effect, &nonce);
        let payload = format!("{} {text}", reach::plausible(self.aim));
        let first = text.split(' ').next().unwrap_or_default().to_owned();
        self.add(self.aim, &format!("after a space: `{}`", flag.trim_end()), nonce, first, payload);
    }

    /// Adds an item to a list.
    fn in_list(&mut self) {
        let Some((list, index)) = reach::parent(self.aim) else { return };
        let Ok(index) = index.parse::<usize>() else { return };
        let next = reach::at(self.aim, format!("{list}/{}", index + 1));
        let nonce = self.brief.nonce();
        let text = self.flag("--output=", Effect::Writes, &nonce);
        self.add(&next, "additional list item", nonce, text.clone(), text);
    }

    /// Adds an entry to a map that accepts any key.
    fn in_map(&mut self) {
        let Some((map, _)) = reach::parent(self.aim).filter(|_| reach::in_free_map(self.aim))
        else {
            return;
        };
        for key in KEYS {
            let other = reach::at(self.aim, format!("{map}/{key}"));
            let nonce = self.brief.nonce();
            let text = self.flag("", Effect::Writes, &nonce);
            self.add(&other, &format!("additional map entry `{key}`"), nonce, String::new(), text);
        }
    }
}

fn hit(trial: &Trial<'_>, tried: &Tried, confidence: Confidence, what: String) -> Hit {
    let form = &tried.attempt.form;
    let title = format!("Argument injection in `{}` ({form})", trial.aim.place);
    let hit = Hit::new(confidence, title, what).by(tried).fault("flag");
    match &trial.aim.by_design {
        Some(note) => hit.note(note).severity(Severity::Low),
        None => hit,
    }
}

fn proof(tried: &Tried) -> Option<(Confidence, String)> {
    if let Some(what) = traces::seen(tried) {
        return Some((Confidence::Confirmed, what));
    }
    tried.evidence.observations.iter().find_map(|observation| match observation {
        Observation::Connection { request, .. } => visited(tried, request),
        Observation::Program { program, arguments } => recorded(tried, program, arguments),
        _ => None,
    })
}

/// A text that begins with a dash is not an address, so only a program that parsed the flag connects.
fn visited(tried: &Tried, request: &str) -> Option<(Confidence, String)> {
    let asked = request.split(' ').nth(1)?;
    let is_ours = asked.trim_start_matches('/').starts_with(tried.attempt.nonce.as_str());
    (is_ours && tried.attempt.role.contains("http://"))
        .then(|| (Confidence::Confirmed, format!("the listener received the request: {request}")))
}

fn recorded(tried: &Tried, program: &str, arguments: &[String]) -> Option<(Confidence, String)> {
    let flag = tried.attempt.role.as_str();
    let at = arguments.iter().position(|argument| !flag.is_empty() && argument == flag)?;
    let before = &arguments[..at];
    let ended = before.iter().any(|argument| argument == "--" || argument == "--end-of-options");
    // The argument after a flag may be the value of that flag.
    let is_value = before.last().is_some_and(|last| last.starts_with('-') && !last.contains('='));
    if ended || is_value {
        return None;
    }
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let checks = before.iter().any(|argument| CHECKS.contains(&argument.as_str()));
    let harmful = PROGRAMS.contains(&name) && !checks;
    let confidence = if harmful { Confidence::Confirmed } else { Confidence::Suspected };
    Some((confidence, format!("`{name}` was started with `{flag}` as a separate argument")))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::Evidence;
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::{TestTarget, answers, args};

    fn room() -> TestTarget {
        TestTarget::with_argument("git_log", "ref", "main")
    }

    fn with(observation: Observation) -> Evidence {
        Evidence { observations: vec![observation], ..answers("ok") }
    }

    fn started(program: &str, arguments: &[&str]) -> Evidence {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        with(Observation::Program { program: program.into(), arguments })
    }

    #[test]
    fn the_file_that_a_flag_names_is_proof() {
        let hits = room().run_attack(&ArgumentInjection, |attempt| {
            let path = format!("/canaries/drop/{}", attempt.nonce).into();
            with(Observation::File { path, content: "commit 1".into() })
        });
        assert!(hits.len() > 6, "{}", hits.len());
        assert!(hits.iter().all(|hit| hit.confidence == Confidence::Confirmed));
    }

    #[test]
    fn a_file_that_is_called_like_the_flag_is_none() {
        let hits = room().run_attack(&ArgumentInjection, |attempt| {
            let name = attempt.payload.as_ref().unwrap().as_str().unwrap();
            let path = format!("/canaries/root/{name}").into();
            with(Observation::File { path, content: String::new() })
        });
        assert!(hits.is_empty(), "{:?}", hits[0].what);
    }

    #[test]
    fn a_flag_of_its_own_is_proof_before_the_end_of_flags_only() {
        let judge = |program: &'static str, before: &'static [&'static str]| {
            room().run_attack(&ArgumentInjection, |attempt| {
                let mut arguments = before.to_vec();
                arguments.push(&attempt.role);
                started(program, &arguments)
            })
        };
        let confident = |hits: Vec<Hit>| hits.first().map(|hit| hit.confidence);
        assert_eq!(confident(judge("/usr/bin/git", &["log"])), Some(Confidence::Confirmed));
        assert_eq!(confident(judge("mytool", &["show"])), Some(Confidence::Suspected));
        assert_eq!(confident(judge("git", &["rev-parse"])), Some(Confidence::Suspected));
        assert_eq!(confident(judge("git", &["log", "--"])), None);
        assert_eq!(confident(judge("git", &["log", "--end-of-options"])), None);
        assert_eq!(confident(judge("grep", &["-e"])), None);
    }

    #[test]
    fn a_flag_inside_of_a_word_is_none() {
        let hits = room().run_attack(&ArgumentInjection, |attempt| {
            started("git", &["log", &format!("--author={}", attempt.role)])
        });
        assert!(hits.is_empty());
    }

    #[test]
    fn an_error_that_repeats_the_flag_is_none() {
        let hits = room().run_attack(&ArgumentInjection, |attempt| {
            answers(&format!("fatal: bad revision {}", attempt.payload.as_ref().unwrap()))
        });
        assert!(hits.is_empty());
    }

    #[test]
    fn lists_and_maps_get_further_entries() {
        let schema = json!({"type": "object", "properties": {
            "flags": {"type": "object", "additionalProperties": {"type": "string"}},
            "paths": {"type": "array", "items": {"type": "string"}}}});
        let room = TestTarget::of_tools(&[json!({"name": "sort_file", "inputSchema": schema})]);
        let aims = ArgumentInjection.aims(&room.view());
        let sent: Vec<String> = aims
            .iter()
            .flat_map(|aim| ArgumentInjection.attempts(aim, &room.brief()))
            .map(|attempt| json!(args(&attempt)).to_string())
            .collect();
        assert!(sent.iter().any(|sent| sent.contains(r#""flags":{"output":"/canaries/drop"#)));
        assert!(sent.iter().any(|sent| sent.contains(r#""paths":["--output=/canaries/drop"#)));
    }

    #[test]
    fn words_of_the_tool_suggest_flags() {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let tool =
            json!({"name": "pack", "description": "Pack a tar archive", "inputSchema": schema});
        let room = TestTarget::of_tools(&[tool]);
        let aims = ArgumentInjection.aims(&room.view());
        let found: Vec<&str> = flags(&aims[0]).map(|(flag, ..)| flag).collect();
        assert!(found.contains(&"--index-file=") && !found.contains(&"--server="), "{found:?}");
        let count = ArgumentInjection.attempts(&aims[0], &room.brief()).len();
        assert!(count <= 16, "{count}");
    }
}
