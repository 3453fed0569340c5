//! Passes canaries of every kind of secret to a hostile target that repeats them in every encoding, at every place and
//! in every failure. No output of any command may contain one of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use crate::run::PYTHON;

/// One line per kind of secret. `$NAME` in a suite or a command is replaced by its value; those that start with
/// `ENV_` are also environment variables of the process.
const CANARIES: &[(&str, &str)] = &[
    ("BEARER", "c4n4ryBearer7Qx9Zk2"),
    ("PASSWORD", "c4n4ry&<Basic>7Qx9Zk2"),
    ("API_KEY", "c4n4ryApiKey7Qx9Zk2"),
    ("QUERY_KEY", "c4n4ry+Query/7Qx9Zk2="),
    ("CLIENT_SECRET", "c4n4ryClient7Qx9Zk2"),
    ("ACCESS_TOKEN", "c4n4ryAccess7Qx9Zk2"),
    ("REFRESH_TOKEN", "c4n4ryRefresh7Qx9Zk2"),
    ("NAMED_HEADER", "c4n4ryHeader7Qx9Zk2"),
    ("RANDOM_HEADER", "c4n4ryTenant7Qx9Zk2"),
    ("HANDED_TOKEN", "c4n4ry \"handed\" äöü 7Qx9"),
    ("HANDED_RANDOM", "c4n4ryHanded7Qx9Zk2"),
    ("HANDED_NUMBER", "918273645546372819"),
    ("ARGUMENT", "c4n4ryArgument7Qx9Zk2"),
    ("URL_PASSWORD", "c4n4ryUserinfo7Qx9Zk2"),
    ("URL_VALUE", "c4n4ryUrlValue7Qx9Zk2"),
    ("URL_PATH", "c4n4ryUrlPath7Qx9Zk2Lm4"),
    ("ENV_IN_ARGUMENTS", "c4n4ryVariable7Qx9Zk2"),
    ("ENV_IN_PROMPT", "c4n4ryPrompt7Qx9Zk2"),
    ("ENV_IN_ASSERTION", "c4n4ryAssertion7Qx9Zk2"),
    ("ENV_OF_SCRIPTS_TOKEN", "c4n4ryScript7Qx9Zk2"),
    ("FILE_VALUE", "c4n4ryEnvFile7Qx9Zk2"),
    ("REFUSED_TOKEN", "c4n4ryRefused7Qx9Zk2"),
    ("IDENTITY", "c4n4ryIdentity7Qx9Zk2"),
];

/// The transport and the credentials of the target.
struct Setup {
    name: &'static str,
    server: &'static str,
    modes: &'static [&'static str],
    /// The canaries that the target must receive, so that the test cannot pass without testing anything.
    seen: &'static [&'static str],
}

const EVERY_CALL: &[&str] = &["ok", "tool-error", "rpc-error", "crash", "silent", "malformed"];
const STDIO: &[&str] = &["ok", "tool-error", "rpc-error", "crash", "silent", "malformed", "dead"];
const HTTP: &[&str] = &[
    "ok",
    "tool-error",
    "rpc-error",
    "crash",
    "silent",
    "malformed",
    "401",
    "500",
    "late-500",
    "redirect",
];
const FEW: &[&str] = &["ok", "401", "late-500"];

const SETUPS: &[Setup] = &[
    Setup {
        name: "stdio",
        server: r#"{"command": "$PYTHON", "args": ["$ECHO", "$MODE", "--api-key=$ARGUMENT", "$LOG"],
            "env": {"SERVICE_TOKEN": "$HANDED_TOKEN", "WORKSPACE": "$HANDED_RANDOM", "PIN_SECRET": "$HANDED_NUMBER"}}"#,
        modes: STDIO,
        seen: &[
            "HANDED_TOKEN",
            "HANDED_RANDOM",
            "HANDED_NUMBER",
            "ARGUMENT",
            "ENV_IN_ARGUMENTS",
            "FILE_VALUE",
        ],
    },
    Setup {
        name: "bearer",
        server: r#"{"url": "http://$HOST/$MODE?key=$URL_VALUE", "auth": {"type": "bearer", "token": "$BEARER"},
            "headers": {"X-Api-Key": "$NAMED_HEADER", "X-Tenant": "$RANDOM_HEADER"}}"#,
        modes: HTTP,
        seen: &["BEARER", "NAMED_HEADER", "RANDOM_HEADER", "URL_VALUE", "ENV_IN_PROMPT"],
    },
    Setup {
        name: "sse",
        server: r#"{"url": "http://$HOST/sse/$MODE?key=$URL_VALUE", "transport": "sse",
            "auth": {"type": "bearer", "token": "$BEARER"}}"#,
        modes: EVERY_CALL,
        seen: &["BEARER", "URL_VALUE"],
    },
    Setup {
        name: "basic",
        server: r#"{"url": "http://$HOST/$MODE", "auth": {"type": "basic", "username": "user", "password": "$PASSWORD"}}"#,
        modes: FEW,
        seen: &["PASSWORD"],
    },
    Setup {
        name: "api-key",
        server: r#"{"url": "http://$HOST/$MODE", "auth": {"type": "api_key", "value": "$API_KEY"}}"#,
        modes: FEW,
        seen: &["API_KEY", "IDENTITY"],
    },
    Setup {
        name: "api-key-query",
        server: r#"{"url": "http://$HOST/$MODE",
            "auth": {"type": "api_key", "value": "$QUERY_KEY", "keyName": "k", "placement": "query"}}"#,
        modes: FEW,
        seen: &["QUERY_KEY"],
    },
    Setup {
        name: "oauth",
        server: r#"{"url": "http://$HOST/$MODE", "auth": {"type": "oauth", "grantType": "client_credentials",
            "clientId": "me", "clientSecret": "$CLIENT_SECRET", "tokenUrl": "http://$HOST/token"}}"#,
        modes: FEW,
        seen: &["CLIENT_SECRET", "ACCESS_TOKEN"],
    },
    Setup {
        name: "url",
        server: r#"{"url": "http://user:$URL_PASSWORD@$HOST/$MODE/$URL_PATH?key=$URL_VALUE"}"#,
        modes: FEW,
        seen: &["URL_PATH", "URL_VALUE"],
    },
    Setup {
        name: "unreachable",
        server: r#"{"url": "http://user:$URL_PASSWORD@127.0.0.1:1/$MODE?key=$URL_VALUE", "headers": {"X-Api-Key": "$NAMED_HEADER"}}"#,
        modes: &["ok"],
        seen: &[],
    },
    Setup {
        name: "unknown-host",
        server: r#"{"url": "http://user:$URL_PASSWORD@no-such-host.invalid/$MODE?key=$URL_VALUE",
            "auth": {"type": "bearer", "token": "$BEARER"}}"#,
        modes: &["ok"],
        seen: &[],
    },
    Setup {
        name: "mistakes",
        server: r#"{"url": "htp://user:$URL_PASSWORD@nowhere?key=$URL_VALUE", "bogus": "$URL_VALUE",
            "auth": {"type": "bearer", "token": "$BEARER", "bogus": 1}}"#,
        modes: &["ok"],
        seen: &[],
    },
];

/// Added to the suite of one setup: credentials of other identities replace its own.
const IDENTITIES: &str = r"
  identities:
    - {name: ada, headers: {Authorization: 'Bearer $IDENTITY'}}
    - {name: bob, auth: {type: basic, username: bob, password: '$IDENTITY'}}
";

const SUITE: &str = r#"
description: 'for {{env.ENV_IN_PROMPT}}'
targets:
  - id: mcp
    label: echo
    config: {timeout: 700, server: $SERVER}
prompts: ['{"tool": "say", "args": {"q": "{{q}} {{env.ENV_IN_PROMPT}}"}}']
tests:
  - vars: {q: '{{env.ENV_IN_ARGUMENTS}}', 'key {{env.ENV_IN_ARGUMENTS}}': x}
    assert:
      - {type: contains, value: 'no {{env.ENV_IN_ASSERTION}}'}
      - {type: javascript, value: 'throw new Error(output + process.env.ENV_OF_SCRIPTS_TOKEN)'}
      - {type: not-is-error}
  - {description: plain, vars: {q: '{{env.VALUE_OF_FILE | default("")}}'}, assert: [{type: contains, value: xyz}]}
redteam:
  purpose: 'Repeats {{env.ENV_IN_PROMPT}}'
  tokens: {expired: $REFUSED_TOKEN}
"#;

/// Commands that follow the runs of a suite; `$SUITE` is the suite of mode `ok`. Add a line for each new
/// command.
const AFTERWARDS: &[&str] = &[
    "inspect -c $SUITE -vv",
    "inspect -c $SUITE --json",
    "call say {\"q\":\"$ENV_IN_ARGUMENTS\"} -c $SUITE -vv",
    "call say {\"q\":\"x\"} -c $SUITE --json",
    "eval -c $SUITE -vv --json",
    "eval -c $SUITE --filter-failing latest -vv --no-write",
    "eval --retry-errors latest -vv",
    "rejudge latest -o rejudged.json -o rejudged.html",
    "runs list",
    "runs list --json",
    "runs show latest",
    "runs show latest --json",
    "runs show latest --case 0",
    "runs export latest -o exported.json -o exported.html -o exported.junit.xml",
    "diff latest~1 latest",
    "diff latest~1 latest --json",
    "redteam run -c $SUITE --plugins pii,secrets,error-leak,command-injection,tool-poisoning,token-passthrough --budget-calls 25 \
        --budget-seconds 5 -vv -o attack.json -o attack.html -o attack.sarif -o attack.md -o attack.junit.xml",
    "redteam report latest --json",
    "redteam report latest",
    "redteam suite latest",
    "redteam plugins -c $SUITE",
    "doctor",
    "scan clients.json --start --yes --lock -o scan.json -o scan.md -o scan.sarif -vv",
];

/// Commands that learn or attack a target again are slow, so they run only for setups with every failure.
const AGAIN: &[&str] = &[
    "replay --all -c $SUITE --json",
    "redteam init written -c $SUITE --purpose x",
    "redteam generate -c $SUITE -o generated/redteam.yaml --force",
];

/// The same without a suite, for targets with a URL.
const BY_ADDRESS: &[&str] = &[
    "inspect --url $URL --header X-Api-Key:$NAMED_HEADER -vv",
    "call say {\"q\":\"x\"} --url $URL --json -vv",
    "redteam run --url $URL --plugins error-leak,tool-poisoning --budget-calls 20 --budget-seconds 4 -o address.json",
    "runs show latest --json",
    "login $URL --no-browser -vv",
    "inspect --url $URL --bogus",
    "inspect $URL --bogus",
    "redteam run --resume --url $URL --bogus",
    "login --list",
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |setup: &'static Setup| {
        Trial::test(format!("secrets::{}", setup.name), move || check(setup).map_err(Failed::from))
    };
    SETUPS.iter().map(trial).collect()
}

fn check(setup: &'static Setup) -> Result<(), String> {
    let place = Fixture::new(setup)?;
    let mut artefacts = Vec::new();
    for mode in setup.modes {
        let more = if setup.name == "api-key" { IDENTITIES } else { "" };
        let suite = format!("{}{more}", SUITE.trim_end());
        place.input(&format!("suite-{mode}.yaml"), &place.filled(&suite, mode, as_json))?;
        let mut line = format!("eval -c suite-{mode}.yaml --env-file values.env -vv");
        for suffix in ["json", "jsonl", "yaml", "csv", "html", "md", "txt", "junit.xml"] {
            let _ = write!(line, " -o {mode}.{suffix}");
        }
        artefacts.extend(place.run(&line)?);
    }
    let clients = "{\"mcpServers\": {\"echo\": $SERVER}}";
    place.input("clients.json", &place.filled(clients, "ok", as_json))?;
    let by_address = if setup.server.contains("\"url\"") { BY_ADDRESS } else { &[] };
    let again = if setup.modes.len() > FEW.len() { AGAIN } else { &[] };
    for line in AFTERWARDS.iter().chain(again).chain(by_address) {
        artefacts.extend(place.run(line)?);
    }
    artefacts.extend(place.files()?);
    artefacts.push(place.store()?);
    let mut complaints = leaks(&artefacts);
    // The test must not pass without testing anything.
    let told = fs::read(&place.log).unwrap_or_default();
    for name in setup.seen.iter().filter(|name| !contains(&told, canary(name).as_bytes())) {
        complaints.push(format!("the target never saw {name}"));
    }
    if !artefacts.iter().any(|artefact| contains(&artefact.bytes, b"***")) {
        complaints.push("nothing was masked".to_owned());
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

/// Output of a command.
struct Artefact {
    name: String,
    bytes: Vec<u8>,
}

/// A separate folder for everything that commands may write to, and a server that repeats its input.
struct Fixture {
    setup: &'static Setup,
    root: TempDir,
    work: PathBuf,
    inputs: RefCell<Vec<PathBuf>>,
    /// What the target received; not below the root.
    log: PathBuf,
    elsewhere: TempDir,
    server: Child,
    host: String,
}

impl Fixture {
    fn new(setup: &'static Setup) -> Result<Self, String> {
        let folder = || tempfile::Builder::new().prefix("quintain-it-").tempdir();
        let (root, elsewhere) = (folder().map_err(told)?, folder().map_err(told)?);
        let work = root.path().join("work");
        for name in ["work", "home", "tmp"] {
            fs::create_dir(root.path().join(name)).map_err(told)?;
        }
        let log = elsewhere.path().join("log");
        let mut server = Command::new(&*PYTHON)
            .args([tool("echo.py").as_os_str(), "http".as_ref(), log.as_os_str()])
            .env("ECHO_ACCESS", canary("ACCESS_TOKEN"))
            .env("ECHO_REFRESH", canary("REFRESH_TOKEN"))
            .stdout(Stdio::piped())
            .spawn()
            .map_err(told)?;
        let mut port = String::new();
        let stdout = server.stdout.take().ok_or("the server has no output")?;
        BufReader::new(stdout).read_line(&mut port).map_err(told)?;
        let host = format!("127.0.0.1:{}", port.trim());
        let inputs = RefCell::default();
        let place = Self { setup, root, work, inputs, log, elsewhere, server, host };
        place.input("values.env", &format!("VALUE_OF_FILE='{}'\n", canary("FILE_VALUE")))?;
        Ok(place)
    }

    /// An input file, which may contain secrets.
    fn input(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.work.join(name);
        fs::write(&path, text).map_err(told)?;
        self.inputs.borrow_mut().push(path);
        Ok(())
    }

    fn filled(&self, text: &str, mode: &str, escaped: fn(&str) -> String) -> String {
        let mut values = BTreeMap::from([
            ("MODE", mode.to_owned()),
            ("HOST", self.host.clone()),
            ("PYTHON", PYTHON.clone()),
            ("ECHO", tool("echo.py").display().to_string()),
            ("LOG", self.log.display().to_string()),
            ("SUITE", "suite-ok.yaml".to_owned()),
        ]);
        values.extend(CANARIES.iter().map(|(name, value)| (*name, escaped(value))));
        let mut text = text.replace("$SERVER", &self.setup.server.replace('\n', " "));
        // Longer names first, because a name can be the start of another.
        let mut names: Vec<_> = values.keys().copied().collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        for name in names {
            text = text.replace(&format!("${name}"), &values[name]);
        }
        text
    }

    fn run(&self, line: &str) -> Result<[Artefact; 2], String> {
        let url = self.setup.server.split('"').nth(3).unwrap_or_default();
        let words = line.split_whitespace().map(|word| if word == "$URL" { url } else { word });
        let words = words.map(|word| self.filled(word, "ok", str::to_owned));
        let variables = CANARIES.iter().filter(|(name, _)| name.starts_with("ENV_"));
        let output = Command::new(env!("CARGO_BIN_EXE_quintain"))
            .args(words)
            .current_dir(&self.work)
            .env_clear()
            .envs(variables.copied())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path().join("home"))
            .env("TMPDIR", self.root.path().join("tmp"))
            .env("QUINTAIN_HOME", self.root.path().join("state"))
            .stdin(Stdio::null())
            .output()
            .map_err(told)?;
        // A mistake in a line above would test nothing.
        let is_mistake =
            |code| code == 2 && !self.setup.seen.is_empty() && !line.contains("--bogus");
        if output.status.code().is_none_or(|code| code == 70 || is_mistake(code)) {
            return Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let artefact = |stream, bytes| Artefact { name: format!("{stream} of `{line}`"), bytes };
        Ok([artefact("stdout", output.stdout), artefact("stderr", output.stderr)])
    }

    /// Every written file, and the names of files and folders.
    fn files(&self) -> Result<Vec<Artefact>, String> {
        let inputs = self.inputs.borrow();
        let mut found = Vec::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(told)? {
                let path = entry.map_err(told)?.path();
                let name = path.display().to_string();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                let bytes = if inputs.contains(&path) { None } else { fs::read(&path).ok() };
                found.push(Artefact { bytes: bytes.unwrap_or_default(), name: name.clone() });
                found.push(Artefact { bytes: name.clone().into_bytes(), name });
            }
        }
        Ok(found)
    }

    /// Everything in the store, unpacked.
    fn store(&self) -> Result<Artefact, String> {
        let store = self.root.path().join("state/runs.db");
        let script = tool("unpack_store.py");
        let output = Command::new(&*PYTHON).args([&script, &store]).output().map_err(told)?;
        // A suite with mistakes is never run.
        if !output.status.success() && store.exists() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(Artefact { name: "the store".to_owned(), bytes: output.stdout })
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = self.elsewhere.path();
    }
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/secrets").join(name)
}

fn canary(name: &str) -> &'static str {
    CANARIES.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value)
}

fn as_json(text: &str) -> String {
    serde_json::Value::from(text).to_string().trim_matches('"').to_owned()
}

fn contains(hay: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(hay, needle).is_some()
}

/// The leaked canaries, with their context.
fn leaks(artefacts: &[Artefact]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in CANARIES {
        for form in forms(value) {
            for artefact in artefacts {
                let at = memchr::memmem::find(&artefact.bytes, form.as_bytes());
                let Some(at) = at else { continue };
                let around =
                    at.saturating_sub(60)..(at + form.len() + 20).min(artefact.bytes.len());
                let around = String::from_utf8_lossy(&artefact.bytes[around]).into_owned();
                found.push(format!("{name} as {form} in {}: …{around:?}…", artefact.name));
            }
        }
    }
    found.truncate(40);
    found
}

/// The encodings that must not occur. Listed again here, because a test that asks the program for them would
/// not notice a missing one.
fn forms(value: &str) -> Vec<String> {
    let hex = |upper: bool| {
        value.bytes().fold(String::new(), |mut hex, byte| {
            let _ = if upper { write!(hex, "{byte:02X}") } else { write!(hex, "{byte:02x}") };
            hex
        })
    };
    let percent = |keep: &str| {
        value.bytes().fold(String::new(), |mut text, byte| {
            let c = char::from(byte);
            if c.is_ascii_alphanumeric() || keep.contains(c) {
                text.push(c);
            } else {
                let _ = write!(text, "%{byte:02X}");
            }
            text
        })
    };
    let html = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let html = html.replace('"', "&quot;");
    let mut forms = vec![value.to_owned(), as_json(value), html, hex(true), hex(false)];
    forms.extend([percent("-._~"), percent("-._*"), percent("-._!~*'()")]);
    for shift in 0..3 {
        let mut bytes = vec![0; shift];
        bytes.extend_from_slice(value.as_bytes());
        let own = (shift * 8).div_ceil(6)..bytes.len() * 8 / 6;
        forms.push(base64(&bytes, ['+', '/'])[own.clone()].to_owned());
        forms.push(base64(&bytes, ['-', '_'])[own].to_owned());
    }
    forms.sort();
    forms.dedup();
    forms
}

fn base64(bytes: &[u8], last: [char; 2]) -> String {
    let letters = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(last);
    let letters: Vec<char> = letters.collect();
    let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    let bits: Vec<u8> = bits.collect();
    let number = |six: &[u8]| (0..6).fold(0, |sum, at| sum * 2 + six.get(at).copied().unwrap_or(0));
    bits.chunks(6).map(|six| letters[usize::from(number(six))]).collect()
}
