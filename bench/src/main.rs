//! Measures Quintain and its peers on one machine, in one run.
//!
//! There are seven parts: `wire` measures the client, `eval` whole runs of suites, `grade` grading and recording, `judge` judged cases, `python` the Python package, `store`
//! commands over stored runs, `build` a cold build and the size of the published binary. The measured programs take
//! turns, so that noise affects all of them; reports contain the best and the median run. Each part writes its results
//! to a section of `RESULTS.md`.

mod build;
mod eval;
mod fresh;
mod grade;
mod judge;
mod python;
mod results;
mod sample;
mod store;
mod usage;
mod wire;

use std::error::Error;
use std::process::ExitCode;

pub type Failure = Box<dyn Error + Send + Sync>;

const USAGE: &str = "\
Usage: quintain-bench                 all parts, written to RESULTS.md
       quintain-bench wire [--repeats N] [--calls N] [--only stdio|http|cold]
       quintain-bench wire --profile stdio|http IN_FLIGHT
       quintain-bench eval [--repeats N] [--tests N] [--only start|suites|cost|scale]
       quintain-bench grade [--repeats N] [--cases N] [--only peer|scale|checks|record]
       quintain-bench judge [--repeats N] [--cases N]
       quintain-bench python [--repeats N] [--cases N]
       quintain-bench store
       quintain-bench build [--only release|dist]

wire: compare the client with the official SDK's. --profile makes calls with our client alone for some
seconds, for a profiler.
eval: compare suites with promptfoo. --tests is the size of the largest suite; the others scale with it.
grade: compare grading with deepeval, and calls with recorded ones. --cases is the size of the largest file.
judge: compare judged cases with deepeval, and ask many judges at once.
python: compare the Python package with deepeval.
store: commands over stores of 10 and of 10,000 runs.
build: a cold build of what is committed, and the size of the binary.
Results with --only, --tests or --cases are printed and not written.

Environment of eval, set by `cargo xtask bench`: PROMPTFOO, its program; QUINTAIN_PEER_NODE, a node of
version 22; QUINTAIN_PEER_NPM, the folder whose node_modules has mcp-server-everything. Environment
of grade, judge and python: DEEPEVAL_PYTHON, the python of an environment with deepeval; QUINTAIN_PYTHON, of one with
the wheel.";

fn main() -> ExitCode {
    if let Some(record) = std::env::var_os(build::RECORD) {
        return build::run_unit(&record).unwrap_or_else(fail);
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&words.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(error),
    }
}

fn fail(error: Failure) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    match words {
        [wire::MEMORY_OF, program, arguments @ ..] => wire::print_memory_of(program, arguments),
        [eval::FLOOR, arguments @ ..] => eval::floor(arguments),
        [] => {
            wire::run(&wire::Settings::default())?;
            eval::run(&eval::Settings::default())?;
            grade::run(&grade::Settings::default())?;
            judge::run(&judge::Settings::default())?;
            python::run(&python::Settings::default())?;
            store::run()?;
            build::run(&build::Settings::default())
        }
        ["wire", "--profile", transport, in_flight] => wire::profile(transport, in_flight),
        ["wire", words @ ..] => wire::run(&wire::Settings::read(words).ok_or(USAGE)?),
        ["eval", words @ ..] => eval::run(&eval::Settings::read(words).ok_or(USAGE)?),
        ["grade", words @ ..] => grade::run(&grade::Settings::read(words).ok_or(USAGE)?),
        ["judge", words @ ..] => judge::run(&judge::Settings::read(words).ok_or(USAGE)?),
        ["python", words @ ..] => python::run(&python::Settings::read(words).ok_or(USAGE)?),
        ["store"] => store::run(),
        ["build", words @ ..] => build::run(&build::Settings::read(words).ok_or(USAGE)?),
        _ => Err(USAGE.into()),
    }
}
