//! The test cases: deepeval's JSON, random with a fixed seed, so that every run and every tool gets the same ones.
//!
//! A tenth of them calls none of the expected tools and must fail. The others differ from what is expected as real
//! ones do, and score at least 0.5 with every way of matching that is timed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Failure;

const TOOLS: u64 = 20;
const SEED: u64 = 0x5eed_06ad;

#[derive(Clone, Copy)]
pub enum Layout {
    /// One JSON array.
    Array,
    /// One case per line.
    Lines,
}

pub struct Cases {
    pub file: PathBuf,
    pub count: usize,
    pub failing: usize,
}

/// Writes `count` cases into a folder, one after the other: a million of them need not fit into memory.
pub fn write(folder: &Path, count: usize, layout: Layout) -> Result<Cases, Failure> {
    let (suffix, start, between, end) = match layout {
        Layout::Array => ("json", "[", ",\n", "]\n"),
        Layout::Lines => ("jsonl", "", "\n", "\n"),
    };
    let file = folder.join(format!("cases-{count}.{suffix}"));
    let mut out = BufWriter::new(File::create(&file)?);
    let mut random = Random(SEED);
    let mut failing = 0;
    out.write_all(start.as_bytes())?;
    for at in 0..count {
        if at > 0 {
            out.write_all(between.as_bytes())?;
        }
        let (case, must_fail) = case(&mut random, at);
        failing += usize::from(must_fail);
        serde_json::to_writer(&mut out, &case)?;
    }
    out.write_all(end.as_bytes())?;
    out.flush()?;
    Ok(Cases { file, count, failing })
}

/// One case, and whether it must fail.
fn case(random: &mut Random, at: usize) -> (Value, bool) {
    let count = 2 + random.below(3);
    let first = random.below(TOOLS);
    let mut expected: Vec<Value> = (0..count).map(|next| call(random, first + next, at)).collect();
    let mut called = expected.clone();
    let kind = random.below(10);
    match kind {
        0 => called.push(call(random, first + count, at)),
        1 => called[0]["input_parameters"]["limit"] = json!("all"),
        2 => called.reverse(),
        3 => {
            let _ = called.pop();
        }
        // The same call twice, which deepeval counts once.
        4 => {
            expected.push(expected[0].clone());
            called.push(called[0].clone());
        }
        // Two calls of one tool, made in the other order.
        5 => {
            let again = call(random, first, at);
            expected.push(again.clone());
            called.insert(0, again);
        }
        6 => called = (0..count).map(|next| call(random, first + count + next, at)).collect(),
        _ => {}
    }
    let case = json!({
        "name": format!("case {at}"),
        "input": format!("Which records of customer {at} are open, and who looks after them?"),
        "actual_output": format!("The records of customer {at} are listed above."),
        "tools_called": called,
        "expected_tools": expected,
    });
    (case, kind == 6)
}

fn call(random: &mut Random, tool: u64, at: usize) -> Value {
    let mut parameters = json!({"id": format!("u{at}"), "limit": 10 + random.below(5)});
    if random.below(3) == 0 {
        parameters["filter"] = json!({"state": "open", "page": random.below(3)});
    }
    json!({"name": format!("tool_{}", tool % TOOLS), "input_parameters": parameters})
}

/// `SplitMix64`: the benchmark needs the same numbers everywhere, not good ones.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_contain_the_same_cases_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let array = write(folder.path(), 200, Layout::Array).unwrap();
        let lines = write(folder.path(), 200, Layout::Lines).unwrap();
        let whole: Vec<Value> =
            serde_json::from_slice(&std::fs::read(&array.file).unwrap()).unwrap();
        let text = std::fs::read_to_string(&lines.file).unwrap();
        let each: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((whole.len(), &whole), (200, &each));
        assert_eq!(array.failing, lines.failing);
        assert!((10..40).contains(&array.failing), "{}", array.failing);
    }
}
