//! Which values are secrets. Variables and headers are named after what they hold; where the name says
//! nothing, a value counts if it looks random. Paths, switches, locales and plain words do not, since
//! masking them would leave nothing of a report.

/// Shorter texts would turn reports into confetti.
const SHORTEST: usize = 4;
/// A value whose name says nothing has to be longer, with a random part of at least `RANDOM_PART`.
const SHORTEST_UNNAMED: usize = 12;
const RANDOM_PART: usize = 10;
/// Shorter numbers are ports, sizes and years.
const LONG_NUMBER: usize = 6;

const MARKS: [&str; 9] =
    ["token", "secret", "password", "passwd", "passphrase", "key", "auth", "credential", "cookie"];

/// Values that are no credentials, whatever their name: `AUTH=true`, `AUTH_MODE=basic`.
const WORDS: [&str; 22] = [
    "true",
    "false",
    "none",
    "null",
    "auto",
    "default",
    "enabled",
    "disabled",
    "optional",
    "required",
    "basic",
    "bearer",
    "digest",
    "oauth",
    "oauth2",
    "apikey",
    "api_key",
    "api-key",
    "header",
    "query",
    "body",
    "undefined",
];

/// Whether a variable or header of this name is likely to contain a credential.
pub fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    MARKS.iter().any(|mark| name.contains(mark))
}

/// Names that mean a credential and nothing else, without case, dashes and underscores.
const CREDENTIALS: [&str; 16] = [
    "accesstoken",
    "apikey",
    "apisecret",
    "auth",
    "authorization",
    "bearer",
    "clientsecret",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "token",
];

/// Whether whatever has this name is a credential: a variable of a test, a key of a configuration.
pub fn is_credential(name: &str) -> bool {
    let name = name.replace(['-', '_'], "").to_ascii_lowercase();
    CREDENTIALS.contains(&name.as_str())
}

/// Whether the value of this name must not be shown.
pub fn is_secret(name: &str, value: &str) -> bool {
    if names_a_secret(name) { !is_plain(value.trim()) } else { looks_random(value) }
}

/// Whether a value cannot be a credential.
fn is_plain(value: &str) -> bool {
    let number = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    value.len() < SHORTEST
        || (number && value.len() < LONG_NUMBER)
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || is_path(value)
}

/// Whether a value looks like a key or a token, whatever its name.
pub fn looks_random(value: &str) -> bool {
    let value = value.trim();
    value.len() >= SHORTEST_UNNAMED
        && !value.contains(char::is_whitespace)
        && !is_path(value)
        && value.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random_part)
}

/// Keys may begin with a slash, too, but names of folders are not random.
fn is_path(value: &str) -> bool {
    let drive = value.as_bytes().get(1) == Some(&b':')
        && value.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && matches!(value.as_bytes().get(2), Some(b'\\' | b'/'));
    let path = drive || ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    path && !value.split(['/', '\\']).any(|part| part.len() >= 20 && is_random_part(part))
}

/// Letters and digits in turns, or letters whose case follows no rule.
fn is_random_part(part: &str) -> bool {
    let class = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let bytes = part.as_bytes();
    if bytes.len() < RANDOM_PART {
        return false;
    }
    let turns = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let has = |wanted: fn(&u8) -> bool| bytes.iter().any(wanted);
    if has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) {
        turns >= 3
    } else {
        bytes.len() >= 16 && turns * 2 >= bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_tokens_look_random_under_any_name() {
        for value in [
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "sk-ant-api03-Xy7Qp2Lm9Zr4Tw8Vb3Nc",
            "kX9vQ2mL7pR4tZ8w",
            "f47ac10b-58cc-4372-a567-0e02b2c3d479",
            "hunter2hunter2",
            "/9j/4AAQSkZJRgABAQEAYABgAAD8kQ2m",
        ] {
            assert!(looks_random(value), "{value}");
            assert!(is_secret("VALUE", value), "{value}");
        }
    }

    #[test]
    fn ordinary_values_of_variables_are_no_secrets() {
        for (name, value) in [
            ("PATH", "/usr/local/bin:/usr/bin:/home/user/.cargo/bin"),
            ("HOME", "/home/user"),
            ("LANG", "en_US.UTF-8"),
            ("LC_ALL", "de_DE.UTF-8@euro"),
            ("CI", "true"),
            ("PORT", "8080"),
            ("WORKERS", "100000"),
            ("MODEL", "claude-sonnet-4-20250514"),
            ("HOST", "db-primary.eu-west-1.example.com"),
            ("CITY", "Llanfairpwllgwyngyll"),
            ("CLASS", "AbstractSingletonProxyFactoryBean"),
            ("IMAGE", "node:20.11.1-alpine3.19"),
            ("GREETING", "hello from 2 places at once"),
            ("SSH_AUTH_SOCK", "/tmp/ssh-XXXXXX/agent.1234"),
            ("KEY_FILE", "C:\\keys\\server.pem"),
            ("AUTH", "true"),
            ("AUTH_MODE", "basic"),
            ("KEY_SIZE", "4096"),
            ("TOKEN", "abc"),
        ] {
            assert!(!is_secret(name, value), "{name}={value}");
        }
    }

    #[test]
    fn a_name_makes_even_a_weak_value_a_secret() {
        for (name, value) in [
            ("DB_PASSWORD", "postgres"),
            ("X-Api-Key", "h3ader"),
            ("SESSION_COOKIE", "chocolate"),
            ("PIN_SECRET", "123456"),
        ] {
            assert!(is_secret(name, value), "{name}={value}");
        }
    }
}
