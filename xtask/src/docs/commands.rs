//! Every command of the binary, found by asking its help for the commands below it.

use std::fmt::Write as _;

use super::pages::{anchor, cell};
use crate::Result;

/// A command and what its `--help` prints.
#[derive(Debug, PartialEq)]
pub(super) struct Command {
    /// `redteam run`.
    name: String,
    help: String,
}

/// All commands, each before those below it, in the order of the help.
pub(super) fn all(told: &dyn Fn(&[&str]) -> Result<String>) -> Result<Vec<Command>> {
    let mut found = Vec::new();
    collect("", told, &mut found)?;
    Ok(found)
}

fn collect(
    above: &str,
    told: &dyn Fn(&[&str]) -> Result<String>,
    found: &mut Vec<Command>,
) -> Result<()> {
    let help = told(&words(above))?;
    let below = below(&help);
    if !above.is_empty() {
        found.push(Command { name: above.to_owned(), help });
    }
    for name in below {
        let name = if above.is_empty() { name } else { format!("{above} {name}") };
        collect(&name, told, found)?;
    }
    Ok(())
}

fn words(name: &str) -> Vec<&str> {
    name.split_whitespace().chain(["--help"]).collect()
}

/// The names in the list of commands of a help text.
fn below(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    // Lines that continue a summary are indented further.
    let names = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

impl Command {
    fn heading(&self) -> String {
        format!("quintain {}", self.name)
    }

    /// The first paragraph of the help.
    fn summary(&self) -> String {
        let lines = self.help.lines().take_while(|line| !line.trim().is_empty());
        lines.collect::<Vec<_>>().join(" ")
    }
}

pub(super) fn table(commands: &[Command]) -> String {
    let mut section = String::from("| command | what |\n|---|---|\n");
    for command in commands {
        let anchor = anchor(&command.heading().replace(' ', "-"));
        let summary = cell(&command.summary());
        let _ = writeln!(section, "| [`{}`](#{anchor}) | {summary} |", command.name);
    }
    section
}

pub(super) fn help(commands: &[Command]) -> String {
    let mut section = String::new();
    for command in commands {
        let lines: Vec<&str> = command.help.lines().map(str::trim_end).collect();
        let text = lines.join("\n");
        let _ = write!(section, "### `{}`\n\n```text\n{}\n```\n\n", command.heading(), text.trim());
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_below_commands_are_found() {
        let told = |words: &[&str]| {
            let text = match words {
                ["--help"] => {
                    "Top\n\nCommands:\n  one   First\n          and more\n  two   Second\n  help  Print\n\nOptions:\n  -x\n"
                }
                ["two", "--help"] => "Second\n\nCommands:\n  deep  Third\n",
                _ => "Leaf\n",
            };
            Ok(text.to_owned())
        };
        let found = all(&told).expect("commands");
        let names: Vec<&str> = found.iter().map(|command| command.name.as_str()).collect();
        assert_eq!(names, ["one", "two", "two deep"]);
        assert!(table(&found).contains("| [`two deep`](#quintain-two-deep) | Leaf |"));
    }
}
