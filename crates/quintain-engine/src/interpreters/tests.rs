use std::fs;
use std::path::Path;

use super::*;

fn interpreters(time: Duration) -> Interpreters {
    Interpreters::new(
        Consent::of_the_user(),
        std::env::vars().collect(),
        time,
        1 << 20,
        Commands::default(),
    )
}

fn file(folder: &Path, name: &str, text: &str, function: Option<&str>) -> Code {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    let is_ruby = path.extension().is_some_and(|suffix| suffix == "rb");
    let language = if is_ruby { Language::Ruby } else { Language::Python };
    Code::File { language, path, text: text.to_owned(), function: function.map(str::to_owned) }
}

async fn ask(interpreters: &Interpreters, code: &Code, arguments: &[Value]) -> Answer {
    let call = Call { code, function: "get_assert", arguments, executable: None };
    interpreters.call(&call).await
}

async fn python(text: &str) -> Answer {
    let interpreters = interpreters(Duration::from_secs(20));
    let code = Code::program(Language::Python, text);
    let answer = ask(&interpreters, &code, &[json!("abc"), json!({"vars": {"n": 3}})]).await;
    interpreters.close().await;
    answer
}

fn failed(answer: Answer) -> String {
    let Answer::Failed(why) = answer else { panic!("{answer:?}") };
    why
}

#[tokio::test]
async fn inline_python_sees_output_and_context() {
    assert_eq!(python("len(output) == context['vars']['n']").await, Answer::Value(json!(true)));
    let printed = "print('{\"value\": 0}')\nimport os\nos.system('echo loud')\nreturn 'ü'";
    assert_eq!(python(printed).await, Answer::Value(json!("ü")), "printed text is not an answer");
    assert_eq!(python("input()\nreturn 1").await, python("x = input()\nreturn 1").await);
}

#[tokio::test]
async fn python_exceptions_are_reported_like_promptfoo_does() {
    let why = failed(python("json.loads(output)['a']").await);
    let error = "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)";
    let start = format!("Error running Python script: {error}\nStack Trace: Error: {error}\n");
    assert!(why.starts_with(&start), "{why}");
    let why = failed(python("output ==").await);
    assert!(why.starts_with("Error running Python script: SyntaxError: invalid syntax\n"), "{why}");
    let why = failed(python("{1, 2}").await);
    assert!(why.contains("TypeError: Object of type set is not JSON serializable"), "{why}");
    let why = failed(python("float('nan')").await);
    assert!(why.contains("ValueError"), "{why}");
    assert!(failed(python("exit(3)").await).contains("SystemExit: 3"));
}

#[tokio::test]
async fn a_file_is_loaded_once_and_its_functions_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let text = "import helper\ncalls = 0\nasync def get_assert(output, context):\n    global calls\n    calls += helper.STEP\n    return calls\nclass Box:\n    @classmethod\n    def made(cls, output, context):\n        return output\n";
    fs::write(folder.path().join("helper.py"), "STEP = 1\n").unwrap();
    let interpreters = interpreters(Duration::from_secs(20));
    let arguments = [json!("o"), json!({})];
    let code = file(folder.path(), "check.py", text, None);
    assert_eq!(ask(&interpreters, &code, &arguments).await, Answer::Value(json!(1)));
    assert_eq!(ask(&interpreters, &code, &arguments).await, Answer::Value(json!(2)));
    let method = file(folder.path(), "check.py", text, Some("Box.made"));
    assert_eq!(ask(&interpreters, &method, &arguments).await, Answer::Value(json!("o")));
    let absent = file(folder.path(), "check.py", text, Some("absent"));
    let why = failed(ask(&interpreters, &absent, &arguments).await);
    let words = "AttributeError: module 'check' has no attribute 'absent'";
    assert!(why.starts_with(&format!("Error running Python script: {words}\n")), "{why}");
    interpreters.close().await;
}

#[tokio::test]
async fn calls_at_once_have_an_interpreter_each() {
    let interpreters = interpreters(Duration::from_secs(20));
    let slow =
        Code::program(Language::Python, "import time, os\ntime.sleep(0.3)\nreturn os.getpid()");
    let given = [json!(0), json!(0)];
    let (one, two) =
        tokio::join!(ask(&interpreters, &slow, &given), ask(&interpreters, &slow, &given));
    assert_ne!(one, two);
    interpreters.close().await;
}

#[tokio::test]
async fn one_that_dies_or_hangs_is_replaced() {
    let interpreters = interpreters(Duration::from_secs(2));
    let arguments = [json!(1), json!({})];
    let dies = Code::program(
        Language::Python,
        "import os, sys\nsys.stderr.write('oh no')\nsys.stderr.flush()\nos._exit(7)",
    );
    let why = failed(ask(&interpreters, &dies, &arguments).await);
    assert!(why.contains("the interpreter ended; it printed:\noh no"), "{why}");
    let hangs = Code::program(Language::Python, "while True: pass\nreturn 1");
    let why = failed(ask(&interpreters, &hangs, &arguments).await);
    assert!(why.ends_with("it did not return within 2000 ms"), "{why}");
    let floods = Code::program(Language::Python, "'x' * (2 << 20)");
    assert!(failed(ask(&interpreters, &floods, &arguments).await).contains("longer than"));
    let fine = Code::program(Language::Python, "output + 1");
    assert_eq!(ask(&interpreters, &fine, &arguments).await, Answer::Value(json!(2)));
    interpreters.close().await;
}

#[tokio::test]
async fn a_missing_interpreter_is_unavailable() {
    let env = BTreeMap::from([("PROMPTFOO_PYTHON".to_owned(), "/nowhere/python".to_owned())]);
    let (consent, time) = (Consent::of_the_user(), Duration::from_secs(1));
    let interpreters = Interpreters::new(consent, env, time, 100, Commands::default());
    let code = Code::program(Language::Python, "1");
    let Answer::Unavailable(why) = ask(&interpreters, &code, &[]).await else { panic!() };
    assert!(why.contains("`/nowhere/python`"), "{why}");
    let call =
        Call { code: &code, function: "", arguments: &[], executable: Some("/other/python") };
    let Answer::Unavailable(why) = interpreters.call(&call).await else { panic!() };
    assert!(why.contains("`/other/python`"), "{why}");
}

#[tokio::test]
async fn ruby_is_asked_the_same_way() {
    let folder = tempfile::tempdir().unwrap();
    let interpreters = interpreters(Duration::from_secs(20));
    let arguments = [json!("abc"), json!({"vars": {"n": 3}})];
    let inline = Code::program(Language::Ruby, "output.length == context['vars']['n']");
    assert_eq!(ask(&interpreters, &inline, &arguments).await, Answer::Value(json!(true)));
    let text = "def get_assert(output, context)\n  puts 'loud'\n  { pass: true, score: 0.5, reason: output }\nend\n";
    let code = file(folder.path(), "check.rb", text, None);
    let opinion = json!({"pass": true, "score": 0.5, "reason": "abc"});
    assert_eq!(ask(&interpreters, &code, &arguments).await, Answer::Value(opinion));
    let raises = Code::program(Language::Ruby, "raise 'broken on purpose'");
    let why = failed(ask(&interpreters, &raises, &arguments).await);
    let start = "Error running Ruby script: RuntimeError: broken on purpose\nStack Trace: Error: ";
    assert!(why.starts_with(start), "{why}");
    interpreters.close().await;
}

#[tokio::test]
async fn files_do_not_get_into_each_others_way() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let interpreters = interpreters(Duration::from_secs(20));
    let text = "import helper\ndef get_assert(output, context):\n    import helper as late\n    return helper.NAME + late.NAME\n";
    for (folder, name) in [(&one, "a"), (&two, "b")] {
        fs::write(folder.path().join("helper.py"), format!("NAME = '{name}'\n")).unwrap();
    }
    let arguments = [json!(""), json!({})];
    for (folder, wanted) in [(&one, "aa"), (&two, "bb"), (&one, "aa")] {
        let code = file(folder.path(), "check.py", text, None);
        assert_eq!(ask(&interpreters, &code, &arguments).await, Answer::Value(json!(wanted)));
    }
    let full = file(one.path(), "full.rb", "def get_assert(o, c)\n  'full'\nend\n", None);
    let empty = file(one.path(), "empty.rb", "def other(o, c)\n  1\nend\n", None);
    assert_eq!(ask(&interpreters, &full, &arguments).await, Answer::Value(json!("full")));
    let why = failed(ask(&interpreters, &empty, &arguments).await);
    assert!(why.contains("NoMethodError"), "{why}");
    assert_eq!(ask(&interpreters, &full, &arguments).await, Answer::Value(json!("full")));
    interpreters.close().await;
}

#[tokio::test]
async fn a_file_without_a_function_is_run_as_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let interpreters = interpreters(Duration::from_secs(20));
    let text = "import json, sys\nprint('Hello', json.loads(sys.argv[1])['who'])\n";
    let code = file(folder.path(), "prompt.py", text, None);
    let arguments = [json!({"who": "Ann"})];
    let call = Call { code: &code, function: "", arguments: &arguments, executable: None };
    assert_eq!(interpreters.call(&call).await, Answer::Value(json!("Hello Ann")));
    interpreters.close().await;
}
