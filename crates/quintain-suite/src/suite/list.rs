//! The tests of a suite, in order. There may be more than fit into memory when compiled, so only the first
//! ones are kept compiled. The others are kept as written and compiled again when they run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use quintain_source::{Diagnostic, Diagnostics, Node, Packed, Severity, Sources, Templates};
use serde_json::Value;

use super::Test;
use super::case::Role;
use super::loader::{Loader, SuiteFolder};
use crate::files::Files;

/// Number of tests that are kept compiled.
const READY: usize = 4096;

/// The tests of a suite; see the module.
#[derive(Default)]
pub struct TestList {
    slots: Vec<Slot>,
    reading: Option<Reading>,
    /// Whether a test stores its output for later tests.
    pub store_outputs: bool,
    /// Whether a check needs more of the surface than the tools.
    pub want_survey: bool,
    /// Whether an assertion asks a model.
    pub ask_models: bool,
    last: Mutex<Option<(usize, Arc<Test>)>>,
}

enum Slot {
    Ready(Arc<Test>),
    Written(Written),
}

/// A test as written.
struct Written {
    node: Packed,
    /// Its folder, as an index into `folders`.
    folder: usize,
    /// Its row, if it comes from a table; used as the description.
    row: Option<usize>,
    /// Planning needs nothing from it; see [`TestList::is_plain`].
    plain: bool,
}

/// The context for reading a test again.
pub(super) struct Reading {
    pub(super) files: Arc<dyn Files>,
    pub(super) templates: Templates,
    pub(super) env: BTreeMap<String, String>,
    /// The defaults of every test.
    pub(super) default: Test,
    pub(super) is_literal: bool,
    folders: Vec<Folder>,
}

/// A folder with tests.
#[derive(PartialEq, Eq)]
struct Folder {
    base_dir: PathBuf,
    shown_dir: PathBuf,
    test_dir: PathBuf,
    strictness: Severity,
}

/// A test that was just read, with its source.
pub(super) struct Entry<'a> {
    pub(super) test: Test,
    pub(super) node: &'a Node,
    pub(super) place: &'a SuiteFolder<'a>,
    pub(super) test_dir: &'a Path,
    pub(super) row: Option<usize>,
}

impl TestList {
    pub(super) fn new(
        files: Arc<dyn Files>,
        templates: Templates,
        env: BTreeMap<String, String>,
        default: Test,
        is_literal: bool,
    ) -> Self {
        let reading = Reading { files, templates, env, default, is_literal, folders: Vec::new() };
        Self { reading: Some(reading), ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Leaves questions that only `defaultTest` names a judge for to the default of the run. Call it before tests are handed out.
    pub fn forget_default_judge(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.default.options.fallback_judge = None;
        }
        for slot in &mut self.slots {
            if let Slot::Ready(test) = slot
                && let Some(test) = Arc::get_mut(test)
            {
                test.options.fallback_judge = None;
            }
        }
    }

    /// Adds a test that is always kept compiled, merged with `defaultTest`.
    pub(super) fn push(&mut self, test: Test) {
        let test = match &self.reading {
            Some(reading) => test.over(&reading.default),
            None => test,
        };
        self.note(&test);
        self.slots.push(Slot::Ready(Arc::new(test)));
    }

    /// Adds a test that can be read again.
    pub(super) fn push_entry(&mut self, entry: Entry<'_>) {
        let Some(reading) = self.reading.as_mut().filter(|_| self.slots.len() >= READY) else {
            return self.push(entry.test);
        };
        let folder = reading.folder(entry.place, entry.test_dir);
        let test = entry.test.over(&reading.default);
        let written = Written {
            node: Packed::new(entry.node),
            folder,
            row: entry.row,
            plain: is_plain(&test),
        };
        self.note(&test);
        self.slots.push(Slot::Written(written));
    }

    fn note(&mut self, test: &Test) {
        self.store_outputs |= test.options.store_output_as.is_some();
        self.ask_models = self.ask_models || !test.models().is_empty();
        self.want_survey |= test.asserts.iter().any(|assert| assert.wants_survey());
    }

    /// Whether a test is exactly one case per column, independent of other cases: no lists among its
    /// variables, no restriction to targets or prompts, no serial execution, no repetition of its own.
    pub fn is_plain(&self, at: usize) -> bool {
        match self.slots.get(at) {
            Some(Slot::Written(written)) => written.plain,
            Some(Slot::Ready(test)) => is_plain(test),
            None => false,
        }
    }

    /// The test at a position.
    ///
    /// # Errors
    /// If a file that it refers to has changed since the suite was loaded.
    pub fn get(&self, at: usize) -> Result<Arc<Test>, String> {
        let written = match self.slots.get(at) {
            Some(Slot::Ready(test)) => return Ok(test.clone()),
            Some(Slot::Written(written)) => written,
            None => return Err("there is no such test".to_owned()),
        };
        // The cases of one test are consecutive, so one cached test is enough.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, test)) = last.as_ref().filter(|(found, _)| *found == at) {
            return Ok(test.clone());
        }
        let reading = self.reading.as_ref().ok_or("the test cannot be read again")?;
        let test = Arc::new(reading.read(written)?);
        *last = Some((at, test.clone()));
        Ok(test)
    }
}

/// Sets the description that promptfoo gives to a test of a table.
pub(super) fn numbered(test: &mut Test, row: Option<usize>) {
    if let (None, Some(row)) = (&test.description, row) {
        test.description = Some(format!("Row #{}", row + 1));
    }
}

fn is_plain(test: &Test) -> bool {
    let options = &test.options;
    let compares = || test.asserts.iter().any(|assert| assert.comparison().is_some());
    options.transform_vars.is_none()
        && !options.run_serially
        && !options.disable_conversation_var
        && options.repeat.is_none()
        && test.only_targets.is_none()
        && test.only_prompts.is_none()
        && !test.vars.values().any(Value::is_array)
        && !compares()
}

impl Reading {
    fn folder(&mut self, place: &SuiteFolder<'_>, test_dir: &Path) -> usize {
        let folder = Folder {
            base_dir: place.base_dir.to_owned(),
            shown_dir: place.shown_dir.to_owned(),
            test_dir: test_dir.to_owned(),
            strictness: place.strictness,
        };
        let known = self.folders.iter().rposition(|known| *known == folder);
        known.unwrap_or_else(|| {
            self.folders.push(folder);
            self.folders.len() - 1
        })
    }

    fn read(&self, written: &Written) -> Result<Test, String> {
        let Folder { base_dir, shown_dir, test_dir, strictness } = &self.folders[written.folder];
        let place = SuiteFolder { base_dir, shown_dir, strictness: *strictness };
        let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
        let mut loader =
            Loader::new(&*self.files, &self.templates, &self.env, &mut sources, &mut dx);
        loader.is_literal = self.is_literal;
        let test = loader.test(&written.node.unpack(), Role::Test, &place, test_dir);
        let fault = dx.iter().find(|found| found.severity == Severity::Error);
        match (test, fault) {
            (Some(mut test), None) => {
                numbered(&mut test, written.row);
                Ok(test.over(&self.default))
            }
            (_, Some(fault)) => Err(Diagnostic::text(fault)),
            (None, None) => Err("the test cannot be read again".to_owned()),
        }
    }
}

impl std::fmt::Debug for TestList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestList").field("len", &self.slots.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::suite::{BUILT_IN, Consent, Loaded, Purpose, SuiteFile, load};

    /// One file that a test can change.
    struct Changing(Mutex<&'static str>);

    impl Files for Changing {
        fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
            let text = *self.0.lock().unwrap();
            if text.is_empty() { Err(std::io::ErrorKind::NotFound.into()) } else { Ok(text.into()) }
        }

        fn matching(&self, _: &Path) -> std::io::Result<Vec<PathBuf>> {
            Ok(Vec::new())
        }
    }

    fn loaded(text: String, files: Arc<dyn Files>) -> Loaded {
        let (name, base_dir) = ("quintain.yaml".to_owned(), PathBuf::from("/suites"));
        let purpose = Purpose::Run(Consent::of_the_user());
        let file = SuiteFile { name, text: text.into(), base_dir };
        load(vec![file], &BTreeMap::new(), files, purpose, BUILT_IN)
    }

    fn many(item: impl Fn(usize) -> String) -> String {
        let items: Vec<String> = (0..READY + 10).map(item).collect();
        format!(
            "targets: [echo]\nprompts: [x]\nenv: {{WHO: bob}}\ndefaultTest: {{assert: [{{type: contains, value: x}}]}}\ntests:\n{}",
            items.concat()
        )
    }

    #[test]
    fn a_test_that_is_read_again_is_the_same_test() {
        let text = many(|at| {
            format!(
                "  - {{description: 'no {at}', vars: {{n: {at}, who: '{{{{env.WHO}}}}'}}, assert: [{{type: equals, value: y}}]}}\n"
            )
        });
        let Loaded { suite, diagnostics, sources, .. } =
            loaded(text, Arc::new(super::super::NoFiles));
        assert!(diagnostics.is_empty());
        let list = suite.unwrap().tests.tests;
        assert_eq!(list.len(), READY + 10);
        let (early, late) = (list.get(7).unwrap(), list.get(READY + 7).unwrap());
        assert!(matches!(list.slots[READY + 7], Slot::Written(_)));
        assert_eq!(late.description, Some(format!("no {}", READY + 7)));
        assert_eq!(
            (late.vars["n"].as_u64(), late.vars["who"].as_str()),
            (Some(READY as u64 + 7), Some("bob"))
        );
        assert_eq!(late.asserts.len(), early.asserts.len());
        let line =
            |test: &Test| sources.get(test.span.file).unwrap().position(test.span.start).line;
        assert_eq!(line(&late) - line(&early), READY);
        assert!(list.is_plain(READY + 7));
    }

    #[test]
    fn what_matters_to_the_plan_is_known_without_reading() {
        let text = many(|at| match at % 3 {
            0 => "  - {vars: {n: [a, b]}}\n".to_owned(),
            1 => "  - {vars: {n: a}, options: {runSerially: true, storeOutputAs: x}}\n".to_owned(),
            _ => "  - {vars: {n: a}}\n".to_owned(),
        });
        let list = loaded(text, Arc::new(super::super::NoFiles)).suite.unwrap().tests.tests;
        let plain = |at: usize| list.is_plain(at);
        let late = READY - READY % 3 + 3;
        assert_eq!([late, late + 1, late + 2].map(plain), [false, false, true]);
        assert_eq!([3, 4, 5].map(plain), [false, false, true]);
        assert!(list.store_outputs && !list.want_survey);
    }

    #[test]
    fn a_file_that_is_gone_is_an_error_not_a_test_without_assertions() {
        let files = Arc::new(Changing(Mutex::new("{\"type\": \"object\"}")));
        let text = many(|_| {
            "  - {vars: {n: 1}, assert: [{type: is-json, value: 'file://schema.json'}]}\n"
                .to_owned()
        });
        let list = loaded(text, files.clone()).suite.unwrap().tests.tests;
        assert_eq!(list.get(READY + 1).unwrap().asserts.len(), 2);
        *files.0.lock().unwrap() = "";
        assert!(list.get(READY + 2).is_err());
    }
}
