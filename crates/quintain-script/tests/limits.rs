//! Hostile code ends with the right error, in time, and the process continues.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use quintain_script::{Host, Limits, Script, ScriptError};
use serde_json::json;

const TIME: Duration = Duration::from_millis(200);
const MEMORY: usize = 16 << 20;
/// Generous, because the machine may be busy; the test proves that the code is stopped.
const ABOUT: Duration = Duration::from_secs(3);

fn run(code: &str) -> Result<serde_json::Value, ScriptError> {
    within(code, Limits { time: TIME, memory: MEMORY })
}

fn within(code: &str, limits: Limits) -> Result<serde_json::Value, ScriptError> {
    let started = Instant::now();
    let host = Host { limits, ..Host::default() };
    let result = Script::inline(code).run(&[("output", &json!("x"))], &host);
    let took = started.elapsed();
    assert!(took < limits.time + ABOUT, "{code} took {took:?}");
    assert_eq!(Script::inline("1 + 1").run(&[], &Host::default()), Ok(json!(2)), "after {code}");
    result
}

#[test]
fn code_that_does_not_end_is_ended() {
    for code in [
        "while (true) {}",
        "for (;;) { try { throw 1 } catch {} finally { continue } }",
        "while (true) { try { while (true) {} } catch {} }",
        "const f = () => { Promise.resolve().then(f) };\nf();\nreturn new Promise(() => {})",
        "(async () => { for (;;) await null })()",
        "({ get x() { while (true) {} } })",
        "({ toJSON() { while (true) {} } })",
        "({ then() { while (true) {} } })",
        "throw { toString() { while (true) {} }, toJSON() { while (true) {} } }",
        "throw Object.defineProperty(new Error(), 'message', { get() { while (true) {} } })",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "'x'.repeat(40).replace(/(x+x+)+y/g, '')",
        "new Proxy({}, { ownKeys() { for (;;) {} } })",
        "new Promise(() => setInterval(() => {}, 1))",
        "new Promise(r => setTimeout(r, 1e9))",
        "[3, 1, 2].sort(() => { for (;;) {} })",
        "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
    ] {
        assert_eq!(run(code), Err(ScriptError::TimedOut { after: TIME }), "{code}");
    }
}

#[test]
fn a_built_in_loop_that_cannot_be_interrupted_does_not_hold_its_caller() {
    // Ends by itself after a few seconds, so that the test leaves no busy thread behind.
    let code = "Array.prototype.reverse.call({ length: 1e8 })";
    assert_eq!(run(code), Err(ScriptError::TimedOut { after: TIME }));
}

#[test]
fn code_that_takes_all_memory_is_ended() {
    let long = Limits { time: Duration::from_secs(20), memory: MEMORY };
    for code in [
        "new ArrayBuffer(1 << 30)",
        "new Uint8Array(1e9).length",
        "'x'.repeat(5e8)",
        "let s = 'x';\nwhile (true) s += s;",
        "const a = [];\nwhile (true) a.push({});",
        "const a = [];\nwhile (true) a.push([a]);",
        "const m = new Map();\nfor (let i = 0; ; i++) m.set(i, 'v' + i);",
        "let a;\nwhile (true) a = { a };",
        "(async () => { await null; const a = []; while (true) a.push({}) })()",
        "Promise.resolve().then(() => { const a = []; for (;;) a.push('' + a.length) })",
        "new Promise(() => { setTimeout(() => { let a; for (;;) a = [a] }, 1) })",
        "new Array(1e8).fill(0)",
        "['x'.repeat(1.2e7)]",
        "'x'.repeat(1e7).split('')",
        "'x'.repeat(1e6).replace(/(x+x+)+y/g, '')",
    ] {
        let result = within(code, long).map(|_| "a result");
        assert_eq!(result, Err(ScriptError::OutOfMemory { limit: MEMORY }), "{code}");
    }
}

#[test]
fn a_result_of_100_megabytes_is_refused() {
    let roomy = Limits { time: Duration::from_secs(20), memory: 1 << 30 };
    match within("'x'.repeat(1e8)", roomy) {
        Err(ScriptError::Result { why }) => assert!(why.contains("32 MiB"), "{why}"),
        other => panic!("{:?}", other.map(|_| "a result")),
    }
    match within("Array(1e6).fill('x'.repeat(50))", roomy) {
        Err(ScriptError::Result { why }) => assert!(why.contains("32 MiB"), "{why}"),
        other => panic!("{:?}", other.map(|_| "a result")),
    }
    let usual = Limits { time: Duration::from_secs(20), ..Limits::default() };
    let result = within("['x'.repeat(1e8)]", usual).map(|_| "a result");
    assert_eq!(result, Err(ScriptError::OutOfMemory { limit: usual.memory }));
}

#[test]
fn endless_recursion_is_an_error_of_the_script() {
    for code in [
        "const f = () => f() + 1;\nreturn f()",
        "const o = { toJSON() { return [o] } };\nreturn o",
        "const o = { get x() { return o.x } };\nreturn o.x",
        "'['.repeat(1e5) && JSON.parse('['.repeat(1e5))",
        "eval('('.repeat(1e5))",
        "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))",
        "let p = {};\nfor (let i = 0; i < 1e5; i++) p = new Proxy(p, {});\nreturn p.x",
    ] {
        let result = within(code, Limits { memory: 64 << 20, time: Duration::from_secs(5) });
        let fine = matches!(
            result,
            Err(ScriptError::Thrown { .. }
                | ScriptError::Result { .. }
                | ScriptError::OutOfMemory { .. })
        );
        assert!(fine, "{code}: {result:?}");
    }
}

#[test]
fn nesting_in_the_code_itself_overflows_nothing() {
    for code in
        ["(".repeat(200_000), "[".repeat(200_000), "a=>".repeat(200_000), "{".repeat(200_000)]
    {
        let result = run(&code);
        assert!(result.is_err(), "{}", &code[..3]);
    }
}

#[test]
fn a_script_on_a_small_stack_is_as_safe() {
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let handle = small.spawn(|| run("const f = () => f() + 1;\nreturn f()")).unwrap();
    assert!(matches!(handle.join().unwrap(), Err(ScriptError::Thrown { .. })));
}

#[test]
fn memory_that_hardly_suffices_for_nothing_breaks_nothing() {
    for memory in (0..200).map(|step| step * 2048) {
        let limits = Limits { time: TIME, memory };
        let host = Host { limits, ..Host::default() };
        let code = "({a: [1, 2, 3].map(String), b: /x/.test(output), c: new Map()})";
        let _ = Script::inline(code).run(&[("output", &json!("x"))], &host);
    }
}
