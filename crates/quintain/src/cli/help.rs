//! Lays out help texts: paragraphs are joined so that they fill the width of the terminal, and indented lines such as
//! examples stay as they are.

use clap::Command;

/// A command and all its subcommands with help texts that clap can wrap.
pub(super) fn reflowed(mut command: Command) -> Command {
    if let Some(text) = command.get_long_about().map(ToString::to_string) {
        command = command.long_about(reflow(&text));
    }
    let names: Vec<String> =
        command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, reflowed))
}

fn reflow(text: &str) -> String {
    let mut flowing = String::with_capacity(text.len());
    let mut before = "";
    for line in text.lines() {
        let ends = before.is_empty() || before.ends_with(':') || before.starts_with(' ');
        let starts = line.is_empty() || line.starts_with(' ');
        if !flowing.is_empty() {
            flowing.push(if ends || starts { '\n' } else { ' ' });
        }
        flowing.push_str(line);
        before = line;
    }
    flowing
}
