//! From a suite to the cases that will be run, in promptfoo's order: test, repetition, variables,
//! target, prompt.

mod select;

use std::borrow::Cow;
use std::sync::Arc;

use quintain_script::Host;
use quintain_source::switched_on;
use serde_json::{Map, Value, json};

use crate::event::Column;
use crate::result::TargetName;
use crate::suite::{Prompt, Suite, Target, Test, VarFile, expand};

pub use select::{Sameness, SelectError, Selection};

/// One case to run. Variables are not filled in yet: an earlier case may bring some of them.
#[derive(Debug, Clone)]
pub struct Case {
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
    pub test: Arc<Test>,
    /// One combination of its variables, if there are several.
    pub vars: Option<Arc<Map<String, Value>>>,
    /// Why it cannot be run, if so.
    pub flaw: Option<Arc<str>>,
}

impl Case {
    pub fn vars(&self) -> &Map<String, Value> {
        self.vars.as_deref().unwrap_or(&self.test.vars)
    }

    /// Its variables with what earlier cases and scripts bring, and with the content of files in
    /// place of their names.
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

/// What will be run.
#[derive(Debug, Default)]
pub struct Plan {
    pub cases: Vec<Case>,
    pub columns: Vec<Column>,
}

/// Plans the cases of a suite, as far as they are selected. `repeat` is how often each is run unless
/// the test says otherwise.
pub fn plan(suite: &Suite, selection: &Selection, repeat: u32) -> Plan {
    let pairs = columns(suite, selection);
    let columns = pairs.iter().enumerate().map(|(at, pair)| Column {
        target: name(&suite.targets[pair.target]),
        prompt_idx: at,
        raw: suite.tests.prompts[pair.prompt].raw(),
        label: suite.tests.prompts[pair.prompt].label.clone(),
    });
    let columns: Vec<Column> = columns.collect();
    let lone = Arc::new(Test::default());
    let tests: Cow<'_, [Arc<Test>]> = match &suite.tests.tests[..] {
        // A suite without tests runs its prompts once.
        [] => Cow::Owned(vec![lone]),
        tests => Cow::Borrowed(tests),
    };
    let mut cases = Vec::with_capacity(tests.len() * pairs.len());
    let (mut test_idx, mut first_group) = (0, 0);
    let host = Host { env: suite.env.clone(), ..Host::default() };
    let plain = switched_on(&suite.env, "PROMPTFOO_DISABLE_VAR_EXPANSION");
    for test in selection.tests(&tests) {
        let (changed, flaw) = match transformed(test, &host) {
            Ok(vars) => (vars.map(Arc::new), None),
            Err(why) => (None, Some(Arc::from(format!("transformVars failed: {why}")))),
        };
        let vars = changed.as_deref().unwrap_or(&test.vars);
        let combinations: Vec<Option<Arc<Map<String, Value>>>> =
            if plain || test.options.disable_var_expansion || !vars.values().any(Value::is_array) {
                vec![changed]
            } else {
                expand(vars).into_iter().map(|vars| Some(Arc::new(vars))).collect()
            };
        for repeat in 0..test.options.repeat.unwrap_or(repeat).max(1) {
            for (offset, vars) in combinations.iter().enumerate() {
                for (column, pair) in pairs.iter().enumerate() {
                    let (target, prompt) =
                        (&suite.targets[pair.target], &suite.tests.prompts[pair.prompt]);
                    if !wanted(test, target, prompt) {
                        continue;
                    }
                    cases.push(Case {
                        ordinal: cases.len(),
                        test_idx,
                        group: first_group + offset,
                        column,
                        target: pair.target,
                        prompt: pair.prompt,
                        repeat,
                        test: test.clone(),
                        vars: vars.clone(),
                        flaw: flaw.clone(),
                    });
                }
                test_idx += 1;
            }
        }
        first_group += combinations.len();
    }
    Plan { cases, columns }
}

/// The variables that `transformVars` of a test makes. They may hold lists, which mean several cases.
fn transformed(test: &Test, host: &Host) -> Result<Option<Map<String, Value>>, String> {
    let Some(code) = &test.options.transform_vars else { return Ok(None) };
    let (vars, context) = (Value::Object(test.vars.clone()), json!({"vars": test.vars}));
    match code.run_js(&[("vars", &vars), ("context", &context)], host)? {
        Value::Object(vars) => Ok(Some(vars)),
        other => Err(format!("it returned {}, not an object", kind_of(&other))),
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

fn columns(suite: &Suite, selection: &Selection) -> Vec<Pair> {
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
    }
    pairs
}

/// How results name a target.
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

/// A name as it is, the beginning of one before `*`, or a group before a colon.
pub(crate) fn names(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        return name.starts_with(start);
    }
    name == pattern || name.strip_prefix(pattern).is_some_and(|rest| rest.starts_with(':'))
}
