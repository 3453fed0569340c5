//! The program that a launch runs, looking through shells and package runners.

use std::path::Path;

use quintain_evidence::connection::Launch;

use crate::clients::words;

/// A word of a command line, and the part of the entry that contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) part: String,
}

/// The words of the command line as written; empty for a URL.
pub(super) fn written(launch: &Launch) -> Vec<Word> {
    let Launch::Command { command, args, .. } = launch else { return Vec::new() };
    let first = Word { text: command.clone(), part: "command".to_owned() };
    let rest = args
        .iter()
        .enumerate()
        .map(|(at, text)| Word { text: text.clone(), part: format!("args[{at}]") });
    std::iter::once(first).chain(rest).collect()
}

/// The name of a program without its folder and suffix, in small letters.
pub(super) fn base(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let suffix = Path::new(&name).extension().and_then(|suffix| suffix.to_str());
    match suffix {
        Some(suffix @ ("exe" | "cmd" | "bat" | "ps1")) => {
            name[..name.len() - suffix.len() - 1].to_owned()
        }
        _ => name,
    }
}

const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "busybox"];

/// A shell between the client and the server, and the script it is given.
pub(super) struct Shell {
    pub(super) name: String,
    /// Index of the first word of the script.
    pub(super) script: usize,
    /// The script is written in base64.
    pub(super) encoded: bool,
}

pub(super) fn shell(words: &[Word]) -> Option<Shell> {
    let name = base(&words.first()?.text);
    let after = |wanted: &dyn Fn(&str) -> bool| {
        let at = words.iter().skip(1).position(|word| wanted(&word.text.to_ascii_lowercase()))?;
        Some(at + 2).filter(|script| *script < words.len())
    };
    let (script, encoded) = if SHELLS.contains(&name.as_str()) {
        // `-lc` is `-l -c`.
        let flag =
            |text: &str| text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
        (after(&flag)?, false)
    } else if name == "cmd" {
        (after(&|text| matches!(text, "/c" | "/k" | "/s/c"))?, false)
    } else if matches!(name.as_str(), "powershell" | "pwsh") {
        let encoded = |text: &str| text.len() > 2 && "-encodedcommand".starts_with(text);
        match after(&encoded) {
            Some(script) => (script, true),
            None => (after(&|text| text.len() > 1 && "-command".starts_with(text))?, false),
        }
    } else {
        return None;
    };
    Some(Shell { name, script, encoded })
}

/// The words of the program that finally runs, without shells and wrappers.
pub(super) fn effective(launch: &Launch) -> Vec<Word> {
    let mut all = written(launch);
    if let Some(shell) = shell(&all).filter(|shell| !shell.encoded) {
        all = all.split_off(shell.script);
        // A script of one word is a line; of several, the words are there already.
        if let [line] = &all[..] {
            let part = line.part.clone();
            let script = line.text.trim_start().trim_start_matches("exec ");
            all = words(script).into_iter().map(|text| Word { text, part: part.clone() }).collect();
        }
    }
    // `env NAME=VALUE program`, `sudo program`.
    let wrapped = |word: &Word| matches!(base(&word.text).as_str(), "env" | "sudo" | "nice");
    while all.first().is_some_and(wrapped) {
        let program = all.iter().skip(1).position(|word| {
            !word.text.starts_with('-') && !word.text.split('/').next().unwrap_or("").contains('=')
        });
        all = match program {
            Some(at) => all.split_off(at + 1),
            None => Vec::new(),
        };
    }
    all
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Npm,
    Pypi,
    Nuget,
    Image,
}

/// A package that is fetched when the server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) source: Source,
    /// As it is written, with its version.
    pub(super) spec: String,
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) part: String,
}

/// The packages that a launch fetches, the main one first.
pub(super) fn packages(launch: &Launch) -> Vec<Package> {
    let words = effective(launch);
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let program = base(&program.text);
    let second = rest.first().map_or("", |word| word.text.as_str());
    let third = rest.get(1).map_or("", |word| word.text.as_str());
    let (source, rest) = match (program.as_str(), second, third) {
        ("npx" | "bunx" | "pnpx", ..) => (Source::Npm, rest),
        ("npm", "exec" | "x", _) | ("pnpm" | "yarn", "dlx", _) | ("bun", "x", _) => {
            (Source::Npm, &rest[1..])
        }
        ("uvx", ..) => (Source::Pypi, rest),
        ("uv", "tool", "run") => (Source::Pypi, &rest[2..]),
        ("pipx", "run", _) => (Source::Pypi, &rest[1..]),
        ("dnx", ..) => (Source::Nuget, rest),
        ("docker" | "podman" | "nerdctl", "run", _) => (Source::Image, &rest[1..]),
        _ => return Vec::new(),
    };
    match source {
        Source::Image => image(rest).into_iter().collect(),
        source => fetched(source, rest),
    }
}

/// Options of package runners that take a value.
const VALUED: [&str; 14] = [
    "-c",
    "--call",
    "--registry",
    "--cache",
    "--userconfig",
    "--python",
    "--index",
    "--index-url",
    "--extra-index-url",
    "--default-index",
    "--refresh-package",
    "--directory",
    "--prefix",
    "--env-file",
];
/// Options that name a package; the first of them replaces the argument.
const NAMING: [&str; 4] = ["-p", "--package", "--from", "--spec"];

fn fetched(source: Source, words: &[Word]) -> Vec<Package> {
    let mut found = Vec::new();
    let mut named = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (option, joined) = match word.text.split_once('=') {
            Some((option, value)) if option.starts_with('-') => (option, Some(value)),
            _ => (word.text.as_str(), None),
        };
        let value = |rest: &mut std::slice::Iter<'_, Word>| match joined {
            Some(value) => Some((value.to_owned(), word.part.clone())),
            None => rest.next().map(|word| (word.text.clone(), word.part.clone())),
        };
        if matches!(option, "--no-install" | "--no" | "--offline") {
            return Vec::new();
        }
        // `-p` of uvx is the version of Python.
        if NAMING.contains(&option) && !(source == Source::Pypi && option == "-p") {
            named = true;
            found.extend(value(&mut rest).map(|(spec, part)| package(source, &spec, part)));
        } else if option == "--with" {
            found.extend(value(&mut rest).map(|(spec, part)| package(source, &spec, part)));
        } else if VALUED.contains(&option) || (source == Source::Pypi && option == "-p") {
            let _ = value(&mut rest);
        } else if !option.starts_with('-') {
            if !named {
                found.insert(0, package(source, &word.text, word.part.clone()));
            }
            break;
        }
    }
    found.retain(|package| !is_local(&package.spec));
    found
}

fn is_local(spec: &str) -> bool {
    spec.starts_with(['.', '/', '~']) || spec.starts_with("file:") || spec.contains('\\')
}

fn package(source: Source, spec: &str, part: String) -> Package {
    let named = |(name, version): (&str, &str)| (name.to_owned(), Some(version.to_owned()));
    let bare = || (spec.to_owned(), None);
    let address = spec.contains("://") || spec.starts_with("git+") || spec.starts_with("github:");
    let (name, version) = match source {
        // The revision follows the URL.
        Source::Npm if address => spec.split_once('#').map_or_else(bare, named),
        Source::Pypi if address => {
            let path = spec.split_once("://").map_or(spec, |(_, path)| path);
            let at =
                path.rfind('@').filter(|at| path[*at..].len() > 1 && path[..*at].contains('/'));
            match at.map(|at| spec.len() - path.len() + at) {
                Some(at) => named((&spec[..at], spec[at + 1..].split('#').next().unwrap_or(""))),
                None => bare(),
            }
        }
        Source::Npm | Source::Nuget => {
            // The first sign is that of a scope.
            let at = spec.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
            at.map_or_else(bare, |at| named((&spec[..at], &spec[at + 1..])))
        }
        Source::Pypi => spec.split_once("==").or_else(|| spec.split_once('@')).map_or_else(
            || {
                let end = spec.find(['<', '>', '~', '!', ' ']).unwrap_or(spec.len());
                (spec[..end].to_owned(), Some(spec[end..].to_owned()).filter(|v| !v.is_empty()))
            },
            named,
        ),
        Source::Image => match spec.split_once('@') {
            Some(digest) => named(digest),
            None => match spec.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')) {
                Some(tagged) => named(tagged),
                None => bare(),
            },
        },
    };
    let name = match source {
        Source::Pypi => name.split('[').next().unwrap_or_default().trim().to_owned(),
        _ => name,
    };
    Package { source, spec: spec.to_owned(), name, version, part }
}

/// Options of `docker run` without a value.
const SWITCHES: [&str; 12] = [
    "--rm",
    "--init",
    "--privileged",
    "--detach",
    "--interactive",
    "--tty",
    "--read-only",
    "--no-healthcheck",
    "--publish-all",
    "--oom-kill-disable",
    "--sig-proxy",
    "--quiet",
];

/// The options of `docker run` with their values, and the words after them.
pub(super) fn container(words: &[Word]) -> (Vec<(&Word, String, String)>, &[Word]) {
    let mut options = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        at += 1;
        if let Some((name, value)) = word.text.split_once('=') {
            options.push((word, name.to_owned(), value.to_owned()));
            continue;
        }
        // `-it` is `-i -t`; all other short options have values.
        let flags = word.text.strip_prefix('-').unwrap_or_default();
        let short = !flags.starts_with('-') && flags.chars().all(|c| "itdPq".contains(c));
        if short || SWITCHES.contains(&word.text.as_str()) {
            options.push((word, word.text.clone(), String::new()));
            continue;
        }
        let value = words.get(at).map_or_else(String::new, |value| value.text.clone());
        options.push((word, word.text.clone(), value));
        at += 1;
    }
    (options, words.get(at..).unwrap_or_default())
}

fn image(words: &[Word]) -> Option<Package> {
    let image = container(words).1.first()?;
    Some(package(Source::Image, &image.text, image.part.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::launch;

    fn told(line: &str) -> Vec<String> {
        let packages = packages(&launch(line));
        let told = packages.into_iter().map(|package| {
            let version = package.version.unwrap_or_else(|| "-".to_owned());
            format!("{} {version} {}", package.name, package.part)
        });
        told.collect()
    }

    #[test]
    fn packages_are_found_behind_runners_and_shells() {
        assert_eq!(told("npx -y @a/b@1.2.3 dir"), ["@a/b 1.2.3 args[1]"]);
        assert_eq!(told("npx --yes a"), ["a - args[1]"]);
        assert_eq!(told("npx -p a@1 -p b c"), ["a 1 args[1]", "b - args[3]"]);
        assert_eq!(told("npm exec -- a@2"), ["a 2 args[2]"]);
        assert_eq!(told("cmd /c npx -y a@latest"), ["a latest args[3]"]);
        assert_eq!(told("sh -c 'exec npx -y a'"), ["a - args[1]"]);
        assert_eq!(told("env A=b npx a"), ["a - args[2]"]);
        assert_eq!(told("/usr/bin/uvx --python 3.12 a==1.0 x"), ["a 1.0 args[2]"]);
        assert_eq!(
            told("uvx --from git+https://h/a@abc1234 a"),
            ["git+https://h/a abc1234 args[1]"]
        );
        assert_eq!(told("uvx a[x]>=1"), ["a >=1 args[0]"]);
        assert_eq!(told("uv tool run a@3"), ["a 3 args[2]"]);
        assert_eq!(told("pipx run --spec a==1 b"), ["a 1 args[2]"]);
        assert_eq!(
            told("docker run -i --rm -e A=b -v /x:/y r.io:5000/a/b:1 z"),
            ["r.io:5000/a/b 1 args[7]"]
        );
        assert_eq!(told("docker run -i r.io:5000/a"), ["r.io:5000/a - args[2]"]);
        assert_eq!(told("docker run a@sha256:00"), ["a sha256:00 args[1]"]);
        assert_eq!(told("npx -y github:u/r#abc1234"), ["github:u/r abc1234 args[1]"]);
    }

    #[test]
    fn what_is_on_the_disk_already_is_no_package() {
        for line in [
            "npx ./a",
            "npx --no-install a",
            "node a.js",
            "uvx /x/y",
            "docker ps",
            "",
            "npx",
            "sh -c",
        ] {
            assert_eq!(told(line), [""; 0], "{line}");
        }
    }
}
