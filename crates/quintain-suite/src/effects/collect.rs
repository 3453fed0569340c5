//! Walks through everything that a plan uses of a suite. It asks assertions for their first questions, as a run
//! does, so that it covers new assertion types without knowing them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use quintain_evidence::code::{Code, Language};
use quintain_evidence::effects::{
    CodeRun, Contact, Effects, Environment, ProcessStart, Tests, Use, Variables, Write,
};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::kept_file::KeptFile;
use quintain_evidence::question::Question;
use quintain_evidence::response::Response;
use quintain_source::{Nunjucks, Scope, env_names};
use serde_json::{Map, Value};

use crate::check::ModelTask;
use crate::check::Scene;
use crate::plan::{Plan, PlannedCase};
use crate::rubric_prompt::RubricPrompt;
use crate::suite::{Address, address_of_model};
use crate::suite::{Assert, DerivedValue, Prompt, PromptBody, Rule, Suite, Target, Test, VarFile};
use crate::target::{Defined, Reach, Reached, bare};

/// The models that a suite names besides its targets.
pub struct Models<'a> {
    /// The judge of the command line.
    pub judge: Option<Value>,
    /// Reads a model as if it were a target: programs, scripts and web services can be models, too.
    pub read: &'a dyn Fn(&Value) -> Option<Target>,
}

/// Collects the effects.
pub(super) struct Collector<'a> {
    pub(super) suite: &'a Suite,
    models: &'a Models<'a>,
    /// Variables that every started server inherits.
    pub(super) inherited: &'a [&'a str],
    effects: Effects,
    tests: Tests,
    code: BTreeMap<(&'static str, Option<String>), BTreeMap<String, usize>>,
    written: BTreeSet<String>,
    asked: BTreeSet<String>,
    /// The models that assertions ask, as JSON.
    judges: BTreeSet<String>,
    /// Expands `{{env.NAME}}` to itself, so that the names stay visible.
    templates: Nunjucks,
    /// Variables in what is sent to targets, scripts and web services.
    content: Variables,
}

/// The effects of running this plan, without the reports of the command line. `inherited` are the names of the
/// variables that every started server inherits.
pub fn of_suite(suite: &Suite, plan: &Plan, models: &Models<'_>, inherited: &[&str]) -> Effects {
    let mut names: BTreeSet<String> = suite.env.keys().cloned().collect();
    for planned_case in &plan.cases {
        let test = planned_case.case(suite).test;
        let texts = test.asserts.iter().map(|assert| assert.raw.to_string());
        texts.for_each(|text| names.extend(env_names(&text, Scope::Env).names));
    }
    let by_name = names.iter().map(|name| (name.clone(), format!("{{{{env.{name}}}}}"))).collect();
    let mut found = Collector::new(suite, models, inherited);
    found.templates = Nunjucks::new(by_name);
    found.tests(plan);
    let content = found.content.clone();
    for url in std::mem::take(&mut found.asked) {
        let receives = found.variables([url.as_str()]).with(&content);
        found.contact(Contact {
            what: "webhook assertion".to_owned(),
            url: bare(&url),
            receives,
            files: Vec::new(),
        });
    }
    for judge in std::mem::take(&mut found.judges) {
        found.model("judge", &serde_json::from_str(&judge).unwrap_or_default(), &content);
    }
    let mut used: BTreeSet<usize> =
        plan.cases.iter().map(|planned_case| planned_case.target).collect();
    if !found.tests.made_by.is_empty() {
        // Generated tests may be sent to all targets.
        used.extend(0..suite.targets.len());
    }
    for target in used {
        found.target(&suite.targets[target], &content);
    }
    found.effects.tests = Some(std::mem::take(&mut found.tests));
    for output in &suite.tests.outputs {
        found.write("report", &output.file);
    }
    found.finish()
}

impl<'a> Collector<'a> {
    pub(super) fn new(suite: &'a Suite, models: &'a Models<'a>, inherited: &'a [&'a str]) -> Self {
        Self {
            suite,
            models,
            inherited,
            effects: Effects::default(),
            tests: Tests::default(),
            code: BTreeMap::new(),
            written: BTreeSet::new(),
            asked: BTreeSet::new(),
            judges: BTreeSet::new(),
            templates: Nunjucks::default(),
            content: Variables::default(),
        }
    }

    fn variables<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> Variables {
        Defined(vec![&self.suite.written_env]).variables(texts, Scope::Env)
    }

    /// Records the variables in texts that are sent.
    fn content<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        let variables = self.variables(texts);
        self.content = std::mem::take(&mut self.content).with(&variables);
    }

    /// Records what a target starts and contacts. `content` are the variables in what the tests send to it.
    pub(super) fn target(&mut self, target: &Target, content: &Variables) {
        self.reached(Reach::of(target, &self.suite.written_env, content, self.inherited));
    }

    /// Records what a model starts, runs or contacts: a target of the suite by its name, a program, a service.
    pub(super) fn model(&mut self, what: &str, model: &Value, content: &Variables) {
        if ModelTask::are_keys_of(model) {
            let by_task = ModelTask::ALL.iter().filter_map(|task| model.get(task.key()));
            by_task.for_each(|model| self.model(what, model, content));
            return;
        }
        let suite = self.suite;
        let is_named = |target: &&Target| {
            model.as_str().is_some_and(|name| target.name() == name || target.id == name)
        };
        let own = match suite.targets.iter().find(is_named) {
            Some(_) => None,
            None => (self.models.read)(model),
        };
        if let Some(target) = suite.targets.iter().find(is_named).or(own.as_ref()) {
            let env = &suite.written_env;
            let what = what.to_owned();
            return self.reached(Reach::of_named(what, target, env, content, self.inherited));
        }
        let text = model.to_string();
        let mut receives = self.variables([text.as_str()]).with(content);
        let Address { url, variables, files } = address_of_model(model);
        receives.names.extend(variables);
        self.contact(Contact { what: what.to_owned(), url, receives, files });
    }

    fn reached(&mut self, found: Vec<Reached>) {
        for reached in found {
            match reached {
                Reached::Start(start) => self.start(start),
                Reached::Contact(contact) => self.contact(contact),
                Reached::Code { code, what, executable } => {
                    self.code_with(&code, &what, executable.as_deref());
                }
            }
        }
    }

    fn start(&mut self, start: ProcessStart) {
        if !self.effects.start.contains(&start) {
            self.effects.start.push(start);
        }
    }

    pub(super) fn contact(&mut self, contact: Contact) {
        if !self.effects.contact.contains(&contact) {
            self.effects.contact.push(contact);
        }
    }

    pub(super) fn code(&mut self, code: &Code, what: &str) {
        self.code_with(code, what, None);
    }

    /// The same, for code with its own interpreter.
    pub(super) fn code_with(&mut self, code: &Code, what: &str, executable: Option<&str>) {
        let (language, file) = match code {
            Code::Inline { .. } => (name(code.language()), None),
            Code::File { path, function, .. } => {
                let function = function.as_ref().map(|function| format!(":{function}"));
                let file = format!("{}{}", path.display(), function.unwrap_or_default());
                (name(code.language()), Some(file))
            }
        };
        *self.code.entry((language, file)).or_default().entry(what.to_owned()).or_default() += 1;
        let Some((usual, variable)) = interpreter(code.language()) else { return };
        let named = executable.map(str::to_owned).or_else(|| {
            let unfilled = self.suite.written_env.get(variable);
            unfilled.or_else(|| self.suite.env.get(variable)).cloned()
        });
        self.start(ProcessStart {
            what: format!("{language} for code of the suite"),
            command: named.unwrap_or_else(|| usual.to_owned()),
            args: Vec::new(),
            cwd: None,
            environment: Environment::All,
            receives: Variables::default(),
        });
    }

    fn write(&mut self, what: &'static str, file: &KeptFile) {
        let shown = file.full().display().to_string();
        if self.written.insert(shown.clone()) {
            let refused = (!file.is_inside()).then_some("it is outside the folder of the suite");
            self.effects.write.push(Write { what, file: shown, refused });
        }
    }

    fn tests(&mut self, plan: &Plan) {
        let suite = self.suite;
        for (_, filter) in &suite.tests.filters {
            self.code(filter, "template filter");
            self.content.any = true;
        }
        for metric in &suite.tests.derived_metrics {
            if let DerivedValue::Code(code) = &metric.value {
                self.code(code, "derived metric");
            }
        }
        for not_called in &suite.not_called {
            self.code(&not_called.code, &format!("generates {}", not_called.makes));
            self.content.any = true;
            if let (Code::File { path, .. }, "tests") = (&not_called.code, not_called.makes) {
                self.tests.made_by.push(path.display().to_string());
            }
        }
        let (mut tests, mut prompts) = (HashSet::new(), HashSet::new());
        if !self.tests.made_by.is_empty() {
            // Generated tests may use all prompts.
            prompts.extend(0..suite.tests.prompts.len());
            suite.tests.prompts.iter().for_each(|prompt| self.prompt(prompt));
        }
        let default = self.judge();
        for planned_case in &plan.cases {
            let prompt = &suite.tests.prompts[planned_case.prompt];
            if prompts.insert(planned_case.prompt) {
                self.prompt(prompt);
            }
            let case = planned_case.case(suite);
            let is_new = tests.insert(planned_case.test);
            if is_new {
                self.test(&case.test);
                // Code may make the question, but not its judge.
                for asked in case.test.models() {
                    let judge = asked.model.ok().and_then(|named| match named {
                        Some(named) => Some(named.value),
                        None => default.clone(),
                    });
                    self.judges.extend(judge.map(|judge| judge.to_string()));
                }
            }
            self.asserts(&case.test, planned_case, case.vars(), is_new);
        }
        let counts = &mut self.tests;
        (counts.tests, counts.cases) = (tests.len(), plan.cases.len());
    }

    fn prompt(&mut self, prompt: &Prompt) {
        match &prompt.body {
            PromptBody::Text(text) => self.content([text.as_str()]),
            PromptBody::Call(call) => self.content([call.to_string().as_str()]),
            PromptBody::Code(code) => {
                self.code(code, "prompt");
                self.content.any = true;
            }
        }
    }

    fn test(&mut self, test: &Test) {
        let options = &test.options;
        let texts = [&test.vars, &options.raw].map(|map| Value::Object(map.clone()).to_string());
        self.content(texts.iter().map(String::as_str));
        for file in test.files.values() {
            if let VarFile::Code(code) = file {
                self.code(code, "variable");
                self.content.any = true;
            }
        }
        if let Some(code) = &options.transform_vars {
            self.code(code, "transforms variables");
            self.content.any = true;
            self.tests.changed_by_code += 1;
        }
        if let Some(code) = &options.transform {
            self.code(code, "transforms responses");
            // A later test may send what it returns.
            self.content.any |= options.store_output_as.is_some();
        }
        if let Some(code) = options.rubric_prompt.as_ref().and_then(RubricPrompt::code) {
            self.code(code, "question to a judge");
        }
        if let Some(code) = &test.scoring {
            self.code(code, "scores");
        }
        for assert in &test.asserts {
            self.code_of(assert);
        }
    }

    fn code_of(&mut self, assert: &Assert) {
        for code in assert.transform.iter().chain(&assert.script) {
            self.code(code, "assertion");
        }
        match &assert.rule {
            Rule::Set { asserts, .. } => asserts.iter().for_each(|assert| self.code_of(assert)),
            Rule::Check(check) => check.code().iter().for_each(|code| self.code(code, "assertion")),
        }
    }

    /// Records the effects of the questions of assertions.
    fn asserts(
        &mut self,
        test: &Test,
        planned_case: &PlannedCase,
        vars: &Map<String, Value>,
        is_new: bool,
    ) {
        let suite = self.suite;
        let target = &suite.targets[planned_case.target];
        let prompt = suite.tests.prompts[planned_case.prompt].raw();
        for assert in &test.asserts {
            let questions = self.questions(assert, test, target, &prompt, vars);
            for question in questions {
                match question {
                    Question::Run { code, .. } if is_new => self.code(&code, "assertion"),
                    Question::Post { url, .. } => {
                        self.asked.insert(url);
                    }
                    Question::Read(file) => self.write("snapshot", &file),
                    // Recorded before, sent to the target, or without an effect.
                    Question::Run { .. } | Question::Call { .. } | Question::Say(_) => {}
                    Question::Model(question) => {
                        let judge = question.model.or_else(|| self.judge());
                        self.judges.extend(judge.map(|judge| judge.to_string()));
                    }
                }
            }
        }
    }

    /// The judge of the command line, else that of the suite.
    fn judge(&self) -> Option<Value> {
        if self.models.judge.is_some() {
            return self.models.judge.clone();
        }
        let named = self.suite.documents.iter().rev().find_map(|document| document.get("judge"))?;
        let judge = named.to_json();
        Some(judge.get("provider").cloned().unwrap_or(judge))
    }

    fn questions(
        &self,
        assert: &Assert,
        test: &Test,
        target: &Target,
        prompt: &str,
        vars: &Map<String, Value>,
    ) -> Vec<Question> {
        let check = match &assert.rule {
            // To know the question to a judge, its code would have to run.
            Rule::Check(check)
                if !check.model_tasks().is_empty() && (is_made(test) || check.code().is_some()) =>
            {
                return Vec::new();
            }
            Rule::Check(check) => check,
            Rule::Set { asserts, .. } => {
                let all = asserts.iter();
                return all
                    .flat_map(|one| self.questions(one, test, target, prompt, vars))
                    .collect();
            }
        };
        let scene = Scene {
            output: &Value::String(String::new()),
            response: &Response::default(),
            evidence: &Evidence::default(),
            surfaces: &[],
            vars,
            prompt,
            test,
            target: target.name(),
            definition: Some(target),
            latency_ms: None,
            templates: &self.templates,
            script_value: None,
        };
        match check.asks().then(|| check.next(&scene, &Rounds::default())) {
            Some(Next::Ask(questions)) => questions,
            Some(Next::Done(_)) | None => Vec::new(),
        }
    }

    pub(super) fn finish(mut self) -> Effects {
        let run = self.code.into_iter().map(|((language, file), uses)| CodeRun {
            language,
            file,
            uses: uses.into_iter().map(|(what, count)| Use { what, count }).collect(),
        });
        self.effects.run = run.collect();
        self.effects
    }
}

/// The interpreter of a language and the variable that overrides it; none for JavaScript.
fn interpreter(language: Language) -> Option<(&'static str, &'static str)> {
    match language {
        Language::JavaScript => None,
        Language::Python => Some(("python3", "PROMPTFOO_PYTHON")),
        Language::Ruby => Some(("ruby", "PROMPTFOO_RUBY")),
    }
}

fn name(language: Language) -> &'static str {
    match language {
        Language::JavaScript => "JavaScript",
        Language::Python => "Python",
        Language::Ruby => "Ruby",
    }
}

/// Whether code makes the question to the judges of a test.
fn is_made(test: &Test) -> bool {
    test.options.rubric_prompt.as_ref().and_then(RubricPrompt::code).is_some()
}
