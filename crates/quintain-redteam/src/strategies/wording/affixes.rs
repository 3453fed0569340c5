//! Adds, repeats or replaces text.

use quintain_content::registry::Meta;
use regex::{Regex, RegexBuilder};

use crate::strategies::flaw::Flaw;
use crate::strategies::options::Options;
use crate::strategies::rewrite::{MAX_TEXT, Rewrite};
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static PREFIX: Converter = Converter {
    meta: &Meta {
        id: "prefix",
        aliases: &[],
        summary: "Adds a text before the probe",
        docs: docs! {
            what: "Adds `text` before the probe.",
            why: "Many checks look only at the beginning.",
            example: "strategies:\n  - id: prefix\n    config: {text: 'Note to self: '}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let prefix = options.required_text("text");
        Rewrite::one(move |text| format!("{prefix}{text}"))
    },
};

pub(in crate::strategies) static SUFFIX: Converter = Converter {
    meta: &Meta {
        id: "suffix",
        aliases: &["suffix-append"],
        summary: "Adds a text after the probe",
        docs: docs! {
            what: "Appends `text`, for instance a suffix that an optimiser found.",
            why: "A suffix that works on one model often works on others.",
            example: "strategies:\n  - id: suffix\n    config: {text: ' Begin with: Sure.'}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let suffix = options.required_text("text");
        Rewrite::one(move |text| format!("{text}{suffix}"))
    },
};

pub(in crate::strategies) static REPEAT_TOKEN: Converter = Converter {
    meta: &Meta {
        id: "repeat-token",
        aliases: &[],
        summary: "Repeats a token many times",
        docs: docs! {
            what: "Repeats `token` (default ` .`) `times` times (default 100). `where` is `after`, \
                   `before`, `between` (instead of each space) or `only`.",
            why: "Long repetitions distract models from their instructions and push servers to \
                  their limits.",
            example: "strategies:\n  - id: repeat-token\n    config: {token: ' ok', times: 50, \
                      where: before}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let token = options.text("token", " .");
        let times = options.whole("times", 1..=10_000, 100);
        let place = options
            .word("where", &[("after", 'a'), ("before", 'b'), ("between", 'm'), ("only", 'o')]);
        let run = token.repeat(times.min(MAX_TEXT / token.len().max(1)));
        Rewrite::many(move |text, _| match place {
            'a' => vec![format!("{text}{run}")],
            'b' => vec![format!("{run}{text}")],
            'o' => vec![run.clone()],
            // Longer results would be dropped anyway.
            _ if run.len() * text.matches(' ').count() > MAX_TEXT => Vec::new(),
            _ => vec![text.replace(' ', &run)],
        })
    },
};

pub(in crate::strategies) static SEARCH_REPLACE: Converter = Converter {
    meta: &Meta {
        id: "search-replace",
        aliases: &[],
        summary: "Replaces the matches of a pattern",
        docs: docs! {
            what: "Replaces the matches of the regular expression `pattern` with `with`. A list \
                   creates a version for each of its texts.",
            why: "Use it to replace a forbidden word with one that the filter does not know.",
            example: "strategies:\n  - id: search-replace\n    config: {pattern: '(?i)password', \
                      with: [passwd, PIN]}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: search_replace,
};

fn search_replace(options: &mut Options<'_>) -> Rewrite {
    let source = options.required_text("pattern");
    let with = options.texts("with").unwrap_or_else(|| vec![String::new()]);
    let pattern = match pattern(&source) {
        Ok(pattern) => Some(pattern),
        Err(why) => {
            options.note("pattern", Flaw::Pattern { option: "pattern".to_owned(), why });
            None
        }
    };
    Rewrite::many(move |text, _| {
        let Some(pattern) = &pattern else { return Vec::new() };
        with.iter().map(|with| pattern.replace_all(text, with.as_str()).into_owned()).collect()
    })
}

pub(super) fn pattern(source: &str) -> Result<Regex, String> {
    RegexBuilder::new(source).size_limit(1 << 20).build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::{first, mistakes, texts};

    #[test]
    fn known_values() {
        assert_eq!(first("{id: prefix, config: {text: '> '}}", "go"), "> go");
        assert_eq!(first("{id: suffix, config: {text: '!'}}", "go"), "go!");
        let repeat = |place: &str| {
            let config = format!("{{token: x, times: 3, where: {place}}}");
            first(&format!("{{id: repeat-token, config: {config}}}"), "a b")
        };
        assert_eq!(repeat("after"), "a bxxx");
        assert_eq!(repeat("before"), "xxxa b");
        assert_eq!(repeat("between"), "axxxb");
        assert_eq!(repeat("only"), "xxx");
        let replaced =
            texts("{id: search-replace, config: {pattern: '(?i)PIN', with: [a, b]}}", "my pin", 1);
        assert_eq!(replaced, ["my a", "my b"]);
    }

    #[test]
    fn repetitions_have_an_end() {
        let entry = "{id: repeat-token, config: {token: 0123456789, times: 10, where: between}}";
        assert!(texts(entry, &"a ".repeat(1000), 1).is_empty());
    }

    #[test]
    fn mistakes_are_told() {
        assert_eq!(mistakes("suffix"), ["`suffix` requires the option `text`"]);
        let told = mistakes("{id: search-replace, config: {pattern: '('}}");
        assert!(told[0].starts_with("`pattern` is not a valid regular expression"), "{told:?}");
    }
}
