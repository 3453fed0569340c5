//! Measurements, for `cargo test --release -p quintain-script --test speed -- --ignored --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use quintain_script::{Host, Pattern, Script};
use serde_json::{Value, json};

fn measure(what: &str, times: u32, mut run: impl FnMut()) {
    run();
    let started = Instant::now();
    for _ in 0..times {
        run();
    }
    let each = started.elapsed() / times;
    println!("{what:<44} {:>10.2} µs", each.as_secs_f64() * 1e6);
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let host = Host::default();
    let (output, context) = (json!("hello world"), json!({"vars": {"a": 1}}));
    let arguments = [("output", &output), ("context", &context)];
    let line = Script::inline("output.length > 3 && context.vars.a === 1");
    measure("one line, one after the other", 5000, || {
        black_box(line.run(&arguments, &host).unwrap());
    });
    let rare = Script::inline("output.length > 3");
    measure("one line, with pauses (without them)", 200, {
        let mut spent = std::time::Duration::ZERO;
        let mut count = 0_u32;
        move || {
            std::thread::sleep(std::time::Duration::from_millis(2));
            let started = Instant::now();
            black_box(rare.run(&arguments, &Host::default()).unwrap());
            spent += started.elapsed();
            count += 1;
            if count == 201 {
                println!("  of which the run itself {:?}", spent / count);
            }
        }
    });
    measure("a promise and a timer", 2000, || {
        let code = "new Promise(done => setTimeout(() => done(output), 100))";
        black_box(Script::inline(code).run(&arguments, &host).unwrap());
    });
    let file = Script::file("a.js", "export default (o) => o.length > 3", None);
    measure("a file", 2000, || {
        black_box(file.run(&arguments, &host).unwrap());
    });
    let rows: Vec<Value> = (0..20_000)
        .map(|n| json!({"id": n, "name": format!("row {n}"), "tags": ["a", "b"]}))
        .collect();
    let big = Value::Array(rows);
    let echo = Script::inline("v");
    println!("  {} bytes of JSON", big.to_string().len());
    measure("a big value there and back", 20, || {
        black_box(echo.run(&[("v", &big)], &host).unwrap());
    });
    let simple = Pattern::new(r"^\w+ \w+$", "i").unwrap();
    measure("a pattern, fast way", 100_000, || {
        black_box(simple.is_match("hello world").unwrap());
    });
    let looking = Pattern::new(r"^(?!.*secret).*$", "").unwrap();
    measure("a pattern, engine", 2000, || {
        black_box(looking.is_match("hello world").unwrap());
    });
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2000 {
                    black_box(line.run(&arguments, &host).unwrap());
                }
            });
        }
    });
    println!(
        "{:<44} {:>10.2} µs",
        "four threads, per run",
        started.elapsed().as_secs_f64() * 1e6 / 8000.0
    );
}
