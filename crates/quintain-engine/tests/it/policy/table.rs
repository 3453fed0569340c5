//! The suites of the table. Each uses one key to reach one resource.

use quintain_engine::{Access, Policy};
use quintain_evidence::code::Language;
use serde_json::{Value, json};

use super::bench::{Bench, CANARY, VARIABLE};

/// The list of a policy that must contain the resource.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    Files,
    Variables,
    Commands,
    Interpreters,
    Addresses,
    Logins,
}

/// What shows that the resource was reached.
pub(crate) enum Sign {
    Says(&'static str),
    Connects,
    Writes(&'static str),
    WritesText(&'static str, &'static str),
    /// The run is not denied; it need not succeed.
    NotDenied,
}

pub(crate) struct Row {
    pub(crate) key: &'static str,
    pub(crate) list: List,
    pub(crate) suite: Value,
    /// What the denial mentions; none if the resource is silently left out.
    pub(crate) asks: Option<String>,
    /// Lists exactly what is needed.
    pub(crate) policy: Policy,
    pub(crate) sign: Sign,
}

/// A suite with one echoed prompt, and more keys.
fn echo(more: Value) -> Value {
    let mut suite = json!({
        "targets": ["echo"],
        "prompts": ["said {{word}}"],
        "tests": [{"vars": {"word": "x"}}],
    });
    let (Some(suite_keys), Value::Object(more)) = (suite.as_object_mut(), more) else { panic!() };
    suite_keys.extend(more);
    suite
}

fn variables(names: &[&str]) -> Access<String> {
    Access::Only(names.iter().map(|name| (*name).to_owned()).collect())
}

fn file_rows(bench: &Bench) -> Vec<Row> {
    let secret = |name: &str| format!("file://secret/{name}");
    let canary = || Sign::Says(CANARY);
    let asked = |name: &str| Some(format!("`{}", bench.path(name).display()));
    let row = |key, suite, name: &str| Row {
        key,
        list: List::Files,
        suite,
        asks: asked(name),
        policy: Policy { files: Access::Only(vec![bench.path("secret")]), ..Policy::nothing() },
        sign: canary(),
    };
    let with_js = |mut row: Row| {
        row.policy.interpreters = Access::Only(vec![Language::JavaScript]);
        row
    };
    let mut rows = vec![
        row("tests", echo(json!({"tests": secret("tests.csv")})), "secret/tests.csv"),
        row("tests by a pattern", echo(json!({"tests": secret("*.csv")})), "secret"),
        row(
            "tests by a pattern of any depth",
            echo(json!({"tests": "file://secret/**/*.csv"})),
            "secret",
        ),
        row("prompts", echo(json!({"prompts": [secret("prompt.txt")]})), "secret/prompt.txt"),
        row(
            "prompts without a scheme",
            echo(json!({"prompts": ["secret/prompt.txt"]})),
            "secret/prompt.txt",
        ),
        row(
            "prompts with dots",
            echo(json!({"prompts": ["file://open/../secret/prompt.txt"]})),
            "open/../secret/prompt.txt",
        ),
        row(
            "prompts by a link",
            echo(json!({"prompts": ["file://open/link.txt"]})),
            "open/link.txt",
        ),
        row(
            "prompts by an absolute path",
            echo(
                json!({"prompts": [format!("file://{}", bench.path("secret/prompt.txt").display())]}),
            ),
            "secret/prompt.txt",
        ),
        row(
            "a variable",
            echo(json!({"tests": [{"vars": {"word": secret("prompt.txt")}}]})),
            "secret/prompt.txt",
        ),
        row(
            "variables",
            echo(json!({"tests": [{"vars": secret("vars.yaml")}]})),
            "secret/vars.yaml",
        ),
        row("targets", echo(json!({"targets": [secret("target.yaml")]})), "secret/target.yaml"),
        row(
            "defaultTest",
            echo(json!({"defaultTest": secret("default.yaml"), "tests": [{"vars": {"other": 1}}]})),
            "secret/default.yaml",
        ),
        row(
            "assertion",
            echo(
                json!({"tests": [{"vars": {"word": "x"}, "assert": [{"type": "equals", "value": secret("prompt.txt")}]}]}),
            ),
            "secret/prompt.txt",
        ),
        with_js(row(
            "transform",
            echo(
                json!({"tests": [{"vars": {"word": "x"}, "options": {"transform": secret("transform.js")}}]}),
            ),
            "secret/transform.js",
        )),
        with_js(row(
            "nunjucksFilters",
            echo(
                json!({"nunjucksFilters": {"shout": "secret/filter.js"}, "prompts": ["{{word | shout}}"]}),
            ),
            "secret/filter.js",
        )),
    ];
    let mut snapshot = row(
        "snapshot",
        echo(
            json!({"tests": [{"vars": {"word": "x"}, "assert": [{"type": "snapshot", "value": "secret/a.snap"}]}]}),
        ),
        "secret/a.snap",
    );
    snapshot.sign = Sign::Writes("secret/a.snap");
    rows.push(snapshot);
    let mcp = |server: Value| {
        echo(
            json!({"targets": [{"id": "mcp", "config": {"server": server, "timeout": 3000}}], "prompts": [r#"{"tool": "x", "args": {}}"#]}),
        )
    };
    for (key, server, name) in [
        (
            "server path",
            json!({"path": "secret/server.py", "cwd": bench.path("secret")}),
            "secret/server.py",
        ),
        (
            "server cwd",
            json!({"command": "python3", "args": ["server.py"], "cwd": bench.path("secret")}),
            "secret",
        ),
    ] {
        let mut row = row(key, mcp(server), name);
        row.policy.commands = Access::Only(vec!["python3".to_owned(), "python".to_owned()]);
        row.policy.variables = variables(&["PATH", "HOME"]);
        row.sign = Sign::Writes("secret/made");
        rows.push(row);
    }
    rows
}

fn variable_rows(bench: &Bench) -> Vec<Row> {
    let row = |key, suite, asks: bool| Row {
        key,
        list: List::Variables,
        suite,
        asks: asks.then(|| "`SECRET_VARIABLE`".to_owned()),
        policy: Policy {
            variables: variables(&["SECRET_VARIABLE", "PATH", "HOME"]),
            interpreters: Access::Only(vec![Language::JavaScript, Language::Python]),
            commands: Access::Only(vec!["sh".to_owned()]),
            files: Access::Only(vec![bench.path("open")]),
            ..Policy::nothing()
        },
        sign: Sign::Says(VARIABLE),
    };
    let seen = "{{env.SECRET_VARIABLE}}";
    let mut server = row(
        "server environment",
        echo(json!({"targets": [{"id": "mcp", "config": {"timeout": 3000, "server": {
            "command": "sh", "args": ["-c", format!("echo \"$TZ\" > {}", bench.path("made").display())]}}}],
            "prompts": [r#"{"tool": "x", "args": {}}"#]})),
        false,
    );
    server.policy.variables = Access::Only(vec!["TZ".to_owned()]);
    server.sign = Sign::WritesText("made", VARIABLE);
    vec![
        row("prompt template", echo(json!({"prompts": [seen]})), true),
        row("variable template", echo(json!({"tests": [{"vars": {"word": seen}}]})), true),
        row(
            "environment of the suite",
            echo(json!({"env": {"OWN": seen}, "prompts": ["{{env.OWN}}"]})),
            true,
        ),
        row("target template", echo(json!({"targets": [{"id": "echo", "label": seen}]})), false),
        row(
            "script environment",
            echo(
                json!({"tests": [{"vars": {"word": "x"}, "options": {"transform": "process.env.SECRET_VARIABLE ?? 'none'"}}]}),
            ),
            false,
        ),
        row(
            "interpreter environment",
            echo(json!({"targets": ["file://open/provider.py"]})),
            false,
        ),
        row(
            "command environment",
            echo(json!({"targets": ["exec: sh -c 'echo $SECRET_VARIABLE'"]})),
            false,
        ),
        server,
    ]
}

fn command_rows(bench: &Bench) -> Vec<Row> {
    let row = |key, suite, command: &str| Row {
        key,
        list: List::Commands,
        suite,
        asks: Some(format!("`{command}`")),
        policy: Policy {
            commands: Access::Only(vec![command.to_owned()]),
            interpreters: Access::Only(vec![Language::Python]),
            files: Access::Only(vec![bench.path("open")]),
            variables: variables(&["PATH", "HOME"]),
            ..Policy::nothing()
        },
        sign: Sign::Writes("made"),
    };
    let made = bench.path("made").display().to_string();
    let evil = bench.path("open/evil").display().to_string();
    let python = |key, more: Value, config: Value| {
        let mut row = row(key, echo(more), &evil);
        if let Some(suite) = row.suite.as_object_mut() {
            suite.insert(
                "targets".into(),
                json!([{"id": "file://open/provider.py", "config": config}]),
            );
        }
        // The stand-in writes to its working folder.
        row.sign = Sign::Says("python ran");
        row
    };
    let mut path = row(
        "search path",
        echo(json!({"env": {"PATH": bench.path("open")}, "targets": ["exec: true"]})),
        "true",
    );
    path.list = List::Variables;
    path.asks = Some("variable `PATH`".to_owned());
    path.sign = Sign::NotDenied;
    vec![
        row("exec target", echo(json!({"targets": [format!("exec: touch {made}")]})), "touch"),
        row(
            "server command",
            echo(
                json!({"targets": [{"id": "mcp", "config": {"timeout": 3000, "server": {"command": "touch", "args": [made]}}}], "prompts": [r#"{"tool": "x", "args": {}}"#]}),
            ),
            "touch",
        ),
        python("pythonExecutable", json!({}), json!({"pythonExecutable": evil})),
        python("PROMPTFOO_PYTHON", json!({"env": {"PROMPTFOO_PYTHON": evil}}), json!({})),
        path,
    ]
}

fn interpreter_rows(bench: &Bench) -> Vec<Row> {
    let row = |key, language, suite, sign| Row {
        key,
        list: List::Interpreters,
        suite,
        asks: Some(format!(
            "`{}`",
            if language == Language::Python { "python" } else { "javascript" }
        )),
        policy: Policy {
            interpreters: Access::Only(vec![language]),
            files: Access::Only(vec![bench.path("open")]),
            // Many installations of Python are scripts, which need these variables.
            variables: variables(&["PATH", "HOME"]),
            ..Policy::nothing()
        },
        sign: Sign::Says(sign),
    };
    let (js, python) = (Language::JavaScript, Language::Python);
    let tests = |more: Value| echo(json!({"tests": [more]}));
    vec![
        row(
            "javascript transform",
            js,
            tests(json!({"vars": {"word": "x"}, "options": {"transform": "'js ' + 'ran'"}})),
            "js ran",
        ),
        row(
            "transformVars",
            js,
            tests(
                json!({"vars": {"word": "x"}, "options": {"transformVars": "({word: 'js ' + 'ran'})"}}),
            ),
            "js ran",
        ),
        row(
            "javascript assertion",
            js,
            tests(
                json!({"vars": {"word": "x"}, "assert": [{"type": "javascript", "value": "({pass: true, score: 1, reason: 'js ' + 'ran'})"}]}),
            ),
            "js ran",
        ),
        row(
            "javascript target",
            js,
            echo(json!({"targets": ["file://open/provider.js"]})),
            "js ran",
        ),
        row(
            "python assertion",
            python,
            tests(
                json!({"vars": {"word": "x"}, "assert": [{"type": "python", "value": "{'pass': True, 'score': 1, 'reason': 'python ' + 'ran'}"}]}),
            ),
            "python ran",
        ),
        row(
            "python target",
            python,
            echo(json!({"targets": ["file://open/provider.py"]})),
            "python ran",
        ),
        row(
            "python tests",
            python,
            echo(json!({"tests": "file://open/tests.py:generate_tests"})),
            "python ran",
        ),
    ]
}

fn address_rows(bench: &Bench) -> Vec<Row> {
    let port = bench.port;
    let row = |key, host: &str, suite| Row {
        key,
        list: List::Addresses,
        suite,
        asks: Some(format!("`{host}:{port}`")),
        policy: Policy {
            addresses: Access::Only(vec![format!("{host}:{port}").parse().unwrap()]),
            ..Policy::nothing()
        },
        sign: Sign::Connects,
    };
    let url = format!("http://127.0.0.1:{port}/");
    let mcp = |server: Value| {
        echo(
            json!({"targets": [{"id": "mcp", "config": {"server": server, "timeout": 3000}}], "prompts": [r#"{"tool": "x", "args": {}}"#]}),
        )
    };
    let http = |url: &str| {
        echo(
            json!({"targets": [{"id": url, "config": {"method": "POST", "body": {"a": 1}}}], "tests": [{"vars": {"word": "x", "host": format!("127.0.0.1:{port}")}}]}),
        )
    };
    let (host, local) = ("127.0.0.1", "localhost");
    vec![
        row("http target", host, http(&url)),
        row(
            "http target behind a user name",
            local,
            http(&format!("http://127.0.0.1@localhost:{port}/")),
        ),
        row("http target in another form", host, http(&format!("http://2130706433:{port}/"))),
        row(
            "http target by a variable",
            host,
            echo(
                json!({"targets": [{"id": "http", "config": {"url": "http://{{host}}/", "method": "POST", "body": {"a": 1}}}], "tests": [{"vars": {"host": format!("127.0.0.1:{port}")}}]}),
            ),
        ),
        row(
            "http target as a whole request",
            host,
            echo(
                json!({"targets": [{"id": "http", "config": {"request": format!("GET / HTTP/1.1\nHost: 127.0.0.1:{port}\n\n")}}]}),
            ),
        ),
        row(
            "webhook",
            host,
            echo(
                json!({"tests": [{"vars": {"word": "x"}, "assert": [{"type": "webhook", "value": url}]}]}),
            ),
        ),
        row("server url", host, mcp(json!({"url": url}))),
        row("server url over SSE", host, mcp(json!({"url": url, "transport": "sse"}))),
        {
            // The server is allowed, its authorization server is not.
            let mut row = row(
                "token endpoint",
                host,
                mcp(
                    json!({"url": "http://localhost:9/", "auth": {"type": "oauth", "grantType": "client_credentials", "clientId": "c", "clientSecret": "s3cr3t-of-the-test", "tokenUrl": url}}),
                ),
            );
            let server = "localhost:9".parse().unwrap();
            let token = format!("127.0.0.1:{port}").parse().unwrap();
            row.policy.addresses = Access::Only(vec![server, token]);
            row.asks = None;
            row
        },
    ]
}

fn login_rows(bench: &Bench) -> Vec<Row> {
    let url = format!("http://127.0.0.1:{}/", bench.port);
    vec![Row {
        key: "stored login",
        list: List::Logins,
        suite: echo(
            json!({"targets": [{"id": "mcp", "config": {"server": {"url": url, "auth": {"type": "stored"}}}}], "prompts": [r#"{"tool": "x", "args": {}}"#]}),
        ),
        asks: Some("stored logins".to_owned()),
        policy: Policy {
            logins: true,
            addresses: Access::Only(vec!["loopback".parse().unwrap()]),
            ..Policy::nothing()
        },
        sign: Sign::NotDenied,
    }]
}

/// All rows.
pub(crate) fn rows(bench: &Bench) -> Vec<Row> {
    let mut rows = file_rows(bench);
    rows.extend(variable_rows(bench));
    rows.extend(command_rows(bench));
    rows.extend(interpreter_rows(bench));
    rows.extend(address_rows(bench));
    rows.extend(login_rows(bench));
    rows
}
