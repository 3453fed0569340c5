//! `targets`: MCP servers with their options; other targets by id.

use quintain_content::schema::build::{
    any, choice, code, either, flag, keys, list, map, map_of, millis, properties, refer, scalar,
    scalars, text, url, with_one_of, words,
};
use serde_json::{Value, json};

use crate::suite::auth::{ALGORITHMS, CLIENT_AUTHS, GRANTS, PLACEMENTS, TYPES};
use crate::suite::respond::ACTIONS;
use crate::suite::server::{TRANSPORTS, WAYS};
use crate::suite::target::VERSIONS;

const MCP: &str = "^mcp(:|$)";
const HTTP: &str = "^https?($|:)";
const ID: &str = "`mcp` or `mcp:NAME` for MCP servers, an address for HTTP, `exec:COMMAND`, `echo`, \
                  `file://PATH` for a file with targets";

pub(super) fn target() -> Value {
    let id = json!({"type": "string", "description": ID, "not": {"pattern": MCP}});
    let by_name = json!({
        "description": "The id, and below it the options",
        "type": "object",
        "not": {"required": ["id"]},
        "minProperties": 1,
        "maxProperties": 1,
        "patternProperties": {MCP: either("", [refer("mcp"), options(&["config"])])},
    });
    either("One target", [id, by_id(), by_name])
}

fn entries() -> [(&'static str, Value); 8] {
    [
        ("label", scalar("What reports and `--target` call it")),
        ("config", refer("mcp")),
        ("env", map_of("Variables for `{{env.NAME}}` in this target only", scalar(""))),
        ("prompts", scalars("The prompts it is meant for, by id or label")),
        ("transform", code("Applied to every output before anything else.")),
        ("delay", millis("Milliseconds to wait before every call")),
        ("inputs", any("Has no effect")),
        ("description", any("What it is")),
    ]
}

fn options(required: &[&str]) -> Value {
    keys("The options of an MCP target", entries(), required)
}

/// Only what is known of MCP targets is known for certain; other targets may have other keys.
fn by_id() -> Value {
    let names = entries().map(|(name, _)| name);
    let names: Vec<_> = names.iter().chain(&["id", "$ref"]).collect();
    let general = entries().into_iter().filter(|(name, _)| *name != "config");
    let mut properties = properties(general, &[]);
    properties.insert("id".into(), text(ID));
    properties.insert("config".into(), any("How to reach it"));
    json!({
        "description": "A target with its options",
        "type": "object",
        "properties": properties,
        "anyOf": [{"required": ["id"]}, {"required": ["$ref"]}],
        "allOf": [
            {
                "if": has_id(MCP),
                "then": {
                    "properties": {"config": refer("mcp")},
                    "propertyNames": {"enum": names},
                    "required": ["config"],
                },
            },
            {"if": has_id(HTTP), "then": {"properties": {"config": http()}}},
        ],
    })
}

fn has_id(pattern: &str) -> Value {
    json!({"properties": {"id": {"type": "string", "pattern": pattern}}, "required": ["id"]})
}

/// `config` of an HTTP target.
fn http() -> Value {
    let entries = [
        ("url", url("The address; the id if absent")),
        ("method", scalar("GET, POST, ... [default: GET]")),
        ("headers", map_of("Headers of every request", scalar(""))),
        ("queryParams", map_of("Parameters of the address", scalar(""))),
        ("body", any("What is sent; templates in it are filled in, `{{prompt}}` among them")),
        ("request", scalar("The whole request as text, or `file://PATH` of it")),
        ("useHttps", flag("Whether `request` is sent encrypted")),
        ("auth", refer("auth")),
        ("transformRequest", code("Makes what is sent from `prompt` and `vars`.")),
        ("transformResponse", code("Makes the answer from `json`, `text` and `context`.")),
        ("responseParser", code("The same as `transformResponse`.")),
        ("validateStatus", code("Which status is no error; every one if absent.")),
        ("maxRetries", any("Has no effect")),
        ("tokenEstimation", any("Has no effect")),
        ("tools", any("What a model behind it is offered to call")),
        ("tool_choice", any("Has no effect")),
        ("toolFormat", any("Has no effect")),
    ];
    keys("How to reach the endpoint, and how to read its answers", entries, &[])
}

/// `config` of an MCP target.
pub(super) fn config() -> Value {
    let versions = ["auto", "legacy", "modern"].into_iter().chain(VERSIONS);
    let entries = [
        ("enabled", flag("Whether it is used at all")),
        ("server", refer("server")),
        ("servers", list("Several servers that are tested as one", refer("server"))),
        ("tools", scalars("Only these tools")),
        ("exclude_tools", scalars("Never these tools; wins over `tools`")),
        ("defaultArgs", map("Arguments of every call, unless the call has its own")),
        ("timeout", millis("Milliseconds for a request")),
        ("resetTimeoutOnProgress", flag("Progress starts the time anew")),
        ("maxTotalTimeout", millis("Milliseconds for a request, whatever progress it makes")),
        ("pingOnConnect", flag("Ping the server before anything else")),
        ("debug", flag("Log everything")),
        ("verbose", flag("Log more")),
        ("protocolVersion", words("Which generation of the protocol to speak", versions)),
        ("respond", refer("respond")),
        ("transformResponse", any("Makes the output from the result of a call")),
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
        ("name", scalar("What reports and calls name it by")),
        ("command", scalar("The program to start; it speaks MCP on its standard streams")),
        ("args", scalars("The arguments of the program")),
        ("env", map_of("Variables for the program", scalar(""))),
        ("cwd", scalar("Where the program runs, relative to this file")),
        ("path", scalar("A script to start: `.js`, `.mjs`, `.cjs`, `.py`, relative to this file")),
        ("url", url("The address of a server that is running")),
        ("headers", map_of("Headers of every request", scalar(""))),
        ("auth", refer("auth")),
        ("transport", choice("How to speak to the address", &TRANSPORTS)),
    ];
    with_one_of(keys("One MCP server: `command`, `path` or `url`", entries, &[]), &WAYS)
}

pub(super) fn auth() -> Value {
    let password = [
        ("username", scalar("The name of the user")),
        ("password", scalar("The password of the user")),
    ];
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
        ("signingAlgorithm", choice("How `privateKey` signs [default: ES256]", &ALGORITHMS)),
        ("keyId", scalar("The `kid` of `privateKey`, where the server knows several keys")),
        ("assertion", scalar("The JWT of `jwt_bearer`")),
        ("idToken", scalar("The ID token of a user, for `identity_assertion`")),
        ("idpTokenUrl", url("Where the identity provider exchanges `idToken`")),
        ("idpClientId", scalar("The id of the client at the identity provider")),
        ("idpClientSecret", scalar("The secret of the client at the identity provider")),
        ("scopes", scalars("What the token shall allow")),
        ("clientAuthMethod", choice("How the client proves itself", &CLIENT_AUTHS)),
        ("tokenEndpointAuthMethod", choice("The same as `clientAuthMethod`", &CLIENT_AUTHS)),
        ("audience", scalar("Whom the token is for")),
        ("resource", scalar("Which resource the token is for")),
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
        ("type", choice("How to prove who asks", &TYPES)),
        ("token", scalar("The token of `bearer`")),
    ];
    let entries = entries.into_iter().chain(password).chain(key).chain(oauth);
    let mut auth = keys("How the server wants to be authenticated to", entries, &["type"]);
    auth["allOf"] = rules;
    auth
}

pub(super) fn respond() -> Value {
    let root = [("uri", scalar("Its address")), ("name", scalar("Its name"))];
    let root = either("", [scalar(""), keys("A root", root, &["uri"])]);
    let sample = keys("A reply", [("text", scalar("What the model says"))], &["text"]);
    let sample = either("", [scalar(""), sample]);
    let reply = [
        ("action", choice("What the user does", &ACTIONS)),
        ("content", map("What the user fills in")),
    ];
    let reply = either("", [choice("", &ACTIONS), keys("A reply", reply, &["action"])]);
    let entries = [
        ("roots", list("What to answer to `roots/list`", root)),
        (
            "sampling",
            either(
                "What to answer to `sampling/createMessage`",
                [list("", sample.clone()), sample],
            ),
        ),
        (
            "elicitation",
            either(
                "What to answer to `elicitation/create`",
                [words("", ["defaults"]), list("", reply.clone()), reply],
            ),
        ),
    ];
    keys("What to answer when a server asks back; nothing unless it is said here", entries, &[])
}
