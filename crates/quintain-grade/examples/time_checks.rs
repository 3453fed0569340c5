//! Times reading and every check on a file of traces whose agent calls tools through a router:
//! `cargo run --release -p quintain-grade --example time_checks -- TRACES TOOLS [findings]`. With `-` for TOOLS, the
//! traces name their tools themselves.

// A tool for developers prints and stops on errors.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

use std::ops::ControlFlow;
use std::time::Instant;

use quintain_grade::checks;
use quintain_grade::policy::CallPolicy;
use quintain_grade::readers::{self, ReadOptions, Record, Router};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let start = Instant::now();
    let options = match arguments[1].as_str() {
        "-" => ReadOptions::default(),
        tools => ReadOptions {
            router: Some(Router::default()),
            servers: readers::surface_file::servers(&std::fs::read_to_string(tools).unwrap())
                .unwrap(),
            ..ReadOptions::default()
        },
    };
    eprintln!("surface {:?}", start.elapsed());
    let text = std::fs::read_to_string(&arguments[0]).unwrap();
    let mut traces = Vec::new();
    let mut keep = |record: Record| {
        if let Record::Trace(trace, _) = record {
            traces.push(*trace);
        }
        ControlFlow::Continue(())
    };
    readers::read(text.as_bytes(), "traces.jsonl", None, &options, &mut keep).unwrap();
    eprintln!("read    {:?}", start.elapsed());
    let policy = CallPolicy::default();
    let mut found = Vec::new();
    for trace in &traces {
        let begun = Instant::now();
        found.push((trace.id.clone(), checks::run(trace, &policy).0));
        if begun.elapsed().as_millis() > 5 {
            eprintln!("  slow {:?} {:?}", trace.id, begun.elapsed());
        }
    }
    eprintln!("checks  {:?}", start.elapsed());
    if arguments.len() > 2 {
        println!("{}", serde_json::to_string_pretty(&found).unwrap());
    }
}
