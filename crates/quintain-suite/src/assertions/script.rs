//! User code that judges the output: JavaScript runs in this process, Python and Ruby in the user's
//! interpreter.

mod failure;

use quintain_content::registry::Meta;
use quintain_evidence::code::{Code, Language};
use quintain_evidence::inquiry::{Next, Rounds};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::verdict::Verdict;
use quintain_script::{Host, Script};
use quintain_source::{Diagnostic, is_template, wrong_type};
use serde_json::Value;

use crate::check::{Builtin, Check, Scene, SlowVerdict, Spec, judging};
use crate::code::RunCode as _;
use crate::code::{Grade, Voice, context};
use crate::files::{FileValue, may_run};
use failure::{failure, not_a_grade, thrown};

pub(super) static JAVASCRIPT: Builtin = Builtin {
    meta: &Meta {
        id: "javascript",
        aliases: &[],
        summary: "A JavaScript check passes",
        docs: r"# What it does
Runs `value`: an expression, several lines with `return`, a function, or `file://check.js[:function]`
with a function as its default export. Inline code sees `output` and `context`; functions get them as
arguments.

The code returns true or false, a number (the score; passes if it is above 0, or at least `threshold`),
or `{pass, score, reason}`, optionally with `namedScores` and `componentResults`.

`context` has `vars`, `prompt`, `test`, `provider`, `providerResponse`, `metadata`, `logProbs`,
`config` (the option of the same name), and, if the code mentions them, `trace` and `exchanges`: all
requests and responses.

The code runs inside Quintain, not in Node.js: `require` and `fetch` are not available, and time and memory
are limited.

# Example
```yaml
- type: javascript
  value: JSON.parse(output).length > context.config.least
  config: { least: 2 }
```
",
        since: "0.1.0",
    },
    compile: |spec| compile(spec, Language::JavaScript),
};

pub(super) static PYTHON: Builtin = Builtin {
    meta: &Meta {
        id: "python",
        aliases: &[],
        summary: "A Python check passes",
        docs: r"# What it does
Runs `value`: an expression, or several lines with `return`, that use `output` and `context`; or
`file://check.py[:function]`, by default its function `get_assert(output, context)`. `context` is the same
as for `javascript`.

The code returns a boolean, a number, or a dict with `pass`, `score` and `reason`; `pass_`,
`named_scores` and `component_results` work too. `threshold` always applies to the score.

# Example
```yaml
- type: python
  value: len(output) < 2000
```
",
        since: "0.1.0",
    },
    compile: |spec| compile(spec, Language::Python),
};

pub(super) static RUBY: Builtin = Builtin {
    meta: &Meta {
        id: "ruby",
        aliases: &[],
        summary: "A Ruby check passes",
        docs: r"# What it does
Runs `value`: an expression, or several lines with `return`, that use `output` and `context`; or
`file://check.rb[:function]`, by default its function `get_assert(output, context)`. Arguments and results
are the same as for `python`.

# Example
```yaml
- type: ruby
  value: output.length < 2000
```
",
        since: "0.1.0",
    },
    compile: |spec| compile(spec, Language::Ruby),
};

struct ScriptCheck {
    source: Source,
    config: Option<Value>,
    grading: Grading,
}

/// How a returned value becomes a verdict.
#[derive(Clone, Copy)]
struct Grading {
    /// The language of the type; a file may be in another one.
    language: Language,
    threshold: Option<f64>,
    negated: bool,
}

enum Source {
    /// Inline code, as written. JavaScript without templates is compiled once.
    Inline { text: String, script: Option<Script> },
    /// A file, with the reference as written.
    File { code: Code, script: Script, reference: String },
}

fn compile(spec: &mut Spec<'_, '_>, language: Language) -> Option<Box<dyn Check>> {
    if spec.node.get("value").and_then(quintain_source::Node::raw).is_none() {
        return without_code(spec, language);
    }
    let source = source(spec, language);
    let config = spec.fields.get("config").map(quintain_source::Node::to_json);
    let threshold = spec.threshold();
    let negated = spec.negated;
    let grading = Grading { language, threshold, negated };
    Some(Box::new(ScriptCheck { source: source?, config, grading }))
}

/// A check without code: every case gets an error.
fn without_code(spec: &mut Spec<'_, '_>, language: Language) -> Option<Box<dyn Check>> {
    let name = match language {
        Language::JavaScript => "javascript",
        Language::Python => "python",
        Language::Ruby => "ruby",
    };
    let why = format!("Invariant failed: {name} assertion must have a string value");
    for option in ["config", "threshold"] {
        spec.fields.get(option);
    }
    let code = spec.expect::<()>(move |_| Err(why.clone()));
    judging(move |scene| code.get(scene).map(|_| Verdict::error("there is no code")))
}

fn source(spec: &mut Spec<'_, '_>, language: Language) -> Option<Source> {
    let node = spec.fields.get("value")?;
    let text = node.raw()?;
    let Some(path) = text.strip_prefix("file://") else {
        if !may_run(language, node, spec.files, spec.dx) {
            return None;
        }
        let fixed = language == Language::JavaScript && !is_template(text);
        let script = fixed.then(|| Script::inline(text.trim_end()));
        return Some(Source::Inline { text: text.to_owned(), script });
    };
    let reference = text.to_owned();
    let code = match FileValue::read(path, spec.base_dir, spec.files) {
        Ok(FileValue::Code(code)) => with_function(code),
        Ok(FileValue::Data(Value::String(text))) => {
            let allowed = may_run(language, node, spec.files, spec.dx);
            return allowed.then_some(Source::Inline { script: None, text });
        }
        Ok(FileValue::Data(_)) => {
            wrong_type("value", "a file with code", node, spec.dx);
            return None;
        }
        Err(why) => {
            let title = "this file cannot be used";
            spec.dx.push(Diagnostic::error("config::unreadable-file", title).at(node.span, why));
            return None;
        }
    };
    Some(Source::File { script: code.script(), code, reference })
}

/// Interpreters need the name of the function to call.
fn with_function(code: Code) -> Code {
    match code {
        Code::File {
            language: language @ (Language::Python | Language::Ruby),
            path,
            text,
            function,
        } => {
            let function = function.or_else(|| Some("get_assert".to_owned()));
            Code::File { language, path, text, function }
        }
        code => code,
    }
}

impl Source {
    /// The code for this case.
    fn code(&self, language: Language, scene: &Scene<'_>) -> Result<Code, Box<Verdict>> {
        match self {
            Self::File { code, .. } => Ok(code.clone()),
            Self::Inline { text, .. } => {
                let text = scene.render(text);
                let text = text.map_err(|error| Box::new(Verdict::error(error.to_string())))?;
                Ok(match language {
                    Language::JavaScript => {
                        Code::Inline { language, text: text.trim_end().to_owned() }
                    }
                    _ => Code::program(language, &text),
                })
            }
        }
    }

    fn is_js(&self, language: Language) -> bool {
        match self {
            Self::File { code, .. } => code.language() == Language::JavaScript,
            Self::Inline { .. } => language == Language::JavaScript,
        }
    }
}

impl Grading {
    fn voice(self) -> Voice {
        match self.language {
            Language::JavaScript => Voice { code: "Custom function", language: "Javascript" },
            Language::Python => Voice { code: "Python code", language: "Python" },
            Language::Ruby => Voice { code: "Ruby code", language: "Ruby" },
        }
    }

    /// What the code returned, as a verdict. `shown` is the code for the reason.
    fn grade(self, value: &Value, shown: &str) -> Verdict {
        let voice = self.voice();
        let grade = match self.language {
            Language::JavaScript => {
                Grade::of_js(value).ok_or_else(|| thrown(&not_a_grade(value), shown))
            }
            _ => Grade::of_script(value, voice, self.threshold)
                .map_err(|why| format!("{} execution failed: {why}", voice.code)),
        };
        match grade {
            Ok(grade) => grade.verdict(voice, self.negated, self.threshold, shown),
            Err(reason) => Verdict::fail(reason),
        }
    }
}

impl ScriptCheck {
    /// JavaScript with everything that it is run with.
    fn js(&self, scene: &Scene<'_>) -> Result<SlowVerdict, Box<Verdict>> {
        let (script, shown) = match &self.source {
            Source::File { script, reference, .. } => (script.clone(), reference.clone()),
            Source::Inline { text, script: Some(script) } => {
                (script.clone(), text.trim_end().to_owned())
            }
            Source::Inline { script: None, .. } => {
                let code = self.source.code(Language::JavaScript, scene)?;
                (code.script(), code.text().to_owned())
            }
        };
        let mentions = match &self.source {
            Source::File { code, .. } => code.text(),
            Source::Inline { .. } => &shown,
        };
        let (output, context) =
            (scene.output.clone(), context(scene, self.config.as_ref(), mentions));
        let host = Host { env: scene.templates.env().clone(), ..Host::default() };
        let in_file = matches!(self.source, Source::File { .. });
        let grading = self.grading;
        let written = match grading.language {
            Language::JavaScript => shown.clone(),
            _ => self.written().to_owned(),
        };
        Ok(Box::new(move || {
            match script.run(&[("output", &output), ("context", &context)], &host) {
                Ok(value) => grading.grade(&value, &written),
                Err(error) => failure(&error, in_file, &shown),
            }
        }))
    }

    /// The reasons of Python and Ruby show the value as written.
    fn written(&self) -> &str {
        match &self.source {
            Source::Inline { text, .. } => text,
            Source::File { reference, .. } => reference,
        }
    }
}

impl Check for ScriptCheck {
    fn code(&self) -> Option<Code> {
        let is_own = self.source.is_js(self.grading.language);
        is_own.then(|| match &self.source {
            Source::File { code, .. } => code.clone(),
            Source::Inline { text, .. } => {
                Code::Inline { language: Language::JavaScript, text: text.clone() }
            }
        })
    }

    fn next(&self, scene: &Scene<'_>, rounds: &Rounds) -> Next<Verdict> {
        if let Some(verdict) = self.slow_verdict(scene) {
            return Next::Done(verdict());
        }
        let code = match self.source.code(self.grading.language, scene) {
            Ok(code) => code,
            Err(verdict) => return Next::Done(*verdict),
        };
        let question = || {
            let context = context(scene, self.config.as_ref(), code.text());
            let arguments = vec![scene.output.clone(), context];
            vec![Question::Run { code, function: "get_assert".to_owned(), arguments }]
        };
        rounds.once(question, |answers| self.judge(answers))
    }

    fn slow_verdict(&self, scene: &Scene<'_>) -> Option<SlowVerdict> {
        if self.asks() {
            return None;
        }
        Some(self.js(scene).unwrap_or_else(|verdict| Box::new(|| *verdict)))
    }

    fn asks(&self) -> bool {
        !self.source.is_js(self.grading.language)
    }
}

impl ScriptCheck {
    fn judge(&self, answers: &[Answer]) -> Verdict {
        match (answers.first(), &self.source) {
            (Some(Answer::Value(value)), _) => self.grading.grade(value, self.written()),
            (Some(Answer::Failed(why)), Source::File { .. }) => Verdict::fail(why),
            (Some(Answer::Failed(why)), Source::Inline { .. }) => {
                Verdict::fail(format!("{} execution failed: {why}", self.grading.voice().code))
            }
            (Some(Answer::Unavailable(why)), _) => Verdict::error(why),
            (Some(Answer::Exchange(_) | Answer::Reply(_)) | None, _) => {
                Verdict::error("the interpreter did not answer")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::{Path, PathBuf};

    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use super::*;
    use crate::suite::Files;
    use crate::testing::{
        TestScene, compile, compile_with, first_questions, judged_with, only_check, passes,
    };

    struct OneFile(&'static str);

    impl Files for OneFile {
        fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
            Ok(self.0.as_bytes().to_vec())
        }

        fn matching(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn javascript_is_understood_in_every_form() {
        for code in [
            "output === 'abc'",
            "output.length > 2;",
            "const n = output.length; n === 3",
            "(output, context) => context.vars.x === 1",
            "output.length / 10",
            "({pass: true, score: 0.5, reason: 'fine'})",
        ] {
            let mut stage = TestScene::output("abc");
            stage.vars.insert("x".to_owned(), json!(1));
            let yaml = format!("[{{type: javascript, value: {}}}]", json!(code));
            let verdict = stage.judge(&yaml);
            assert!(verdict.passed(), "{code}: {}", verdict.reason);
        }
        assert!(passes(
            "- type: javascript\n  value: |\n    const n = 1;\n    return n > 0;\n",
            ""
        ));
    }

    #[test]
    fn a_failure_shows_the_code() {
        let verdict =
            TestScene::output("a").judge("[{type: javascript, value: 'output === \"b\"'}]");
        assert_eq!(verdict.reason, "Custom function returned false\noutput === \"b\"");
        let verdict = TestScene::output("a").judge("[{type: not-javascript, value: 'true'}]");
        assert_eq!(verdict.reason, "Custom function returned true\ntrue");
    }

    #[test]
    fn templates_are_filled_in_before_the_code_runs() {
        let mut stage = TestScene::output("abc");
        stage.vars.insert("want".to_owned(), json!("abc"));
        assert!(stage.judge("[{type: javascript, value: 'output === \"{{want}}\"'}]").passed());
    }

    #[test]
    fn the_threshold_is_for_scores() {
        assert!(!passes("[{type: javascript, value: '0.4', threshold: 0.5}]", ""));
        assert!(passes("[{type: javascript, value: '0.5', threshold: 0.5}]", ""));
        let verdict = TestScene::output("").judge("[{type: not-javascript, value: '0'}]");
        assert_eq!((verdict.passed(), verdict.score), (true, 0.0));
    }

    #[test]
    fn what_code_throws_is_told() {
        let verdict =
            TestScene::output("x").judge("[{type: not-javascript, value: 'JSON.parse(output)'}]");
        assert_eq!(verdict.status, Status::Fail);
        assert!(verdict.reason.starts_with("Custom function threw error: "), "{}", verdict.reason);
        assert!(verdict.reason.ends_with("\nJSON.parse(output)"), "{}", verdict.reason);
        let verdict = TestScene::output("x").judge("[{type: javascript, value: '\"yes\"'}]");
        assert!(verdict.reason.contains("Got type string: \"yes\""), "{}", verdict.reason);
        let verdict = TestScene::output("x").judge("[{type: javascript, value: 'fetch(1)'}]");
        assert_eq!(verdict.status, Status::Error);
    }

    #[test]
    fn a_function_in_a_file_is_called() {
        let file = OneFile("module.exports = (output, {vars}) => output === 'a';");
        let (asserts, complaints) =
            compile_with("[{type: javascript, value: 'file://x.js'}]", &file);
        assert_eq!(complaints, "");
        let check = only_check(&asserts);
        let verdict = TestScene::output("b").with(|scene| judged_with(check, scene, &[]));
        assert_eq!(verdict.reason, "Custom function returned false\nfile://x.js");
    }

    #[test]
    fn python_is_a_question() {
        let asserts = compile("[{type: python, value: 'len(output) > {{n}}'}]");
        let check = only_check(&asserts);
        let mut stage = TestScene::output("abc");
        stage.vars.insert("n".to_owned(), json!(2));
        stage.with(|scene| {
            let asked = first_questions(check, scene);
            let [Question::Run { code, arguments, .. }] = &asked[..] else { panic!() };
            assert!(code.text().ends_with("return len(output) > 2\n"));
            assert_eq!((&arguments[0], &arguments[1]["vars"]["n"]), (&json!("abc"), &json!(2)));
            let verdict = judged_with(check, scene, &[Answer::Value(json!(false))]);
            assert_eq!(verdict.reason, "Python code returned false\nlen(output) > {{n}}");
            let verdict = judged_with(check, scene, &[Answer::Failed("boom".to_owned())]);
            assert_eq!(verdict.reason, "Python code execution failed: boom");
            assert_eq!(verdict.status, Status::Fail);
            let verdict =
                judged_with(check, scene, &[Answer::Unavailable("no python3".to_owned())]);
            assert_eq!(verdict.status, Status::Error);
        });
    }

    #[test]
    fn a_python_file_names_its_function() {
        let file = OneFile("def get_assert(output, context): return True");
        let (asserts, _) = compile_with("[{type: python, value: 'file://x.py'}]", &file);
        TestScene::output("a").with(|scene| {
            let check = only_check(&asserts);
            let [Question::Run { code: Code::File { function, .. }, .. }] =
                &first_questions(check, scene)[..]
            else {
                panic!()
            };
            assert_eq!(function.as_deref(), Some("get_assert"));
            let verdict = judged_with(check, scene, &[Answer::Failed("boom".to_owned())]);
            assert_eq!(verdict.reason, "boom");
        });
    }
}
