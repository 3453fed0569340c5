//! What a suite would do, for `--dry-run`, as text or as JSON. Shows names of variables, never values.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quintain_evidence::effects::{Effects, Environment, Variables};
use quintain_redteam::orders::Destructive;
use quintain_source::visible;
use quintain_wire::transport::stdio::INHERITED;
use serde_json::{Value, json};

use super::App;
use crate::console::{Tone, counted};

/// The effects of the suite, and what the command adds to them.
pub(super) struct DryRun<'a> {
    /// Name of the suite.
    pub(super) name: String,
    pub(super) effects: Effects,
    /// Reports named on the command line.
    pub(super) outputs: &'a [PathBuf],
    pub(super) no_write: bool,
    pub(super) json: bool,
    /// Set for a red-team run.
    pub(super) attack: Option<AttackEffects>,
}

/// What a red-team run does on this machine besides starting the target.
pub(super) struct AttackEffects {
    /// The attacks that the run tries, as far as the target allows.
    pub(super) attacks: Vec<String>,
    /// Maximum number of calls.
    pub(super) budget_calls: Option<usize>,
    /// The run plants canaries in and next to these folders.
    pub(super) planted: Vec<PathBuf>,
    pub(super) listens: String,
    pub(super) destructive: Destructive,
    pub(super) needs_allow_remote: bool,
}

impl AttackEffects {
    fn lines(&self) -> [(&'static str, Vec<Vec<String>>); 4] {
        let temporary = vec!["a temporary folder (removed after the run)".to_owned()];
        let beside = |root: &PathBuf| vec![format!("canaries in and next to {}", root.display())];
        let planted = std::iter::once(temporary).chain(self.planted.iter().map(beside)).collect();
        let tools = match self.destructive {
            Destructive::Never => "no destructive tools".to_owned(),
            Destructive::Own => {
                "destructive tools, only on objects that the run creates".to_owned()
            }
            Destructive::All => "destructive tools, also on existing objects".to_owned(),
        };
        let mut called = vec![vec![tools]];
        if self.needs_allow_remote {
            called.push(vec![
                "nothing: the target is not on this machine; needs --allow-remote".to_owned(),
            ]);
        }
        let calls = match self.budget_calls {
            Some(calls) => format!("at most {calls} calls (--budget-calls)"),
            None => "any number of calls; `--budget-calls` limits them".to_owned(),
        };
        let attacks = vec![vec![self.attacks.join(", ")], vec![calls]];
        [
            ("attack", attacks),
            ("create", planted),
            ("listen", vec![vec![self.listens.clone()]]),
            ("call", called),
        ]
    }

    fn as_json(&self) -> Value {
        json!({
            "attacks": self.attacks,
            "budgetCalls": self.budget_calls,
            "planted": self.planted,
            "listens": self.listens,
            "destructive": self.destructive.to_string(),
            "needsAllowRemote": self.needs_allow_remote,
        })
    }
}

impl DryRun<'_> {
    pub(super) fn show(mut self, app: &App) {
        let paths = Paths { cwd: &app.context.cwd };
        if !self.outputs.is_empty() {
            // Reports on the command line replace those of the suite.
            self.effects.write.retain(|write| write.what != "report");
        }
        for write in self.effects.write.iter_mut().filter(|write| write.refused.is_none()) {
            let path = app.context.cwd.join(&write.file);
            let is_link = |path: &Path| path.is_symlink() && app.context.cwd != path;
            let mut own = path.ancestors().take_while(|path| **path != app.context.cwd);
            write.refused = own.any(is_link).then_some("a symbolic link is in the path");
        }
        paths.shorten(&mut self.effects);
        let record = app.files.take();
        let mut read: Vec<String> = record.read().map(|path| paths.short(path)).collect();
        // The run reads these files, a dry run does not.
        let keys = self.effects.contact.iter().flat_map(|contact| &contact.files);
        read.extend(keys.map(|file| paths.short(Path::new(file))));
        // What is below the working directory comes first, wherever that directory is.
        read.sort_by_cached_key(|path| (Path::new(path).is_absolute(), path.clone()));
        read.dedup();
        let outputs = self.outputs.iter().map(|path| ("report", paths.short(path)));
        let store = app.context.state_dir().filter(|_| !self.no_write);
        let store = store.map(|folder| folder.join("runs.db").display().to_string());
        let own: Vec<(&str, String)> =
            outputs.chain(store.map(|store| ("store of runs", store))).collect();
        if self.json {
            let mut value = as_json(&self.effects, &read, &own);
            if let Some(attack) = &self.attack {
                value["attack"] = attack.as_json();
            }
            app.console.json(&value);
        } else {
            let mut page = Page { text: String::new(), app };
            page.write(&self.name, &self.effects, &read, &own);
            for (title, entries) in self.attack.iter().flat_map(AttackEffects::lines) {
                page.section(title, &entries);
            }
            app.console.out(page.text.trim_end());
        }
    }
}

fn as_json(effects: &Effects, read: &[String], own: &[(&str, String)]) -> Value {
    let mut value = json!(effects);
    value["read"] = json!(read);
    if let Some(writes) = value["write"].as_array_mut() {
        writes.extend(own.iter().map(|(what, file)| json!({"what": what, "file": file})));
    }
    value
}

/// Shows paths relative to the working directory.
struct Paths<'a> {
    cwd: &'a Path,
}

impl Paths<'_> {
    fn short(&self, path: &Path) -> String {
        let full: PathBuf = self.cwd.join(path).components().collect();
        let short = full.strip_prefix(self.cwd).unwrap_or(&full).display().to_string();
        if short.is_empty() { ".".to_owned() } else { short }
    }

    fn shorten(&self, effects: &mut Effects) {
        let starts = effects.start.iter_mut().filter_map(|start| start.cwd.as_mut());
        let runs = effects.run.iter_mut().filter_map(|run| run.file.as_mut());
        let writes = effects.write.iter_mut().map(|write| &mut write.file);
        let keys = effects.contact.iter_mut().flat_map(|contact| &mut contact.files);
        for path in starts
            .chain(runs)
            .chain(keys)
            .chain(writes)
            .chain(effects.tests.iter_mut().flat_map(|tests| &mut tests.made_by))
        {
            *path = self.short(Path::new(path));
        }
    }
}

/// The text for standard output, in two columns.
struct Page<'a> {
    text: String,
    app: &'a App,
}

impl Page<'_> {
    fn write(&mut self, name: &str, effects: &Effects, read: &[String], own: &[(&str, String)]) {
        let _ = writeln!(self.text, "Running {} would\n", visible(name));
        self.section("start", &starts(effects));
        self.section("run", &runs(effects));
        self.section("read", &read.iter().map(|path| vec![path.clone()]).collect::<Vec<_>>());
        self.section("write", &writes(effects, own));
        let contacts = effects.contact.iter().map(|contact| {
            let mut lines = vec![contact.url.clone(), contact.what.clone()];
            lines.extend(receives(&contact.receives));
            let files = contact.files.iter().map(|file| format!("receives the content of {file}"));
            lines.extend(files);
            lines
        });
        self.section("contact", &contacts.collect::<Vec<_>>());
        let Some(tests) = &effects.tests else { return };
        // If all tests come from code, the suite has one placeholder test.
        let mut lines = if tests.made_by.is_empty() || tests.tests > 1 {
            vec![counted(tests.cases, "case") + " of " + &counted(tests.tests, "test")]
        } else {
            vec!["an unknown number of cases".to_owned()]
        };
        for script in &tests.made_by {
            lines.push(format!(
                "tests generated by {script} are not counted: a dry run runs no code"
            ));
        }
        if tests.changed_by_code > 0 {
            let tests = counted(tests.changed_by_code, "test");
            lines.push(format!("`transformVars` may change the number of cases of {tests}"));
        }
        self.section("test", &[lines]);
    }

    /// Writes each entry: its first line, and the others indented below it.
    fn section(&mut self, title: &str, entries: &[Vec<String>]) {
        let mut label = format!("{title:9}");
        if entries.is_empty() {
            let _ = writeln!(self.text, "{}nothing", self.app.console.paint(Tone::Bold, &label));
        }
        for lines in entries {
            for (at, line) in lines.iter().enumerate() {
                let indent = if at == 0 { "" } else { "    " };
                // Text from the suite must not control the terminal.
                let line = visible(line).replace(['\n', '\t'], " ");
                let bold = self.app.console.paint(Tone::Bold, &label);
                let _ = writeln!(self.text, "{bold}{indent}{line}");
                label = " ".repeat(9);
            }
        }
        self.text.push('\n');
    }
}

fn starts(effects: &Effects) -> Vec<Vec<String>> {
    let lines = effects.start.iter().map(|start| {
        let words = std::iter::once(&start.command).chain(&start.args);
        let words: Vec<String> = words.map(|word| quintain_engine::jobs::quoted(word)).collect();
        let mut lines = vec![words.join(" "), start.what.clone()];
        if let Some(cwd) = &start.cwd {
            lines.push(format!("in {cwd}"));
        }
        lines.push(match &start.environment {
            Environment::All => "with all environment variables".to_owned(),
            Environment::Named(names) => {
                let inherited = |name: &&String| INHERITED.contains(&name.as_str());
                let own: Vec<&str> =
                    names.iter().filter(|name| !inherited(name)).map(String::as_str).collect();
                let own = if own.is_empty() { String::new() } else { own.join(", ") + " and " };
                format!("with the environment variables {own}{}, ...", INHERITED[..2].join(", "))
            }
        });
        lines.extend(receives(&start.receives));
        lines
    });
    lines.collect()
}

fn runs(effects: &Effects) -> Vec<Vec<String>> {
    let lines = effects.run.iter().map(|run| {
        let uses = run.uses.iter().map(|one| match one.count {
            1 => one.what.clone(),
            count => format!("{} ({count} times)", one.what),
        });
        let uses: Vec<String> = uses.collect();
        let mut lines = vec![
            format!("{} ({})", run.file.as_deref().unwrap_or("inline"), run.language),
            uses.join(", "),
        ];
        if run.language == "JavaScript" {
            lines.push(
                "in this process: sees all environment variables, no files, no network".to_owned(),
            );
        }
        lines
    });
    lines.collect()
}

fn writes(effects: &Effects, own: &[(&str, String)]) -> Vec<Vec<String>> {
    let suite = effects.write.iter().map(|write| {
        let mut line = format!("{} ({})", write.file, write.what);
        if let Some(why) = write.refused {
            let _ = write!(line, ": refused, {why}");
        }
        vec![line]
    });
    let own = own.iter().map(|(what, file)| vec![format!("{file} ({what})")]);
    suite.chain(own).collect()
}

fn receives(variables: &Variables) -> Option<String> {
    if variables.is_empty() {
        return None;
    }
    let mut names: Vec<&str> = variables.names.iter().map(String::as_str).collect();
    if variables.any {
        names.push(if names.is_empty() { "any" } else { "any other" });
    }
    Some(format!("receives the values of environment variables: {}", names.join(", ")))
}
