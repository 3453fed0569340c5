//! Turns a suite into the cases to run, in the order of promptfoo: test, repetition, variables, target,
//! prompt.

mod limit;
mod select;

use crate::code::RunCode as _;
use std::sync::Arc;

use quintain_script::Host;
use quintain_source::switched_on;
use serde_json::{Map, Value, json};

use crate::suite::{Prompt, Suite, Target, Test, VarFile, combinations, combined, expand, names};
use quintain_evidence::event::Column;
use quintain_evidence::result::TargetName;

use limit::Factors;
pub use limit::{MAX_CASES, TooManyCases};
pub use select::{Among, Sameness, SelectError, Selection};

/// One case of a plan. Its test may not be in memory yet; see [`PlannedCase::case`].
#[derive(Debug, Clone)]
pub struct PlannedCase {
    pub ordinal: usize,
    pub test_idx: usize,
    /// The same for all repetitions.
    pub group: usize,
    pub column: usize,
    /// Index into the targets of the suite.
    pub target: usize,
    /// Index into the prompts of the suite.
    pub prompt: usize,
    pub repeat: u32,
    /// Index into the tests of the suite; none for a prompt without a test.
    pub(crate) test: Option<usize>,
    /// One combination of the variables, if there are several.
    vars: Option<Arc<Map<String, Value>>>,
    /// Why it cannot run, if so.
    flaw: Option<Arc<str>>,
    /// Constraints on the order.
    pub scheduling: Scheduling,
}

/// Constraints of a case on the order in which cases run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scheduling {
    /// It runs alone.
    pub serial: bool,
    /// It is not part of a conversation.
    pub silent: bool,
    /// Its response is compared with others to the same test.
    pub compared: bool,
}

/// One case to run. Variables are not expanded yet, since an earlier case may set some of them.
#[derive(Debug, Clone)]
pub struct Case<'p> {
    pub planned_case: &'p PlannedCase,
    pub test: Arc<Test>,
    /// Why it cannot run, if so.
    pub flaw: Option<Arc<str>>,
}

impl PlannedCase {
    /// Loads the test of this case.
    pub fn case(&self, suite: &Suite) -> Case<'_> {
        let test = self.test.map_or_else(|| Ok(Arc::default()), |at| suite.tests.tests.get(at));
        let flaw = self.flaw.clone();
        match test {
            Ok(test) => Case { planned_case: self, test, flaw },
            Err(why) => Case { planned_case: self, test: Arc::default(), flaw: Some(why.into()) },
        }
    }
}

impl Case<'_> {
    pub fn vars(&self) -> &Map<String, Value> {
        self.planned_case.vars.as_deref().unwrap_or(&self.test.vars)
    }

    /// Its variables, with those of earlier cases and scripts, and with `file://` references replaced by the
    /// content of the files.
    pub fn given(&self, carried: &Map<String, Value>) -> Map<String, Value> {
        let mut given = self.vars().clone();
        given.extend(carried.iter().map(|(name, value)| (name.clone(), value.clone())));
        for value in given.values_mut() {
            if let Some(VarFile::Text(text)) = self.test.file(value) {
                *value = Value::String(text.clone());
            }
        }
        given
    }
}

/// The cases to run.
#[derive(Debug, Default)]
pub struct Plan {
    pub cases: Vec<PlannedCase>,
    pub columns: Vec<Column>,
}

/// Plans the selected cases of a suite. `repeat` is the number of runs of each test that does not set its
/// own.
///
/// # Errors
/// If there are more than [`MAX_CASES`] cases. They are counted before they are listed.
pub fn plan(suite: &Suite, selection: &Selection, repeat: u32) -> Result<Plan, TooManyCases> {
    let pairs = columns(suite, selection)?;
    let columns = pairs.iter().enumerate().map(|(at, pair)| Column {
        target: name(&suite.targets[pair.target]),
        prompt_idx: at,
        raw: suite.tests.prompts[pair.prompt].raw(),
        label: suite.tests.prompts[pair.prompt].label.clone(),
    });
    let columns: Vec<Column> = columns.collect();
    let mut planner = Planner {
        suite,
        pairs: &pairs,
        repeat: repeat.max(1),
        plain: suite.is_literal || switched_on(&suite.env, "PROMPTFOO_DISABLE_VAR_EXPANSION"),
        host: suite.consent.map(|_| Host { env: suite.env.clone(), ..Host::default() }),
        cases: Vec::new(),
        test_idx: 0,
        group: 0,
    };
    for at in selection.tests(&suite.tests.tests) {
        planner.add(at)?;
    }
    Ok(Plan { cases: planner.cases, columns })
}

struct Planner<'a> {
    suite: &'a Suite,
    pairs: &'a [Pair],
    repeat: u32,
    /// Lists among the variables are values, not several cases.
    plain: bool,
    /// None if the suite is only read; then `transformVars` does not run.
    host: Option<Host>,
    cases: Vec<PlannedCase>,
    test_idx: usize,
    group: usize,
}

impl Planner<'_> {
    fn add(&mut self, at: Option<usize>) -> Result<(), TooManyCases> {
        let tests = &self.suite.tests.tests;
        // Planning needs nothing from a plain test, so it is not read yet.
        if at.is_some_and(|at| tests.is_plain(at)) {
            return self.add_cases(at, None, &[None], self.repeat, None);
        }
        let test = match at.map_or_else(|| Ok(Arc::default()), |at| tests.get(at)) {
            Ok(test) => test,
            Err(why) => return self.add_cases(at, None, &[None], self.repeat, Some(why.into())),
        };
        let (changed, flaw) = match transformed(&test, self.host.as_ref()) {
            Ok(vars) => (vars.map(Arc::new), None),
            Err(why) => (None, Some(Arc::from(format!("transformVars failed: {why}")))),
        };
        let vars = changed.as_deref().unwrap_or(&test.vars);
        let is_one = self.plain || test.options.disable_var_expansion;
        let repeat = test.options.repeat.unwrap_or(self.repeat).max(1);
        let combinations: Vec<_> = if is_one || !vars.values().any(Value::is_array) {
            vec![changed]
        } else {
            Factors { lists: combinations(vars), repeat, columns: 1, names: &combined(vars) }
                .check(self.cases.len())?;
            expand(vars).into_iter().map(|vars| Some(Arc::new(vars))).collect()
        };
        self.add_cases(at, Some(&test), &combinations, repeat, flaw)
    }

    /// Adds the cases of a test; `test` is none for a plain one.
    fn add_cases(
        &mut self,
        at: Option<usize>,
        test: Option<&Test>,
        combinations: &[Option<Arc<Map<String, Value>>>],
        repeats: u32,
        flaw: Option<Arc<str>>,
    ) -> Result<(), TooManyCases> {
        let scheduling = test.map(scheduling).unwrap_or_default();
        let is_wanted = |pair: &Pair| {
            let target = &self.suite.targets[pair.target];
            let prompt = &self.suite.tests.prompts[pair.prompt];
            test.is_none_or(|test| wanted(test, target, prompt))
        };
        let wanted: Vec<_> =
            self.pairs.iter().enumerate().filter(|(_, pair)| is_wanted(pair)).collect();
        let lists = combinations.len() as u128;
        Factors { lists, repeat: repeats, columns: wanted.len(), names: &[] }
            .check(self.cases.len())?;
        for repeat in 0..repeats {
            for (offset, vars) in combinations.iter().enumerate() {
                for &(column, pair) in &wanted {
                    self.cases.push(PlannedCase {
                        ordinal: self.cases.len(),
                        test_idx: self.test_idx,
                        group: self.group + offset,
                        column,
                        target: pair.target,
                        prompt: pair.prompt,
                        repeat,
                        test: at,
                        vars: vars.clone(),
                        flaw: flaw.clone(),
                        scheduling,
                    });
                }
                self.test_idx += 1;
            }
        }
        self.group += combinations.len();
        Ok(())
    }
}

fn scheduling(test: &Test) -> Scheduling {
    Scheduling {
        serial: test.options.run_serially,
        silent: test.options.disable_conversation_var,
        compared: test.asserts.iter().any(|assert| assert.comparison().is_some()),
    }
}

/// The variables that `transformVars` of a test returns. Lists among them mean several cases.
fn transformed(test: &Test, host: Option<&Host>) -> Result<Option<Map<String, Value>>, String> {
    let (Some(code), Some(host)) = (&test.options.transform_vars, host) else { return Ok(None) };
    let (vars, context) = (Value::Object(test.vars.clone()), json!({"vars": test.vars}));
    match code.run_js(&[("vars", &vars), ("context", &context)], host)? {
        Value::Object(vars) => Ok(Some(vars)),
        other => Err(format!("it returned {}, expected an object", kind_of(&other))),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct Pair {
    target: usize,
    prompt: usize,
}

fn columns(suite: &Suite, selection: &Selection) -> Result<Vec<Pair>, TooManyCases> {
    let mut pairs = Vec::new();
    for (target_at, target) in suite.targets.iter().enumerate() {
        if !selection.allows_target(target) {
            continue;
        }
        for (prompt_at, prompt) in suite.tests.prompts.iter().enumerate() {
            let listed = target.prompts.as_ref().is_none_or(|names| names_prompt(names, prompt));
            if listed && selection.allows_prompt(prompt) {
                pairs.push(Pair { target: target_at, prompt: prompt_at });
            }
        }
        Factors { lists: 1, repeat: 1, columns: pairs.len(), names: &[] }.check(0)?;
    }
    Ok(pairs)
}

/// The name of a target in results.
pub fn name(target: &Target) -> TargetName {
    TargetName { id: target.id.clone(), label: target.label.clone() }
}

fn wanted(test: &Test, target: &Target, prompt: &Prompt) -> bool {
    let named = [Some(target.id.as_str()), target.label.as_deref()];
    let is_target = |pattern: &String| named.iter().flatten().any(|name| names(pattern, name));
    test.only_targets.as_ref().is_none_or(|patterns| patterns.iter().any(is_target))
        && test.only_prompts.as_ref().is_none_or(|names| names_prompt(names, prompt))
}

fn names_prompt(patterns: &[String], prompt: &Prompt) -> bool {
    let named = [Some(prompt.label.as_str()), prompt.id.as_deref()];
    patterns.iter().any(|pattern| named.iter().flatten().any(|name| names(pattern, name)))
}
