//! Attacks under a policy: what they plant, start, listen on and read, apart from the calls that they send.

use std::fs;

use quintain_engine::{Access, Policy};
use serde_json::{Value, json};

use super::DENIED;
use super::bench::{Bench, CANARY, VARIABLE};

/// A server with a few tools. It notes what it sees: calls, its environment, names in the folder that it is given, and
/// what becomes of its settings.
const SERVER: &str = r#"
import json, os, sys
folder = sys.argv[1] if len(sys.argv) > 1 else None
def note(what):
    with open(os.path.join(HERE, 'noted'), 'a') as notes:
        notes.write(what + '\n')
def look():
    for name in os.listdir(folder) if folder else []:
        if 'quintain' in name:
            note('planted ' + name)
note('started ' + os.environ.get('TZ', '') + os.environ.get('OWN', ''))
settings = os.path.join(os.environ.get('HOME', ''), '.shop')
if os.path.isdir(settings):
    with open(os.path.join(settings, 'settings'), 'w') as file:
        file.write('changed')
text = {"type": "string"}
tools = [
    {"name": "add", "inputSchema": {"type": "object", "properties": {"a": text}, "required": ["a"]}},
    {"name": "read_file", "inputSchema": {"type": "object", "properties": {"path": text}, "required": ["path"]}},
    {"name": "fetch", "inputSchema": {"type": "object", "properties": {"url": text}, "required": ["url"]}},
    {"name": "kill_process", "inputSchema": {"type": "object", "properties": {"pid": {"type": "integer"}}, "required": ["pid"]}},
]
for line in sys.stdin:
    look()
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": tools}
    elif method == "tools/call":
        note('called ' + json.dumps(message["params"]))
        result = {"content": [{"type": "text", "text": "done"}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// Writes the server.
pub(crate) fn server(bench: &Bench) {
    let here = format!("HERE = {:?}\n", bench.folder().display().to_string());
    fs::write(bench.path("open/tools.py"), here + SERVER).unwrap();
}

/// Allows the server to be started, and nothing else.
pub(crate) fn policy() -> Policy {
    Policy {
        commands: Access::Only(vec!["python3".to_owned()]),
        // Many installations of Python are scripts, which need them.
        variables: Access::Only(vec!["PATH".to_owned(), "HOME".to_owned()]),
        ..Policy::nothing()
    }
}

/// A suite that attacks the server.
pub(crate) fn suite(bench: &Bench, server: &Value, redteam: &Value) -> Value {
    let script = bench.path("open/tools.py");
    let mut all = json!({"name": "shop", "command": "python3", "args": [script]});
    all.as_object_mut().unwrap().extend(server.as_object().unwrap().clone());
    let mut orders = json!({"plugins": ["error-leak"], "numTests": 1});
    orders.as_object_mut().unwrap().extend(redteam.as_object().unwrap().clone());
    json!({"targets": [{"id": "mcp", "config": {"server": all}}], "redteam": orders})
}

fn noted(bench: &Bench) -> String {
    bench.written("noted").unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_planted_in_a_folder_that_the_policy_does_not_name() {
    for is_named in [true, false] {
        let bench = Bench::new().await;
        server(&bench);
        let root = bench.path("work/root");
        fs::create_dir_all(&root).unwrap();
        let script = bench.path("open/tools.py");
        let suite = suite(
            &bench,
            &json!({"args": [script, root]}),
            &json!({"plugins": ["path-traversal"]}),
        );
        let mut policy = policy();
        if is_named {
            policy.files = Access::Only(vec![bench.path("work")]);
        }
        let told = bench.attack(&suite, &policy).await;
        assert!(noted(&bench).contains("called"), "{told}");
        assert_eq!(noted(&bench).contains("planted"), is_named, "{}", noted(&bench));
        let left = fs::read_dir(bench.path("work")).unwrap().chain(fs::read_dir(&root).unwrap());
        assert_eq!(left.count(), 1, "nothing is left");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_neither_read_nor_put_back_where_the_policy_names_no_file() {
    for is_named in [true, false] {
        let bench = Bench::new().await;
        server(&bench);
        fs::create_dir_all(bench.path("home/.shop")).unwrap();
        fs::write(bench.path("home/.shop/settings"), "original").unwrap();
        let suite = suite(&bench, &json!({"env": {"HOME": bench.path("home")}}), &json!({}));
        let mut policy = policy();
        if is_named {
            policy.files = Access::Only(vec![bench.path("home")]);
        }
        let told = bench.attack(&suite, &policy).await;
        let found = bench.written("home/.shop/settings").unwrap();
        assert_eq!(found, if is_named { "original" } else { "changed" }, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn git_and_sleep_start_only_if_the_policy_names_them() {
    for named in [&["python3"][..], &["python3", "git"], &["python3", "sleep"]] {
        let bench = Bench::new().await;
        server(&bench);
        let suite = suite(
            &bench,
            &json!({}),
            &json!({"plugins": ["error-leak", "path-traversal"], "destructive": "own"}),
        );
        let commands = named.iter().map(|name| (*name).to_owned()).collect();
        let policy = Policy { commands: Access::Only(commands), ..policy() };
        let told = bench.attack(&suite, &policy).await;
        assert!(noted(&bench).contains("called"), "{told}");
        for program in ["git", "sleep"] {
            let ran = bench.written(&format!("{program}-ran")).is_some();
            assert_eq!(ran, named.contains(&program), "{program} of {named:?}\n{told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_listened_on_only_if_the_policy_names_it() {
    let bench = Bench::new().await;
    server(&bench);
    let ordered =
        suite(&bench, &json!({}), &json!({"listener": "127.0.0.1:47", "plugins": ["ssrf"]}));
    let told = bench.attack(&ordered, &policy()).await;
    let words = "cannot listen on `127.0.0.1:47` for connections of the target: the policy of this run does not allow the address `127.0.0.1:47`";
    assert!(told.contains(words), "{told}");
    assert_eq!(noted(&bench), "", "the target was not even started");
    // Nobody ordered one: the attacks that need it are left out.
    let plain = suite(&bench, &json!({}), &json!({"plugins": ["ssrf"]}));
    let told = bench.attack(&plain, &policy()).await;
    assert!(told.contains(DENIED) && told.contains("add it to `addresses`"), "{told}");
    assert!(!noted(&bench).contains("http://127.0.0.1:"), "{}", noted(&bench));
    let addresses = Access::Only(vec!["loopback".parse().unwrap()]);
    let told = bench.attack(&plain, &Policy { addresses, ..policy() }).await;
    assert!(noted(&bench).contains("http://127.0.0.1:"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_an_attack_are_read_only_if_the_policy_names_them() {
    let mine = json!({"id": "mine", "payloads": "file://secret/payloads.txt", "proof": [{"matches": "never"}]});
    let intent = json!({"id": "intent", "config": {"intent": "file://secret/payloads.txt"}});
    for (key, redteam) in [
        ("payloads", json!({"attacks": [mine]})),
        ("attacks", json!({"attacks": ["file://secret/attack.yaml"]})),
        ("attacks by a pattern", json!({"attacks": "file://secret/att*.yaml"})),
        ("plugins", json!({"plugins": ["file://secret/attack.yaml"]})),
        ("intent", json!({"plugins": [intent]})),
    ] {
        let bench = Bench::new().await;
        server(&bench);
        let suite = suite(&bench, &json!({}), &redteam);
        let told = bench.attack(&suite, &policy()).await;
        assert!(told.contains(DENIED) && !told.contains(CANARY), "{key}\n{told}");
        assert_eq!(noted(&bench), "", "{key}: the target was not even started");
        let files = Access::Only(vec![bench.path("secret")]);
        let told = bench.attack(&suite, &Policy { files, ..policy() }).await;
        assert!(told.contains(CANARY), "{key}\n{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn variables_are_seen_by_no_key_of_an_attack() {
    let seen = "{{env.PLAIN_VARIABLE}}";
    let identity = json!({"name": "a", "env": {"OWN": seen}});
    let mine = json!({"id": "mine", "payloads": [seen], "proof": [{"matches": "never"}]});
    for redteam in [
        json!({"tokens": {"expired": seen}}),
        json!({"identities": [identity]}),
        json!({"attacks": [mine]}),
        json!({"purpose": seen}),
    ] {
        let bench = Bench::new().await;
        server(&bench);
        let suite = suite(&bench, &json!({}), &redteam);
        let told = bench.attack(&suite, &policy()).await;
        assert!(told.contains(DENIED) && told.contains("`PLAIN_VARIABLE`"), "{redteam}\n{told}");
        assert!(!told.contains(VARIABLE) && !noted(&bench).contains(VARIABLE), "{redteam}\n{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_identity_cannot_change_which_program_starts() {
    let bench = Bench::new().await;
    server(&bench);
    let identity = json!({"name": "a", "env": {"LD_PRELOAD": bench.path("open/evil")}});
    let told = bench
        .attack(&suite(&bench, &json!({}), &json!({"identities": [identity]})), &policy())
        .await;
    assert!(told.contains("does not allow the variable `LD_PRELOAD`"), "{told}");
    assert_eq!(noted(&bench), "", "{told}");
}
