//! Values that have to be written behind `=`, and are not: clap would take them for something else.

use clap::Command;

/// The first option whose value follows as a word of its own: `--include-destructive all`.
pub(super) fn missing(command: &Command, words: &[String]) -> Option<(String, String)> {
    // What follows `--` is the command line of a target.
    let own = words.split(|word| word == "--").next()?;
    own.windows(2).find_map(|pair| {
        let [option, value] = pair else { return None };
        let name = option.strip_prefix("--")?;
        takes(command, name, value).then(|| (option.clone(), value.clone()))
    })
}

/// Whether this command, or one below it, has an option with such a value behind `=`.
fn takes(command: &Command, name: &str, value: &str) -> bool {
    let here = command.get_arguments().any(|option| {
        option.is_require_equals_set()
            && option.get_long() == Some(name)
            && option.get_possible_values().iter().any(|known| known.matches(value, false))
    });
    here || command.get_subcommands().any(|below| takes(below, name, value))
}
