//! A stored run that is gone on with: its suite and its choices, as they were.

use std::collections::BTreeMap;

use quintain_engine::World;
use quintain_engine::store::{Run, Store, StoreError, SuiteText};
use quintain_evidence::connection::McpTarget;
use quintain_evidence::event::RunInfo;
use quintain_suite::suite::{Consent, Purpose, SuiteFile};
use quintain_wire::redact::MASK;

use super::choices::Choices;
use crate::cli::Desk;
use crate::cli::suite::{self, Opened, Wrong, say};
use crate::cli::target::{Given, TargetArgs, choose};
use crate::exit::Exit;

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

    pub(in crate::cli) fn choices(&self) -> Choices {
        Choices::of_options(&self.info.options)
    }

    /// The suite as it was. Secrets are not stored, so the files are read again where they are the
    /// same but for those. Whoever resumes a run runs its suite.
    pub(in crate::cli) fn suite(
        &self,
        consent: Consent,
        env: &BTreeMap<String, String>,
        desk: &Desk,
    ) -> Result<Opened, Wrong> {
        self.refuse_masked()?;
        let mut opened = self.suite_as_stored(consent, env, desk)?;
        let targets = opened.suite.targets.iter_mut().filter_map(|target| target.as_mcp_mut());
        self.given.place(targets, &desk.context.cwd)?;
        Ok(opened)
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

    /// The same for those who send nothing that the command line of the run said.
    pub(in crate::cli) fn suite_as_stored(
        &self,
        consent: Consent,
        env: &BTreeMap<String, String>,
        desk: &Desk,
    ) -> Result<Opened, Wrong> {
        suite::understand(self.files(desk)?, env, Purpose::Run(consent), desk)
    }

    /// The target of the run: as this command line names it, else as the run did. With it come the options
    /// that count, and the suite of the run, if it had one.
    pub(in crate::cli) fn target(
        &self,
        args: &TargetArgs,
        chosen: Option<&str>,
        consent: Consent,
        desk: &Desk,
        as_json: bool,
    ) -> Result<(TargetArgs, McpTarget, World, Option<Opened>), Exit> {
        let env = &desk.context.env;
        let over = args.over(&self.given, desk);
        let found = match (args.is_named(), self.texts.is_empty()) {
            (true, true) => {
                over.find(Purpose::Run(consent), desk).map(|(target, _)| (target, None))
            }
            (true, false) => self.suite_as_stored(consent, env, desk).and_then(|opened| {
                let (target, _) = over.find(Purpose::Run(consent), desk)?;
                Ok((target, Some(opened)))
            }),
            // What lies around is not attacked instead of what was.
            (false, true) if !over.is_named() => {
                let help = "name the target again: `-- COMMAND ARG...`, `--url URL` or `-c FILE`";
                let what = format!("{} does not say how its target was started", self.run.id);
                Err(say(what, Some(help.to_owned())))
            }
            (false, true) => self.refuse_masked().and_then(|()| {
                let (mut target, _) = over.find(Purpose::Run(consent), desk)?;
                self.given.place(std::iter::once(&mut target), &desk.context.cwd)?;
                Ok((target, None))
            }),
            (false, false) => self
                .suite(consent, env, desk)
                .and_then(|opened| choose(opened, args.chosen().or(chosen))),
        };
        let (target, world, opened) = over.prepare(found, desk, as_json)?;
        Ok((over, target, world, opened))
    }

    /// The texts of the suite.
    pub(in crate::cli) fn files(&self, desk: &Desk) -> Result<Vec<SuiteFile>, Wrong> {
        let mut files = Vec::new();
        for stored in &self.texts {
            let SuiteText { name, base_dir, text } = stored;
            let path = std::path::Path::new(name).file_name().map(|file| base_dir.join(file));
            let on_disk = path.and_then(|path| desk.files.text(&path).ok());
            let text = match on_disk.filter(|now| is_same_but_masked(text, now)) {
                Some(now) => now,
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
            files.push(SuiteFile { name, text: text.into(), base_dir });
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
