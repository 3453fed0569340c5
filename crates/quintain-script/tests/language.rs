//! What code means, what it can see, and how its result is converted.

#![allow(clippy::unwrap_used)]

use quintain_script::{Host, Script, ScriptError};
use serde_json::{Value, json};

fn run(code: &str) -> Result<Value, ScriptError> {
    let (output, context) = (json!("hello"), json!({"vars": {"name": "Ada"}, "list": [1, 2]}));
    let arguments = [("output", &output), ("context", &context)];
    Script::inline(code).run(&arguments, &Host::default())
}

fn file(name: &str, text: &str, function: Option<&str>) -> Result<Value, ScriptError> {
    let (output, context) = (json!("hello"), json!({"n": 2}));
    let arguments = [("output", &output), ("context", &context)];
    Script::file(name, text, function).run(&arguments, &Host::default())
}

fn thrown(result: Result<Value, ScriptError>) -> (String, String) {
    match result {
        Err(ScriptError::Thrown { name, message, .. }) => (name, message),
        other => panic!("not thrown: {other:?}"),
    }
}

#[test]
fn inline_code_is_read_as_promptfoo_reads_it() {
    let cases = [
        ("output.length > 3", json!(true)),
        ("output.length > 3;", json!(true)),
        ("output.length > 3 // long", json!(true)),
        ("  output === 'hello'\n", json!(true)),
        (
            "{pass: true, score: 0.5, reason: 'r'}",
            json!({"pass": true, "score": 0.5, "reason": "r"}),
        ),
        ("const s = output; s === 'a;b' || s.length", json!(5)),
        ("let a = 1; let b = 2; a + b;", json!(3)),
        ("const s = output;\nreturn s.length", json!(5)),
        ("if (output) {\n  return {a: [1]};\n}\nreturn 0;", json!({"a": [1]})),
        ("context.vars.name", json!("Ada")),
        ("JSON.parse('{\"b\":1,\"a\":2}')", json!({"b": 1, "a": 2})),
        ("output; 'not this'", json!("hello")),
        ("(function(){ return arguments.length })(1, 2)", json!(2)),
        ("const x = 1", json!(null)),
        ("const x = 1;\nx > 0", json!(null)),
        ("`${output}\n!`", json!("hello\n!")),
        ("// a comment\nreturn output.length", json!(5)),
    ];
    for (code, expected) in cases {
        assert_eq!(run(code), Ok(expected), "{code}");
    }
}

#[test]
fn what_promptfoo_rejects_is_read_in_the_obvious_manner() {
    let cases = [
        ("return output.length", json!(5)),
        ("const x = 2; return x", json!(2)),
        ("if (output) return 1; return 0", json!(1)),
        ("(output, context) => output + context.list.length", json!("hello2")),
        ("output => output.length", json!(5)),
        ("function (o, c) { return c.list }", json!([1, 2])),
        ("function named(o) {\n  return o.length;\n}", json!(5)),
        ("async (o) => o", json!("hello")),
        ("(json, text) => {\n  return json;\n}", json!("hello")),
        ("output\n  .toUpperCase()\n  .slice(1);", json!("ELLO")),
        ("{\n  a: 1,\n  b: output\n}", json!({"a": 1, "b": "hello"})),
    ];
    for (code, expected) in cases {
        assert_eq!(run(code), Ok(expected), "{code}");
    }
}

#[test]
fn promises_are_awaited() {
    let cases = [
        ("Promise.resolve(7)", json!(7)),
        ("(async () => { await null; return output })()", json!("hello")),
        ("({ then(f) { f('thenable') } })", json!("thenable")),
        ("new Promise(r => setTimeout(() => r('late'), 4000))", json!("late")),
        (
            "new Promise(r => { const seen = []; setTimeout(() => { seen.push('b'); r(seen) }, 20); \
             setTimeout(() => seen.push('a'), 10); const i = setInterval(() => { seen.push('i'); \
             clearInterval(i) }, 5) })",
            json!(["i", "a", "b"]),
        ),
    ];
    for (code, expected) in cases {
        assert_eq!(run(code), Ok(expected), "{code}");
    }
    assert_eq!(run("new Promise(() => {})"), Err(ScriptError::NeverSettles));
    let rejected = thrown(run("Promise.reject(new TypeError('no'))"));
    assert_eq!(rejected, ("TypeError".into(), "no".into()));
}

#[test]
fn results_become_json() {
    let cases = [
        ("undefined", json!(null)),
        ("null", json!(null)),
        ("[undefined, NaN, () => 1, 1.5, -0]", json!([null, null, null, 1.5, 0])),
        ("({a: undefined, b: 1})", json!({"b": 1})),
        ("new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("2 ** 53 + 2", json!(9_007_199_254_740_994_u64)),
        ("1e300", json!(1e300)),
        (
            "[2 ** 60, -(2 ** 62)]",
            json!([1_152_921_504_606_847_000_i64, -4_611_686_018_427_388_000_i64]),
        ),
        ("'a\\ud800b'", json!("a\u{fffd}b")),
        ("'\\ud83d\\ude00'", json!("😀")),
        ("['\\udfff', '\\\\ud800']", json!(["\u{fffd}", "\\ud800"])),
        ("({z: 1, a: 2, m: {y: 1, b: 2}})", json!({"z": 1, "a": 2, "m": {"y": 1, "b": 2}})),
        ("new Map([[1, 2]])", json!({})),
        ("Object(3)", json!(3)),
        ("'a\\0b'", json!("a\0b")),
    ];
    for (code, expected) in cases {
        assert_eq!(run(code), Ok(expected), "{code}");
    }
    let keys = run("({z: 1, a: 2, m: 3})").unwrap();
    let keys: Vec<&String> = keys.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["z", "a", "m"]);
}

#[test]
fn what_is_no_data_is_refused_with_the_reason() {
    for (code, part) in [
        ("0 / 0", "NaN"),
        ("-1 / 0", "Infinity"),
        ("10n", "BigInt"),
        ("[10n]", "BigInt"),
        ("Symbol('x')", "symbol"),
        ("() => () => 1", "function"),
        ("const a = {}; a.a = a; a", "circular"),
        ("({toJSON() { throw new Error('bad json') }})", "bad json"),
        ("({get x() { throw 'text' }})", "text"),
        ("let a = []; for (let i = 0; i < 200; i++) a = [a]; return a", "nested deeper"),
        ("let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a", ""),
    ] {
        match run(code) {
            Err(ScriptError::Result { why }) => assert!(why.contains(part), "{code}: {why}"),
            other => panic!("{code}: {other:?}"),
        }
    }
}

#[test]
fn arguments_arrive_whole() {
    let value = json!({"z": [1, 2.5, null, true], "a": "😀\0\n\"", "__proto__": {"x": 1}});
    let echo = Script::inline("v");
    assert_eq!(echo.run(&[("v", &value)], &Host::default()), Ok(value));
    let big = json!(9_007_199_254_740_993_u64);
    let rounded = echo.run(&[("v", &big)], &Host::default());
    assert_eq!(rounded, Ok(json!(9_007_199_254_740_992_u64)));
    let deep = (0..1000).fold(json!(0), |inner, _| Value::Array(vec![inner]));
    let refused = echo.run(&[("v", &deep)], &Host::default());
    assert!(matches!(refused, Err(ScriptError::Argument { .. })), "{refused:?}");
}

#[test]
fn whatever_is_thrown_is_shown() {
    for (code, name, message) in [
        ("throw new RangeError('far')", "RangeError", "far"),
        ("throw 'text'", "", "text"),
        ("throw {code: 3}", "", "{\"code\":3}"),
        ("throw null", "", "null"),
        ("throw undefined", "", "undefined"),
        ("Promise.reject(null)", "", "null"),
        ("JSON.parse('{')", "SyntaxError", ""),
        ("missing.property", "ReferenceError", "missing is not defined"),
        ("null.x", "TypeError", ""),
    ] {
        let (found, text) = thrown(run(code));
        assert_eq!(found, name, "{code}");
        assert!(text.contains(message), "{code}: {text}");
    }
    let Err(ScriptError::Thrown { stack, .. }) = run("const f = () => {\n  null.x\n};\nreturn f()")
    else {
        panic!("not thrown")
    };
    assert!(stack.contains("inline:2"), "{stack}");
}

#[test]
fn syntax_errors_name_the_place_in_the_users_text() {
    for (code, place) in
        [("output +* 3", (1, 9)), ("const a = 1;\nreturn a +* 2;", (2, 11)), ("return (", (1, 9))]
    {
        let script = Script::inline(code);
        for result in [script.check(), script.run(&[], &Host::default()).map(drop)] {
            match result {
                Err(ScriptError::Syntax { line, column, .. }) => {
                    assert_eq!((line, column), place, "{code}");
                }
                other => panic!("{code}: {other:?}"),
            }
        }
    }
    assert!(matches!(run("a\0b"), Err(ScriptError::Syntax { .. })));
    assert_eq!(Script::inline("throw 1; while (true) {}").check(), Ok(()));
}

#[test]
fn files_of_both_kinds_export_functions() {
    let cases = [
        ("a.js", "module.exports = (o) => o.length", None, json!(5)),
        ("a.cjs", "module.exports = { f: (o, c) => c.n, g() { return 9 } }", Some("g"), json!(9)),
        ("a.js", "exports.f = async (o) => o", Some("f"), json!("hello")),
        ("a.js", "module.exports = { default: () => 1 }", None, json!(1)),
        ("a.js", "#!/usr/bin/env node\nmodule.exports = () => 2", None, json!(2)),
        ("a.js", "export default (o, c) => o + c.n", None, json!("hello2")),
        ("a.mjs", "export function f() { return 3 }", Some("f"), json!(3)),
        ("a.mjs", "export default () => 1; export const f = () => 4", Some("f"), json!(4)),
        ("a.mjs", "const x = await Promise.resolve(5); export default () => x", None, json!(5)),
        ("a.js", "\u{feff}export default { f: () => 6 }", Some("f"), json!(6)),
    ];
    for (name, text, function, expected) in cases {
        assert_eq!(file(name, text, function), Ok(expected), "{text}");
        assert_eq!(Script::file(name, text, function).check(), Ok(()), "{text}");
    }
}

#[test]
fn a_missing_export_is_named_with_what_there_is() {
    let missing = file("a.js", "module.exports = { f() {}, x: 1 }", Some("g"));
    let expected = ScriptError::NoFunction {
        file: "a.js".into(),
        function: Some("g".into()),
        exports: vec!["f".into()],
    };
    assert_eq!(missing, Err(expected));
    for text in
        ["module.exports = { f() {} }", "export const f = () => 1", "module.exports = 3", "1"]
    {
        let result = file("a.js", text, None);
        assert!(matches!(result, Err(ScriptError::NoFunction { .. })), "{text}: {result:?}");
    }
    for text in ["module.exports = (", "export default (\n=> 1"] {
        let result = file("a.js", text, None);
        assert!(matches!(result, Err(ScriptError::Syntax { .. })), "{text}: {result:?}");
        assert!(Script::file("a.js", text, None).check().is_err());
    }
}

#[test]
fn what_is_not_here_is_said_plainly() {
    let unavailable = |result: Result<Value, ScriptError>| match result {
        Err(ScriptError::Unavailable { what }) => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(unavailable(run("require('fs').readFileSync('x')")), "require('fs')");
    assert_eq!(unavailable(run("process.mainModule.require('./x')")), "require('./x')");
    assert_eq!(unavailable(run("fetch('http://x')")), "`fetch`");
    assert_eq!(unavailable(run("Buffer.from('x')")), "`Buffer`");
    assert_eq!(unavailable(run("import('fs')")), "import of 'fs'");
    assert_eq!(unavailable(run("process.exit(1)")), "process.exit()");
    let text = "const fs = require('fs'); module.exports = () => 1";
    assert_eq!(unavailable(file("a.js", text, None)), "require('fs')");
    let text = "import fs from 'node:fs'; export default () => 1";
    assert_eq!(unavailable(file("a.js", text, None)), "import of 'node:fs'");
    assert_eq!(run("typeof fetch"), Ok(json!("undefined")));
}

#[test]
fn the_environment_is_what_the_host_says() {
    let env = [("KEY".to_owned(), "value".to_owned())].into();
    let host = Host { env, ..Host::default() };
    let seen = |code: &str| Script::inline(code).run(&[], &host);
    assert_eq!(seen("process.env.KEY"), Ok(json!("value")));
    assert_eq!(seen("Object.keys(process.env)"), Ok(json!(["KEY"])));
    assert_eq!(seen("process.env.PATH"), Ok(json!(null)));
}

#[test]
fn nothing_leaks_from_one_run_to_the_next() {
    let soil = "globalThis.leak = 1; Array.prototype.leak = 2; Object.prototype.leak = 3;\n\
                String.prototype.trim = () => 'soiled'; JSON.parse = () => 4; process.env.leak = 5;\n\
                Promise.resolve().then(() => { globalThis.later = 1 }); setTimeout(() => {}, 1);\n\
                return 1";
    let look = "[typeof leak, typeof later, [].leak, ({}).leak, ' a '.trim(), JSON.parse('0'), \
                process.env.leak]";
    let (soil, look) = (Script::inline(soil), Script::inline(look));
    for _ in 0..20 {
        assert_eq!(soil.run(&[], &Host::default()), Ok(json!(1)));
        let clean = json!(["undefined", "undefined", null, null, "a", 0, null]);
        assert_eq!(look.run(&[], &Host::default()), Ok(clean));
    }
}

#[test]
fn a_script_may_run_on_many_threads_at_once() {
    let script = Script::inline("n * 2");
    std::thread::scope(|scope| {
        for n in 0..20 {
            let script = &script;
            scope.spawn(move || {
                let doubled = script.run(&[("n", &json!(n))], &Host::default());
                assert_eq!(doubled, Ok(json!(n * 2)));
            });
        }
    });
}

#[test]
fn the_console_is_quiet_and_harmless() {
    let code = "const a = {}; a.a = a; console.log('x', {b: 1}, a, '\\ud800', Symbol('s'), 1n); \
                console.error(new Error('e')); console.table([]); 1";
    assert_eq!(run(code), Ok(json!(1)));
    assert_eq!(
        run("for (let i = 0; i < 5000; i++) console.log('line ' + i);\nreturn 2"),
        Ok(json!(2))
    );
}
