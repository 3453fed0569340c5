//! One case as it is on disk.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// Files that control the harness; all others are copied to the working directory of the command.
const OURS: &[&str] = &[
    "cmd",
    "env",
    "exit",
    "expected",
    "max-rss-mb",
    "needs",
    "secrets",
    "server",
    "stderr",
    "stdin",
    "stdout",
    "timeout-seconds",
];

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) folder: PathBuf,
    /// Command lines, run one after the other.
    pub(crate) commands: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    /// Command line of a server that runs during the commands.
    pub(crate) server: Option<String>,
    needs: Vec<String>,
    /// Texts that must not occur in any output.
    pub(crate) secrets: Vec<String>,
    pub(crate) limit: Duration,
    pub(crate) max_rss_mb: u64,
}

impl Case {
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let file = |name: &str| fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str, default: u64| match file(name) {
            Some(text) => text.trim().parse().map_err(|_| format!("{name}: not a number")),
            None => Ok(default),
        };
        let lines = |name: &str| -> Vec<String> {
            let text = file(name).unwrap_or_default();
            let lines = text.lines().map(str::trim);
            lines
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(Into::into)
                .collect()
        };
        let pair = |line: String| match line.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(format!("env: `{line}` is not KEY=VALUE")),
        };
        let commands = lines("cmd");
        if commands.is_empty() {
            return Err("cmd contains no command".into());
        }
        Ok(Self {
            commands,
            variables: lines("env").into_iter().map(pair).collect::<Result<_, _>>()?,
            server: lines("server").into_iter().next(),
            needs: lines("needs"),
            secrets: lines("secrets"),
            limit: Duration::from_secs(number("timeout-seconds", 30)?),
            max_rss_mb: number("max-rss-mb", 150)?,
            folder: folder.to_path_buf(),
        })
    }

    /// What the case needs and is missing: environment variables, or programs, which are written in lower case.
    pub(crate) fn missing_needs(&self) -> Vec<&str> {
        let paths = env::var_os("PATH").unwrap_or_default();
        let installed = |name: &str| env::split_paths(&paths).any(|path| path.join(name).is_file());
        let there = |name: &str| {
            let is_variable = name.chars().any(char::is_uppercase);
            if is_variable { env::var_os(name).is_some() } else { installed(name) }
        };
        self.needs.iter().map(String::as_str).filter(|name| !there(name)).collect()
    }

    /// Values of the needed variables, for the command line.
    pub(crate) fn needed(&self) -> impl Iterator<Item = (&str, String)> {
        self.needs.iter().filter_map(|name| Some((name.as_str(), env::var(name).ok()?)))
    }

    pub(crate) fn expected(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }

    /// Copies the files of the case, such as `suite.yaml`, to the working directory of the command, and replaces
    /// `$NAME` in YAML files.
    pub(crate) fn copy_inputs(&self, to: &Path, fill: impl Fn(&str) -> String) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if !OURS.iter().any(|ours| entry.file_name() == *ours) {
                copy(&entry.path(), &to.join(entry.file_name()), &fill)?;
            }
        }
        Ok(())
    }
}

fn copy(from: &Path, to: &Path, fill: &impl Fn(&str) -> String) -> io::Result<()> {
    if from.extension().is_some_and(|suffix| suffix == "yaml") {
        return fs::write(to, fill(&fs::read_to_string(from)?));
    }
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()), fill)?;
    }
    Ok(())
}

/// Splits a command line into words; both kinds of quotes group, and a backslash has no special meaning.
pub(crate) fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        if quote == Some(character) {
            quote = None;
        } else if quote.is_none() && matches!(character, '"' | '\'') {
            quote = Some(character);
            // Empty quotes are a word, too.
            word.get_or_insert_default();
        } else if quote.is_none() && character.is_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(character);
        }
    }
    if quote.is_some() {
        return Err(format!("unterminated quote in `{line}`"));
    }
    words.extend(word);
    Ok(words)
}
