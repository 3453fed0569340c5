//! A stored run that is resumed: its suite and its target, as they were.

use std::path::PathBuf;

use quintain_engine::jobs::TargetRequest;
use quintain_engine::store::{Run, Store, StoreError, SuiteText};
use quintain_evidence::event::RunInfo;
use quintain_suite::suite::SuiteFile;
use quintain_wire::redact::MASK;

use crate::cli::Desk;
use crate::cli::suite::{self, Wrong, say};
use crate::cli::target::{Given, TargetArgs};

pub(in crate::cli) struct Begun {
    pub(in crate::cli) store: Store,
    pub(in crate::cli) run: Run,
    pub(in crate::cli) info: RunInfo,
    /// Only what ended in an error is run again.
    pub(in crate::cli) retry_errors: bool,
    /// What the command line said of the target, beside its name.
    pub(in crate::cli) given: Given,
    texts: Vec<SuiteText>,
}

impl Begun {
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
        Ok(Self { store, run, info, retry_errors, given, texts })
    }

    fn refuse_masked(&self) -> Result<(), Wrong> {
        let given = |text: &SuiteText| is_given(&text.name) && text.text.contains(MASK);
        if self.given.is_masked() || self.texts.iter().any(given) {
            let what = "the command line of this run contained secrets, which are not stored";
            let help = "name the target again (`--url URL` or `-- COMMAND`), or run it anew";
            return Err(say(what, Some(help.to_owned())));
        }
        Ok(())
    }

    /// The suite as it was, and where its servers ran if that was somewhere else. Secrets are not stored, so the
    /// files are read again where they are the same but for those.
    pub(in crate::cli) fn unmasked(
        &self,
        desk: &Desk,
    ) -> Result<(Vec<SuiteFile>, Option<PathBuf>), Wrong> {
        self.refuse_masked()?;
        Ok((self.files(desk)?, self.given.elsewhere(&desk.context.cwd)))
    }

    /// The target of the run: as this command line names it, else as the run did. With it come the options
    /// that count, and the texts of the suite, if there is one.
    pub(in crate::cli) fn target(
        &self,
        args: &TargetArgs,
        chosen: Option<&str>,
        desk: &Desk,
    ) -> Result<(TargetArgs, TargetRequest, Vec<SuiteFile>), Wrong> {
        let over = args.over(&self.given, desk);
        let mut request = over.request()?;
        if args.is_named() {
            let files = if args.config.is_empty() { self.files(desk)? } else { over.files(desk)? };
            return Ok((over, request, files));
        }
        // What lies around is not attacked instead of what was.
        if self.texts.is_empty() && !over.is_named() {
            let help = "name the target again: `-- COMMAND ARG...`, `--url URL` or `-c FILE`";
            let what = format!("{} does not say how its target was started", self.run.id);
            return Err(say(what, Some(help.to_owned())));
        }
        let (files, folder) = self.unmasked(desk)?;
        request.folder = folder;
        if !files.is_empty() {
            request.name = args.chosen().or(chosen).map(str::to_owned);
        }
        Ok((over, request, files))
    }

    /// The texts of the suite.
    pub(in crate::cli) fn files(&self, desk: &Desk) -> Result<Vec<SuiteFile>, Wrong> {
        let mut files = Vec::new();
        for stored in &self.texts {
            let SuiteText { name, base_dir, text } = stored;
            let path = std::path::Path::new(name).file_name().map(|file| base_dir.join(file));
            let on_disk = path.and_then(|path| desk.files.text(&path).ok());
            let text = match on_disk.filter(|now| is_same_but_masked(text, now)) {
                Some(now) => now.into(),
                None if is_given(name) => text.clone(),
                None if text.contains(MASK) => {
                    let help = "run it anew: what a run stores holds no secrets";
                    let what = format!("`{name}` has changed since this run, and it holds secrets");
                    return Err(say(what, Some(help.to_owned())));
                }
                None => {
                    desk.console.warn(&format!("`{name}` has changed; it is used as it was"));
                    text.clone()
                }
            };
            let (name, base_dir) = (name.clone(), base_dir.clone());
            files.push(SuiteFile { name, text, base_dir });
        }
        Ok(files)
    }
}

/// Whether a part of a suite stands for something on the command line.
fn is_given(name: &str) -> bool {
    name == suite::VARS
}

/// Whether a text is the same as a stored one, whatever stands in the place of its secrets.
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
