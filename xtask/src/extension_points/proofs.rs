//! What shows that an example is reachable: the binary lists it, explains it and does what it says.

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;

use crate::Result;

/// A suite whose target is the example of a target kind and whose assertion is the example of an assertion.
const SUITE: &str = "\
targets:
  - id: constant
    config: {answer: all is well}
prompts: [How are you?]
tests:
  - description: polite
    assert: [{type: ends-with, value: well}]
  - description: sad
    assert: [{type: not-ends-with, value: well}]
";

/// The binary with the examples in it, and a folder to use it in.
pub(super) struct Binary {
    path: PathBuf,
    folder: PathBuf,
}

impl Binary {
    pub(super) fn new(path: PathBuf, folder: PathBuf) -> Result<Self> {
        // What an earlier proof left behind proves nothing.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let binary = Self { path, folder };
        binary.write("suite.yaml", SUITE)?;
        Ok(binary)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        fs::write(self.folder.join(name), text).map_err(|error| format!("{name}: {error}"))
    }

    fn read(&self, name: &str) -> Result<String> {
        fs::read_to_string(self.folder.join(name)).map_err(|error| format!("{name}: {error}"))
    }

    /// What the binary prints on both streams when it ends with one of these codes.
    fn run(&self, arguments: &[&str], codes: &[i32]) -> Result<String> {
        let line = format!("quintain {}", arguments.join(" "));
        let output = Command::new(&self.path)
            .args(arguments)
            .current_dir(&self.folder)
            .env("NO_COLOR", "1")
            .env("QUINTAIN_HOME", self.folder.join("home"))
            .output()
            .map_err(|error| format!("cannot start `{line}`: {error}"))?;
        let text = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.concat();
        let code = output.status.code();
        if code.is_some_and(|code| codes.contains(&code)) {
            return Ok(text);
        }
        Err(format!("`{line}` ended with {}, expected {codes:?}\n{text}", output.status))
    }

    /// Runs it and looks for a text in what it prints.
    fn shows(&self, arguments: &[&str], codes: &[i32], wanted: &str) -> Result<()> {
        let text = self.run(arguments, codes)?;
        holds(&format!("the output of `quintain {}`", arguments.join(" ")), &text, wanted)
    }

    /// `list` and `explain` know it.
    fn knows(&self, kind: &str, id: &str) -> Result<()> {
        let listed: Value = serde_json::from_str(&self.run(&["list", kind, "--json"], &[0])?)
            .map_err(|error| format!("`quintain list {kind} --json`: {error}"))?;
        let mut entries = listed.as_array().into_iter().flatten();
        if !entries.any(|entry| entry["id"] == id) {
            return Err(format!("`quintain list {kind}` does not show `{id}`"));
        }
        self.shows(&["explain", id], &[0], "What it does")
    }
}

fn holds(what: &str, text: &str, wanted: &str) -> Result<()> {
    if text.contains(wanted) {
        return Ok(());
    }
    Err(format!("{what} does not contain {wanted:?}:\n{text}"))
}

pub(super) fn assertion(binary: &Binary) -> Result<String> {
    binary.knows("assertions", "ends-with")?;
    binary.shows(&["schema"], &[0], "\"not-ends-with\"")?;
    let only = |pattern| ["eval", "-c", "suite.yaml", "--filter-pattern", pattern];
    binary.run(&only("polite"), &[0])?;
    binary.shows(&only("sad"), &[100], "Expected output to not end with \"well\"")?;
    Ok("`list`, `explain` and the schema know it; it passes and fails tests".to_owned())
}

pub(super) fn attack(binary: &Binary) -> Result<String> {
    binary.knows("attacks", "untyped-result")?;
    let program = binary.path.display().to_string();
    let report = "findings.json";
    let run = ["redteam", "run", "--plugins", "untyped-result", "-o", report, "--"];
    let target = [program.as_str(), "demo", "--stdio", "--vulnerable"];
    binary.run(&[&run[..], &target[..]].concat(), &[0, 100])?;
    let report: Value = serde_json::from_str(&binary.read(report)?)
        .map_err(|error| format!("the report of the run: {error}"))?;
    let mut findings = report["findings"].as_array().into_iter().flatten();
    if !findings.any(|finding| finding["rule"] == "untyped-result") {
        return Err("`redteam run` reported no finding of it".to_owned());
    }
    Ok("`list` and `explain` know it; `redteam run` reports a finding of it".to_owned())
}

pub(super) fn target_kind(binary: &Binary) -> Result<String> {
    binary.knows("targets", "constant")?;
    binary.shows(&["schema"], &[0], "^constant(:|$)")?;
    binary.run(&["eval", "-c", "suite.yaml", "-o", "cases.json"], &[100])?;
    holds("the report of `eval`", &binary.read("cases.json")?, "all is well")?;
    binary.write("wrong.yaml", "targets: [{id: constant, config: {anwser: x}}]\nprompts: [x]\n")?;
    binary.shows(&["eval", "-c", "wrong.yaml"], &[2], "did you mean `answer`?")?;
    binary.write("misspelt.yaml", "targets: [constent]\nprompts: [x]\n")?;
    binary.shows(&["eval", "-c", "misspelt.yaml"], &[2], "did you mean `constant`?")?;
    Ok("`list`, `explain` and the schema know it; a suite runs with it, mistakes are reported"
        .to_owned())
}

pub(super) fn reporter(binary: &Binary) -> Result<String> {
    binary.knows("reporters", "tap")?;
    binary.shows(&["eval", "--help"], &[0], ".tap")?;
    binary.run(&["eval", "-c", "suite.yaml", "-o", "cases.tap"], &[100])?;
    let report = binary.read("cases.tap")?;
    if report != "ok 1 polite\nnot ok 2 sad\n1..2\n" {
        return Err(format!("`-o cases.tap` wrote {report:?}"));
    }
    Ok("`list`, `explain` and `--help` know it; `-o cases.tap` writes it".to_owned())
}

pub(super) fn command(binary: &Binary) -> Result<String> {
    binary.shows(&["--help"], &[0], "Count what is built in")?;
    binary.shows(&["count", "--help"], &[0], "quintain count")?;
    binary.shows(&["count"], &[0], "assertions")?;
    binary.shows(&["completions", "bash"], &[0], "quintain,count)")?;
    Ok("`--help` and completions know it; it answers `--help` and runs".to_owned())
}

pub(super) fn check_of_traces(binary: &Binary) -> Result<String> {
    binary.knows("checks", "result.empty")?;
    let call = r#"{"name": "search", "args": {}, "result": {"content": []}}"#;
    let case = format!(r#"{{"input": "a", "actual_output": "b", "mcp_tools_called": [{call}]}}"#);
    binary.write("empty.json", &case)?;
    let grade = ["grade", "empty.json", "--json"];
    binary.shows(&grade, &[0], "the result of `search` is empty")?;
    binary.run(&["grade", "empty.json", "--fail-on", "info"], &[100])?;
    Ok("`list` and `explain` know it; `grade` reports a finding of it".to_owned())
}

pub(super) fn metric(binary: &Binary) -> Result<String> {
    binary.knows("metrics", "answer-length")?;
    binary.write("answer.json", r#"{"input": "a", "actual_output": "It rains all day."}"#)?;
    binary.run(&["grade", "answer.json", "--metrics", "answer-length"], &[0])?;
    let suite = |option: &str| format!("metrics: [{{type: answer-length, {option}}}]\n");
    binary.write("short.yaml", &suite("maxWords: 1"))?;
    let grade = |suite| ["grade", "answer.json", "-c", suite];
    binary.shows(&grade("short.yaml"), &[100], "4 words, at most 1")?;
    binary.write("wrong.yaml", &suite("maxWord: 1"))?;
    binary.shows(&grade("wrong.yaml"), &[2], "did you mean `maxWords`?")?;
    Ok("`list` and `explain` know it; it passes and fails traces, mistakes are reported".to_owned())
}

pub(super) fn trace_reader(binary: &Binary) -> Result<String> {
    binary.knows("trace-formats", "question-answer")?;
    binary.write(
        "pairs.jsonl",
        "{\"question\": \"Well?\", \"answer\": \"Yes.\"}\n{\"question\": 1}\n",
    )?;
    let grade = ["grade", "pairs.jsonl", "--save-traces", "traces.jsonl"];
    binary.shows(&grade, &[3], "expected a text for `question`")?;
    holds("the saved traces", &binary.read("traces.jsonl")?, r#""role":"user","text":"Well?""#)?;
    binary.run(&["grade", "pairs.jsonl", "--format", "qa"], &[3])?;
    Ok("`list` and `explain` know it; `grade` detects it and reports a bad record".to_owned())
}
