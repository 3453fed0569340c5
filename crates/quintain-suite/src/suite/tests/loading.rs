//! Valid files.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quintain_evidence::connection::ApiKeyPlacement;
use quintain_evidence::connection::Auth;
use quintain_evidence::connection::ClientAuth;
use quintain_evidence::connection::Elicitation;
use quintain_evidence::connection::Grant;
use quintain_evidence::connection::Launch;
use quintain_evidence::connection::ProtocolChoice;
use quintain_evidence::connection::Responders;
use quintain_evidence::connection::Sampling;
use quintain_evidence::connection::Transport;
use secrecy::ExposeSecret;
use serde_json::json;

use super::*;

#[test]
fn the_basic_command_server_loads() {
    let target = target(
        "providers:\n  - id: mcp\n    config:\n      enabled: true\n      server:\n        command: node # runs it\n        args: ['mcp_server/index.js']\n        name: test-server\n",
    );
    assert_eq!(target.servers[0].name, "test-server");
    let Launch::Command { command, args, env, cwd } = &target.servers[0].launch else { panic!() };
    assert_eq!(
        (command.as_str(), args.as_slice()),
        ("node", ["mcp_server/index.js".to_owned()].as_slice())
    );
    assert!(env.is_empty() && cwd.is_none());
    assert_eq!(target.protocol, ProtocolChoice::Auto);
    assert_eq!(target.respond, Responders::default());
}

#[test]
fn a_remote_server_with_headers_loads() {
    let launch = launch(
        "url: https://api.example.org/mcp\nname: remote\nheaders: # optional\n  Authorization: 'Bearer token'\n  X-API-Key: 'your-api-key'\ntransport: sse",
    );
    let Launch::Url { url, headers, auth: Auth::None, transport: Transport::Sse } = launch else {
        panic!()
    };
    assert_eq!(url, "https://api.example.org/mcp");
    let headers: Vec<_> = headers.iter().map(|(n, v)| (n.as_str(), v.expose_secret())).collect();
    assert_eq!(headers, [("Authorization", "Bearer token"), ("X-API-Key", "your-api-key")]);
}

#[test]
fn several_servers_load_under_distinct_names() {
    let target = target(
        "targets:\n  - id: mcp:shop\n    label: shop\n    config:\n      servers:\n        - {command: node, args: [a.js]}\n        - {command: node, args: [b.js]}\n        - {url: 'https://x.example.org/mcp'}\n        - {command: node}\n        - {path: ./s.py}\n",
    );
    let names: Vec<_> = target.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["node", "node:1", "https://x.example.org/mcp", "node:2", "./s.py"]);
}

#[test]
fn every_kind_of_auth_loads() {
    let Auth::Bearer { token } = auth("type: bearer\ntoken: '{{env.MCP_BEARER_TOKEN}}'") else {
        panic!()
    };
    assert_eq!(token.expose_secret(), "<MCP_BEARER_TOKEN>");
    let Auth::Basic { username, password } =
        auth("type: basic\nusername: '{{MCP_USERNAME}}'\npassword: '{{env.MCP_PASSWORD}}'")
    else {
        panic!()
    };
    assert_eq!((username.as_str(), password.expose_secret()), ("<MCP_USERNAME>", "<MCP_PASSWORD>"));
    let Auth::ApiKey { value, key_name, placement } =
        auth("type: api_key\nvalue: '{{env.MCP_API_KEY}}'")
    else {
        panic!()
    };
    assert_eq!((value.expose_secret(), key_name.as_str()), ("<MCP_API_KEY>", "X-API-Key"));
    assert_eq!(placement, ApiKeyPlacement::Header);
    let legacy = auth("type: api_key\napi_key: k3y\nkeyName: key\nplacement: query");
    let Auth::ApiKey { value, key_name, placement: ApiKeyPlacement::Query } = legacy else {
        panic!()
    };
    assert_eq!((value.expose_secret(), key_name.as_str()), ("k3y", "key"));
    for kind in ["''", "none", "no_auth"] {
        assert!(matches!(auth(&format!("type: {kind}")), Auth::None));
    }
    assert!(matches!(auth("type: stored"), Auth::Stored));
}

#[test]
fn both_oauth_grants_load() {
    let client = "clientId: '{{env.MCP_CLIENT_ID}}'\nclientSecret: '{{env.MCP_CLIENT_SECRET}}'";
    let Auth::OAuth(oauth) = auth(&format!(
        "type: oauth\ngrantType: client_credentials\ntokenUrl: https://auth.example.org/token\n{client}\nscopes:\n  - read\n  - write\nclientAuthMethod: client_secret_basic\naudience: a\nresource: r"
    )) else {
        panic!()
    };
    assert!(matches!(oauth.grant, Grant::ClientCredentials { key: None }));
    assert_eq!(oauth.token_url.as_deref(), Some("https://auth.example.org/token"));
    assert_eq!(oauth.scopes, ["read", "write"]);
    assert_eq!(oauth.client_auth, ClientAuth::Basic);
    let Auth::OAuth(oauth) = auth(&format!("type: oauth\n{client}\nscopes: a, b c")) else {
        panic!()
    };
    assert_eq!((oauth.scopes.len(), oauth.token_url), (3, None));
    let Auth::OAuth(oauth) = auth(
        "type: oauth\ngrantType: password\nusername: '{{env.MCP_USERNAME}}'\npassword: '{{env.MCP_PASSWORD}}'\nscopes: [read]",
    ) else {
        panic!()
    };
    assert!(matches!(oauth.grant, Grant::Password { .. }));
    assert!(oauth.client_id.is_none());
}

#[test]
fn grants_that_need_no_client_secret_load() {
    let oauth = |text: &str| match auth(&format!("type: oauth\n{text}")) {
        Auth::OAuth(oauth) => oauth,
        _ => panic!("{text}"),
    };
    let signed =
        oauth("clientId: me\nprivateKey: '{{env.MCP_KEY}}'\nsigningAlgorithm: RS256\nkeyId: k1");
    let Grant::ClientCredentials { key: Some(key) } = &signed.grant else { panic!("{signed:?}") };
    assert_eq!((key.pem.expose_secret(), key.algorithm), ("<MCP_KEY>", "RS256"));
    assert_eq!((key.key_id.as_deref(), signed.client_secret.is_none()), (Some("k1"), true));
    let signed = oauth("clientId: me\nprivateKey: pem");
    assert!(
        matches!(&signed.grant, Grant::ClientCredentials { key: Some(key) } if key.algorithm == "ES256")
    );
    let workload = oauth("grantType: jwt_bearer\nassertion: '{{env.MCP_JWT}}'");
    let Grant::JwtBearer { assertion } = &workload.grant else { panic!("{workload:?}") };
    assert_eq!(assertion.expose_secret(), "<MCP_JWT>");
    let employee = oauth(
        "grantType: identity_assertion\nidToken: '{{env.MCP_ID}}'\nidpTokenUrl: https://idp.example.org/token\nidpClientId: app\nclientId: me\nclientSecret: s",
    );
    let Grant::IdentityAssertion(provider) = &employee.grant else { panic!("{employee:?}") };
    assert_eq!(
        (provider.id_token.expose_secret(), provider.client_id.as_str()),
        ("<MCP_ID>", "app")
    );
    assert_eq!(employee.client_id.as_deref(), Some("me"));
}

#[test]
fn filters_timeouts_and_default_arguments_load() {
    let target = target(
        "providers:\n  - id: mcp\n    config:\n      server:\n        command: node\n        args: ['server.js']\n      tools: ['get_user_data', 'process_payment']\n      exclude_tools: ['process_payment']\n      timeout: 900000 # 15 minutes\n      resetTimeoutOnProgress: true\n      maxTotalTimeout: 0\n      pingOnConnect: true\n      debug: true\n      verbose: true\n      defaultArgs:\n        session_id: 'test-session'\n        n: 1.5\n        user: '{{env.MCP_USERNAME}}'\n      protocolVersion: 2025-06-18\n      responseParser: 'content[0].text'\n",
    );
    assert!(target.filter.allows("get_user_data"));
    assert!(!target.filter.allows("process_payment") && !target.filter.allows("other"));
    assert_eq!(target.timeouts.request, Some(Duration::from_mins(15)));
    assert!(target.timeouts.reset_on_progress && target.timeouts.max_total.is_none());
    assert!(target.ping_on_connect);
    assert_eq!((target.debug, target.verbose), (Some(true), Some(true)));
    let args = json!({"session_id": "test-session", "n": 1.5, "user": "<MCP_USERNAME>"});
    assert_eq!(Value::Object(target.default_args), args);
    assert_eq!(target.protocol, ProtocolChoice::Exact("2025-06-18".into()));
    assert_eq!(
        target.transform_response.as_ref().map(quintain_evidence::code::Code::text),
        Some("content[0].text")
    );
}

#[test]
fn a_whole_evaluation_and_a_whole_red_team_file_load() {
    let suite = clean(
        "# yaml-language-server: $schema=https://example.org/schema.json\ndescription: Testing payments\nproviders:\n  - id: mcp\n    config:\n      enabled: true\n      server: {command: node, args: ['payment_server.js'], name: payment-system}\nprompts:\n  - '{{prompt}}'\ntests:\n  - vars:\n      prompt: '{\"tool\": \"process_payment\", \"args\": {\"amount\": 100}}'\n    assert:\n      - type: contains\n        value: success\n",
    );
    assert_eq!(suite.description.as_deref(), Some("Testing payments"));
    assert_eq!(suite.tests.tests.len(), 1);
    clean(
        "description: Red team\nproviders:\n  - id: mcp\n    config:\n      server: {command: node, args: [index.js], name: t}\nredteam:\n  purpose: |\n    The system manages payments.\n    Test for leaks.\n  plugins:\n    - pii # personal data\n    - bola\n  strategies:\n    - basic\n  numTests: 25\n",
    );
}

#[test]
fn all_shapes_of_targets_are_understood() {
    let server = "{server: {command: x}}";
    for (text, count) in [
        (format!("targets: {{id: mcp, config: {server}}}"), 1),
        (format!("targets: [{{mcp: {{config: {server}, label: l}}}}]"), 1),
        (format!("targets: [{{mcp: {server}}}]"), 1),
        ("targets: openai:gpt-5".into(), 1),
        ("targets: [echo, {id: 'openai:x', config: {a: 1}, b: 2}, {'https://h': {config: {method: GET}}}, 'exec:chat.sh']".into(), 4),
        ("metrics: []".into(), 0),
    ] {
        assert_eq!(clean(&text).targets.len(), count, "{text}");
    }
    assert_eq!(clean("targets: echo").targets[0].kind.id, "echo");
    assert_eq!(
        codes("targets: [nonsense:model, 'exec:']"),
        ["config::unknown-target", "config::no-command"]
    );
    assert_eq!(
        codes("targets: [http, {id: http, config: {url: 'http://h'}}]"),
        ["config::missing-key"; 2]
    );
    assert_eq!(codes("targets: 'file://p.yaml'"), ["config::unreadable-file"]);
    assert_eq!(codes("targets: mcp"), ["config::no-server"]);
    assert_eq!(codes("targets: [{label: x, config: {}}]"), ["config::missing-key"]);
    assert_eq!(codes("targets: echo\nproviders: echo"), ["config::several-of"]);
    assert_eq!(codes("targets: [[echo]]"), ["config::wrong-type"]);
}

#[test]
fn the_environment_is_layered_and_reaches_every_text_of_a_server() {
    let suite = clean(
        "env: {HOST: h, BIN: '{{env.MCP_USERNAME}}', DIR: d}\ntargets:\n  - id: mcp\n    env: {HOST: own}\n    config:\n      servers:\n        - {command: '{{env.BIN}}', args: ['--h={{env.HOST}}', 8080], env: {A: '{{env.HOST}}', B: 1, C: }, cwd: '{{env.DIR}}'}\n        - {url: 'https://{{env.HOST}}/', headers: {X: '{{env.HOST}}'}}\n        - {path: '{{env.DIR}}/s.mjs', args: [x]}\n",
    );
    let servers = &suite.targets[0].as_mcp().expect("mcp").servers;
    let Launch::Command { command, args, env, cwd } = &servers[0].launch else { panic!() };
    assert_eq!((command.as_str(), args.join(" ")), ("<MCP_USERNAME>", "--h=own 8080".to_owned()));
    let env: Vec<_> = env.iter().map(|(n, v)| (n.as_str(), v.expose_secret())).collect();
    assert_eq!(env, [("A", "own"), ("B", "1"), ("C", "")]);
    assert_eq!(cwd.as_deref(), Some(Path::new("/suites/d")));
    assert!(matches!(&servers[1].launch, Launch::Url { url, .. } if url == "https://own/"));
    let (program, args) = servers[2].launch.command_line().expect("a command line");
    assert_eq!(
        (program, args),
        (Path::new("node"), vec![Path::new("/suites/d/s.mjs"), Path::new("x")])
    );
}

#[test]
fn responders_are_off_unless_declared() {
    let respond = |text: &str| {
        target(&format!("targets: [{{mcp: {{server: {{command: x}}, respond: {text}}}}}]")).respond
    };
    let full = respond(
        "{roots: [{uri: 'file:///a', name: a}, 'file:///b'], sampling: {text: hi}, elicitation: {action: accept, content: {n: 1}}}",
    );
    assert_eq!(full.roots.map(|roots| roots.len()), Some(2));
    assert_eq!(full.sampling, Some(Sampling { replies: vec!["hi".into()] }));
    let Some(Elicitation::Script(script)) = full.elicitation else { panic!() };
    assert_eq!(script[0].content["n"], json!(1));
    assert_eq!(respond("{elicitation: defaults}").elicitation, Some(Elicitation::Defaults));
    let list = respond("{sampling: [a, {text: b}], elicitation: [decline, {action: cancel}]}");
    assert_eq!(list.sampling.map(|s| s.replies.len()), Some(2));
    assert!(matches!(list.elicitation, Some(Elicitation::Script(script)) if script.len() == 2));
}

#[test]
fn several_files_are_one_suite() {
    let file = |name: &str, text: &str| SuiteFile {
        name: name.into(),
        text: text.into(),
        base_dir: PathBuf::from(name).with_extension(""),
    };
    let loaded = load(
        vec![
            file("/a.yaml", "env: {B: bb}\ntargets: [{mcp: {server: {path: x.py}}}]"),
            file(
                "/b.json",
                r#"{"targets": [{"id": "mcp:b", "config": {"server": {"command": "{{env.B}}"}}}]}"#,
            ),
        ],
        &env(),
        Arc::new(NoFiles),
        Purpose::Run(Consent::of_the_user()),
        BUILT_IN,
    );
    assert!(loaded.diagnostics.is_empty(), "{}", drawn(&loaded));
    let suite = loaded.suite.expect("a suite");
    let names: Vec<_> = suite
        .targets
        .iter()
        .flat_map(|t| &t.as_mcp().expect("mcp").servers)
        .map(|s| s.name.as_str())
        .collect();
    assert_eq!(names, ["x.py", "bb"]);
    let broken = load(
        vec![file("a.yaml", "a: [1"), file("b.yaml", "bogus: 1"), file("c.yaml", "")],
        &env(),
        Arc::new(NoFiles),
        Purpose::Run(Consent::of_the_user()),
        BUILT_IN,
    );
    assert_eq!(broken.diagnostics.len(), 3, "{}", drawn(&broken));
}

#[test]
fn secrets_are_collected_and_never_printed() {
    let loaded = load_as(
        "quintain.yaml",
        "targets:\n  - id: mcp\n    config:\n      servers:\n        - {url: 'https://x.example.org?key=qu3ry', headers: {Accept: text/plain, X-Api-Key: h3ader}, auth: {type: bearer, token: t0ken-value}}\n        - {command: x, args: ['--key={{env.MCP_API_KEY}}'], env: {DB_PASSWORD: dbpass, PORT: 8080}}\n",
    );
    let secrets: Vec<_> =
        loaded.secrets.iter().map(|secret| secret.value.expose_secret()).collect();
    assert!(drawn(&loaded).contains("can read `MCP_API_KEY`"), "{}", drawn(&loaded));
    for secret in ["h3ader", "t0ken-value", "dbpass", "<MCP_API_KEY>", "qu3ry"] {
        assert!(secrets.contains(&secret), "{secret}: {secrets:?}");
    }
    for plain in ["text/plain", "8080", "mcp"] {
        assert!(!secrets.contains(&plain), "{plain}: {secrets:?}");
    }
    let debugged = format!("{loaded:?}");
    for secret in ["t0ken-value", "h3ader"] {
        assert!(!format!("{:?}", loaded.suite).contains(secret), "{debugged}");
    }
}

#[test]
fn secrets_of_a_suite_with_mistakes_are_known_too() {
    let loaded = load_as(
        "quintain.yaml",
        "targets:\n  - id: mcp\n    config:\n      server: {url: 'htp://u:passw0rd@x', bogus: 1, auth: {type: bearer, token: t0ken-value}}\n",
    );
    assert!(loaded.suite.is_none());
    let secrets: Vec<_> =
        loaded.secrets.iter().map(|secret| secret.value.expose_secret()).collect();
    assert!(secrets.contains(&"passw0rd") && secrets.contains(&"t0ken-value"), "{secrets:?}");
}

#[test]
fn variables_that_a_suite_expands_are_secrets_by_their_form() {
    let suite = SuiteFile {
        name: "a.yaml".to_owned(),
        text: "targets: [mcp]\ntests: [{vars: {a: '{{env.PLACE}} {{env.VALUE}}'}}]\n".into(),
        base_dir: PathBuf::new(),
    };
    let env = [
        ("PLACE", "Berlin"),
        ("VALUE", "kX9vQ2mL7pR4tZ8w"),
        ("OTHER", "aX9vQ2mL7pR4tZ8w"),
        ("OTHER_TOKEN", "bX9vQ2mL7pR4tZ8w"),
        ("OTHER_PASSWORD", "postgres"),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let purpose = Purpose::Run(Consent::of_the_user());
    let loaded = load(vec![suite], &env, Arc::new(NoFiles), purpose, BUILT_IN);
    let secrets: Vec<_> =
        loaded.secrets.iter().map(|secret| secret.value.expose_secret()).collect();
    assert_eq!(secrets, ["bX9vQ2mL7pR4tZ8w", "kX9vQ2mL7pR4tZ8w"]);
}
