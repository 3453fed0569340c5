//! Finds option values that must follow `=` but are separate words: clap would take them for something else.

use clap::Command;

/// The first option whose value is a separate word: `--include-destructive all`.
pub(super) fn missing(command: &Command, words: &[String]) -> Option<(String, String)> {
    // The words after `--` are the command line of a target.
    let own = words.split(|word| word == "--").next()?;
    own.windows(2).find_map(|pair| {
        let [option, value] = pair else { return None };
        let name = option.strip_prefix("--")?;
        takes(command, name, value).then(|| (option.clone(), value.clone()))
    })
}

/// Whether this command or a subcommand has an option that requires `=` and knows this value.
fn takes(command: &Command, name: &str, value: &str) -> bool {
    let here = command.get_arguments().any(|option| {
        option.is_require_equals_set()
            && option.get_long() == Some(name)
            && option.get_possible_values().iter().any(|known| known.matches(value, false))
    });
    here || command.get_subcommands().any(|below| takes(below, name, value))
}
