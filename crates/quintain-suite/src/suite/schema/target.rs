//! `targets`: MCP servers with their options; other targets by id.

use quintain_content::schema::build::{
    any, choice, code, either, flag, keys, list, map, map_of, millis, properties, refer, scalar,
    scalars, text, url, with_one_of, words,
};
use serde_json::{Value, json};

use crate::suite::auth::{ALGORITHMS, CLIENT_AUTHS, GRANTS, PLACEMENTS, TYPES};
use crate::suite::respond::ACTIONS;
use crate::suite::server::{TRANSPORTS, WAYS};
use crate::suite::targets::{ConfigSchema, Kinds, VERSIONS};

const MCP: &str = "^mcp(:|$)";
const ID: &str = "`mcp` or `mcp:NAME` for MCP servers, a URL for HTTP, `exec:COMMAND`, `echo`, \
                  `file://PATH` for a file with targets";

pub(super) fn target(kinds: Kinds<'_>) -> Value {
    let id = json!({"type": "string", "description": ID, "not": {"pattern": MCP}});
    let by_name = json!({
        "description": "The id as the key, the options as its value",
        "type": "object",
        "not": {"required": ["id"]},
        "minProperties": 1,
        "maxProperties": 1,
        "patternProperties": {MCP: either("", [refer("mcp"), options(&["config"])])},
    });
    either("One target", [id, by_id(kinds), by_name])
}

fn entries() -> [(&'static str, Value); 8] {
    [
        ("label", scalar("The name in reports and for `--target`")),
        ("config", refer("mcp")),
        ("env", map_of("Variables for `{{env.NAME}}` in this target only", scalar(""))),
        ("prompts", scalars("Use only these prompts, by id or label")),
        ("transform", code("Applied to every output before anything else.")),
        ("delay", millis("Milliseconds to wait before every call")),
        ("inputs", any("Has no effect")),
        ("description", any("Description of the target")),
    ]
}

fn options(required: &[&str]) -> Value {
    keys("The options of an MCP target", entries(), required)
}

/// Only the keys of MCP targets are complete; other targets may have more keys.
fn by_id(kinds: Kinds<'_>) -> Value {
    let names = entries().map(|(name, _)| name);
    let names: Vec<_> = names.iter().chain(&["id", "$ref"]).collect();
    let general = entries().into_iter().filter(|(name, _)| *name != "config");
    let mut properties = properties(general, &[]);
    properties.insert("id".into(), text(ID));
    properties.insert("config".into(), any("How to reach the target"));
    let mut rules = vec![json!({
        "if": has_id(MCP),
        "then": {
            "properties": {"config": refer("mcp")},
            "propertyNames": {"enum": names},
            "required": ["config"],
        },
    })];
    rules.extend(kinds.iter().filter_map(|kind| kind.schema()).map(|ConfigSchema { ids, config }| {
        json!({"if": has_id(ids), "then": {"properties": {"config": config}}})
    }));
    json!({
        "description": "A target with its options",
        "type": "object",
        "properties": properties,
        "anyOf": [{"required": ["id"]}, {"required": ["$ref"]}],
        "allOf": rules,
    })
}

fn has_id(pattern: &str) -> Value {
    json!({"properties": {"id": {"type": "string", "pattern": pattern}}, "required": ["id"]})
}

/// `config` of an MCP target.
pub(super) fn config() -> Value {
    let versions = ["auto", "legacy", "modern"].into_iter().chain(VERSIONS);
    let entries = [
        ("enabled", flag("Use the servers of this target [default: true]")),
        ("server", refer("server")),
        ("servers", list("Several servers that are tested as one", refer("server"))),
        ("tools", scalars("Use only these tools")),
        ("exclude_tools", scalars("Never use these tools; overrides `tools`")),
        ("defaultArgs", map("Default arguments of every call")),
        ("timeout", millis("Time limit for a request in milliseconds")),
        ("resetTimeoutOnProgress", flag("Restart the time limit on progress notifications")),
        (
            "maxTotalTimeout",
            millis("Time limit for a request in milliseconds, regardless of progress"),
        ),
        ("pingOnConnect", flag("Ping the server after connecting")),
        ("debug", flag("Log everything")),
        ("verbose", flag("Log more")),
        ("protocolVersion", words("The version of the protocol to use", versions)),
        ("respond", refer("respond")),
        ("transformResponse", any("Computes the output from the result of a call")),
        ("responseParser", any("The same as `transformResponse`")),
    ];
    let mut config = keys("One or several MCP servers, and how to use them", entries, &[]);
    let off = json!({"properties": {"enabled": {"const": false}}, "required": ["enabled"]});
    config["anyOf"] =
        json!([off, {"required": ["server"]}, {"required": ["servers"]}, {"required": ["$ref"]}]);
    config
}

pub(super) fn server() -> Value {
    let entries = [
        ("name", scalar("The name in reports and calls")),
        ("command", scalar("The program to start; it uses MCP over stdio")),
        ("args", scalars("Arguments of the program")),
        ("env", map_of("Environment variables of the program", scalar(""))),
        ("cwd", scalar("Working directory of the program, relative to this file")),
        ("path", scalar("A script to start: `.js`, `.mjs`, `.cjs`, `.py`, relative to this file")),
        ("url", url("The URL of a running server")),
        ("headers", map_of("Headers of every request", scalar(""))),
        ("auth", refer("auth")),
        ("transport", choice("The transport for `url`", &TRANSPORTS)),
    ];
    with_one_of(keys("One MCP server: `command`, `path` or `url`", entries, &[]), &WAYS)
}

pub(super) fn auth() -> Value {
    let password = [("username", scalar("The user name")), ("password", scalar("The password"))];
    let key = [
        ("value", scalar("The key")),
        ("api_key", scalar("The older name of `value`")),
        ("keyName", scalar("Name of the header or parameter [default: X-API-Key]")),
        ("placement", choice("Where the key is sent [default: header]", &PLACEMENTS)),
    ];
    let oauth = [
        ("grantType", choice("How to get a token [default: client_credentials]", &GRANTS)),
        ("tokenUrl", url("Where to get tokens; discovered if absent")),
        ("clientId", scalar("The id of this client")),
        ("clientSecret", scalar("The secret of this client")),
        ("privateKey", scalar("A private key in PEM that signs instead of a secret")),
        ("signingAlgorithm", choice("The algorithm of `privateKey` [default: ES256]", &ALGORITHMS)),
        ("keyId", scalar("The `kid` of `privateKey`, if the server knows several keys")),
        ("assertion", scalar("The JWT of `jwt_bearer`")),
        ("idToken", scalar("The ID token of a user, for `identity_assertion`")),
        (
            "idpTokenUrl",
            url("The token endpoint of the identity provider, which exchanges `idToken`"),
        ),
        ("idpClientId", scalar("The id of the client at the identity provider")),
        ("idpClientSecret", scalar("The secret of the client at the identity provider")),
        ("scopes", scalars("Scopes of the token")),
        ("clientAuthMethod", choice("How the client authenticates", &CLIENT_AUTHS)),
        ("tokenEndpointAuthMethod", choice("The same as `clientAuthMethod`", &CLIENT_AUTHS)),
        ("audience", scalar("The audience of the token")),
        ("resource", scalar("The resource of the token (RFC 8707)")),
    ];
    let only = |names: &[&'static str]| {
        let names: Vec<_> = ["type", "$ref"].iter().chain(names).collect();
        json!({"enum": names})
    };
    let kind = |kind: &str| json!({"properties": {"type": {"const": kind}}, "required": ["type"]});
    let user = ["username", "password"];
    let of_key = key.clone().map(|(name, _)| name);
    let of_oauth: Vec<_> = oauth.iter().map(|(name, _)| *name).chain(user).collect();
    let by = |grant: &str| json!({"properties": {"grantType": {"const": grant}}, "required": ["grantType"]});
    let by_client = json!({"properties": {"grantType": {"const": "client_credentials"}}});
    let proofs = json!([{"required": ["clientSecret"]}, {"required": ["privateKey"]}]);
    let rules = json!([
        {"if": kind("bearer"), "then": {"required": ["token"], "propertyNames": only(&["token"])}},
        {"if": kind("basic"), "then": {"required": user, "propertyNames": only(&user)}},
        {
            "if": kind("api_key"),
            "then": {
                "anyOf": [{"required": ["value"]}, {"required": ["api_key"]}],
                "propertyNames": only(&of_key),
            },
        },
        {
            "if": kind("oauth"),
            "then": {
                "propertyNames": only(&of_oauth),
                "allOf": [
                    {"if": by("password"), "then": {"required": user}},
                    {"if": by("jwt_bearer"), "then": {"required": ["assertion"]}},
                    {
                        "if": by("identity_assertion"),
                        "then": {"required": ["idToken", "idpTokenUrl", "idpClientId"]},
                    },
                    {"if": by_client, "then": {"required": ["clientId"], "anyOf": proofs}},
                ],
            },
        },
    ]);
    let entries = [
        ("type", choice("The kind of credentials", &TYPES)),
        ("token", scalar("The token of `bearer`")),
    ];
    let entries = entries.into_iter().chain(password).chain(key).chain(oauth);
    let mut auth = keys("How to authenticate to the server", entries, &["type"]);
    auth["allOf"] = rules;
    auth
}

pub(super) fn respond() -> Value {
    let root = [("uri", scalar("The URI of the root")), ("name", scalar("The name of the root"))];
    let root = either("", [scalar(""), keys("A root", root, &["uri"])]);
    let sample = keys("A reply", [("text", scalar("The text of the model"))], &["text"]);
    let sample = either("", [scalar(""), sample]);
    let reply = [
        ("action", choice("The action of the user", &ACTIONS)),
        ("content", map("The values that the user enters")),
    ];
    let reply = either("", [choice("", &ACTIONS), keys("A reply", reply, &["action"])]);
    let entries = [
        ("roots", list("The reply to `roots/list`", root)),
        (
            "sampling",
            either("The reply to `sampling/createMessage`", [list("", sample.clone()), sample]),
        ),
        (
            "elicitation",
            either(
                "The reply to `elicitation/create`",
                [words("", ["defaults"]), list("", reply.clone()), reply],
            ),
        ),
    ];
    keys("Replies to requests of the server; others get `method not found`", entries, &[])
}
