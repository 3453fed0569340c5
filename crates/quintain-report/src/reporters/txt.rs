//! The console report without colours and with every case.

use std::io::Write;

use quintain_content::registry::Meta;

use super::console;
use crate::{Options, Report, Reporter};

const META: Meta = Meta {
    id: "txt",
    aliases: &["text"],
    summary: "a plain table of all cases, with the failures repeated at the end",
    docs: "\
# What it does
Writes the table of the console without colours, 100 columns wide, and omits no case. For a red-team run
it writes what the console shows.

# Example
```sh
quintain eval -c suite.yaml -o results.txt
```
",
    since: "0.1.0",
};

const WIDTH: usize = 100;

pub(super) struct Txt;

impl Reporter for Txt {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".txt"]
    }

    fn open(&self, out: Box<dyn Write + Send>, options: &Options) -> Box<dyn Report> {
        let options =
            Options { width: WIDTH, colour: false, max_rows: usize::MAX, ..options.clone() };
        console::open(out, options)
    }
}
