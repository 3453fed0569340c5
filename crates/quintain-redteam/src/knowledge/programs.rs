//! Programs that a target tries to start and does not find.

use std::sync::LazyLock;

use regex::Regex;

const MAX_PROGRAMS: usize = 8;

/// Programs that an answer reports as missing, in the words of shells and runtimes.
pub fn missing_programs(said: &str) -> Vec<&str> {
    static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let name = r"([A-Za-z][A-Za-z0-9_.+-]{1,31})";
        // In sentences, a capital letter indicates the name of a product.
        let plain = r#"["'`]?\b([a-z][a-z0-9_.+-]{1,31})\b["'`]?"#;
        let sentences = [
            format!(
                r"(?i:could not|cannot|can't|unable to) (?i:find|locate|run) (?:the |program )?{plain} (?:executable|binary|command|cli|program)"
            ),
            format!(
                r"(?:executable|binary|command|program) {plain} (?:was |is |could )?not (?:be )?found"
            ),
            format!(r"{plain} (?:was |is )?not (?:found )?(?:in|on) (?:the |your )?\$?PATH"),
            format!(r"{plain}: executable file not found"),
            format!(r"{plain} (?:is|must be|needs to be|may not be) (?:not )?installed"),
        ];
        let text = format!(
            r"(?m)\bsh: (?:line )?(?:\d+: )?{name}: (?:command )?not found\b|\b{name}: command not found\b|\bcommand not found: {name}\b|\bspawn(?:Sync)? {name} ENOENT\b|\[Errno 2\] No such file or directory: '{name}'|{}",
            sentences.join("|")
        );
        Regex::new(&text).ok()
    });
    let Some(says) = &*SAYS else { return Vec::new() };
    let found = says.captures_iter(said).take(MAX_PROGRAMS);
    found.filter_map(|found| Some(found.iter().skip(1).flatten().next()?.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_and_runtimes_say_what_is_missing() {
        for said in [
            "/bin/sh: 1: frobn: not found",
            "sh: line 1: frobn: command not found",
            "bash: frobn: command not found",
            "zsh:1: command not found: frobn",
            "Error: spawn frobn ENOENT",
            "[Errno 2] No such file or directory: 'frobn'",
            "Error: Could not find the \"frobn\" executable.",
            "frobn is not installed. See https://example.com",
            "frobn not found in PATH",
            "exec: \"frobn\": executable file not found in $PATH",
        ] {
            assert_eq!(missing_programs(said), ["frobn"], "{said}");
        }
        for said in [
            "user: not found",
            "[Errno 2] No such file or directory: '/srv/a'",
            "404",
            "Xcode is not installed",
        ] {
            assert!(missing_programs(said).is_empty(), "{said}");
        }
    }
}
