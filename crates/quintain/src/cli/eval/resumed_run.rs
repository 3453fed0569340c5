//! A stored run that is resumed, with its suite and its target.

use std::path::PathBuf;

use quintain_engine::jobs::{LoadAnswers, TargetRequest};
use quintain_engine::store::{Run, Store, StoreError, SuiteText};
use quintain_evidence::event::RunInfo;
use quintain_suite::suite::SuiteFile;
use quintain_wire::redact::MASK;

use crate::cli::App;
use crate::cli::suite::{self, CliError, cli_error};
use crate::cli::target::{Given, TargetArgs};

pub(in crate::cli) struct ResumedRun {
    pub(in crate::cli) store: Store,
    pub(in crate::cli) run: Run,
    pub(in crate::cli) info: RunInfo,
    /// Rerun only the cases that ended in an error.
    pub(in crate::cli) retry_errors: bool,
    /// What the command line said about the target, besides its name.
    pub(in crate::cli) given: Given,
    texts: Vec<SuiteText>,
}

impl ResumedRun {
    pub(in crate::cli) async fn find(
        store: Store,
        wanted: &str,
        retry_errors: bool,
    ) -> Result<Self, StoreError> {
        let run = store.find(wanted).await?;
        Self::of(store, run, retry_errors).await
    }

    pub(in crate::cli) async fn of(
        store: Store,
        run: Run,
        retry_errors: bool,
    ) -> Result<Self, StoreError> {
        let info = store.info(&run).await?;
        let mut texts = store.suite_texts(&run).await?;
        let given = Given::take(&mut texts);
        LoadAnswers::take(&mut texts);
        Ok(Self { store, run, info, retry_errors, given, texts })
    }

    fn refuse_masked(&self) -> Result<(), CliError> {
        let given = |text: &SuiteText| is_given(&text.name) && text.text.contains(MASK);
        if self.given.is_masked() || self.texts.iter().any(given) {
            let what = "the command line of this run contained secrets, which are not stored";
            let help = "name the target again (`--url URL` or `-- COMMAND`), or start a new run";
            return Err(cli_error(what, Some(help.to_owned())));
        }
        Ok(())
    }

    /// The suite of the run, and the working directory of its servers if it differs. Secrets are not stored, so files
    /// are read from disk if they differ from the stored text only in secrets.
    pub(in crate::cli) fn unmasked(
        &self,
        app: &App,
    ) -> Result<(Vec<SuiteFile>, Option<PathBuf>), CliError> {
        self.refuse_masked()?;
        Ok((self.files(app)?, self.given.elsewhere(&app.context.cwd)))
    }

    /// The target of the run: from this command line, else as stored. Returns it with the options that apply, and the
    /// texts of the suite, if there is one.
    pub(in crate::cli) fn target(
        &self,
        args: &TargetArgs,
        chosen: Option<&str>,
        app: &App,
    ) -> Result<(TargetArgs, TargetRequest, Vec<SuiteFile>), CliError> {
        let over = args.over(&self.given, app);
        let mut request = over.request()?;
        if args.is_named() {
            let files = if args.config.is_empty() { self.files(app)? } else { over.files(app)? };
            return Ok((over, request, files));
        }
        // Never attack a default suite of the working directory instead of the target of the run.
        if self.texts.is_empty() && !over.is_named() {
            let help = "name the target again: `-- COMMAND ARG...`, `--url URL` or `-c FILE`";
            let what = format!("{} does not say how its target was started", self.run.id);
            return Err(cli_error(what, Some(help.to_owned())));
        }
        let (files, folder) = self.unmasked(app)?;
        request.folder = folder;
        if !files.is_empty() {
            request.name = args.chosen().or(chosen).map(str::to_owned);
        }
        Ok((over, request, files))
    }

    /// The texts of the suite.
    pub(in crate::cli) fn files(&self, app: &App) -> Result<Vec<SuiteFile>, CliError> {
        let mut files = Vec::new();
        for stored in &self.texts {
            let SuiteText { name, base_dir, text } = stored;
            let path = std::path::Path::new(name).file_name().map(|file| base_dir.join(file));
            let on_disk = path.and_then(|path| app.files.text(&path).ok());
            let text = match on_disk.filter(|now| is_same_but_masked(text, now)) {
                Some(now) => now.into(),
                None if is_given(name) => text.clone(),
                None if text.contains(MASK) => {
                    let help = "start a new run: stored runs contain no secrets";
                    let what =
                        format!("`{name}` has changed since this run, and it contains secrets");
                    return Err(cli_error(what, Some(help.to_owned())));
                }
                None => {
                    app.console.warn(&format!("`{name}` has changed; the stored version is used"));
                    text.clone()
                }
            };
            let (name, base_dir) = (name.clone(), base_dir.clone());
            files.push(SuiteFile { name, text, base_dir });
        }
        Ok(files)
    }
}

/// Whether a text of the suite comes from the command line.
fn is_given(name: &str) -> bool {
    name == suite::VARS
}

/// Whether a text equals a stored one except for masked secrets.
fn is_same_but_masked(stored: &str, text: &str) -> bool {
    let mut parts = stored.split(MASK);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut last = "";
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        (rest, last) = (after, part);
    }
    rest.is_empty() || (last.is_empty() && stored.ends_with(MASK))
}

#[cfg(test)]
mod tests {
    use super::is_same_but_masked;

    #[test]
    fn only_secrets_may_differ() {
        assert!(is_same_but_masked("a: 1\n", "a: 1\n"));
        assert!(is_same_but_masked("token: ***\nb: 2\n", "token: s3cret\nb: 2\n"));
        assert!(is_same_but_masked("token: ***", "token: s3cret"));
        assert!(!is_same_but_masked("token: ***\nb: 2\n", "token: s3cret\nb: 3\n"));
        assert!(!is_same_but_masked("a: 1\n", "a: 1\nb: 2\n"));
    }
}
