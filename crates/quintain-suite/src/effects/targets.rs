//! The effects of targets: what they start and contact.

use std::collections::BTreeSet;

use quintain_evidence::code::Language;
use quintain_evidence::connection::{Auth, Grant, Launch, McpTarget, OAuth, Server};
use quintain_evidence::effects::{Contact, Environment, Start, Variables};
use quintain_source::Scope;
use secrecy::ExposeSecret;
use serde_json::Value;

use super::collect::Collector;
use super::names::{Defined, bare};
use crate::suite::{CodeTarget, ExecTarget, HttpTarget, Target, TargetKind};

/// Collects the effects of a target. `content` are the variables in what the tests send to it.
pub(super) fn collect(target: &Target, content: &Variables, found: &mut Collector<'_>) {
    let defined = Defined(vec![&target.env, &found.suite.written_env]);
    let one = One { target, defined, content };
    match &target.kind {
        TargetKind::Mcp(mcp) => one.mcp(mcp, found),
        TargetKind::Http(http) => one.http(http, found),
        TargetKind::Exec(exec) => one.exec(exec, found),
        TargetKind::Code(code) => one.code(code, found),
        TargetKind::Echo | TargetKind::Other => {}
    }
    if let Some(code) = &target.transform {
        found.code(code, "transforms responses");
    }
}

struct One<'a> {
    target: &'a Target,
    defined: Defined<'a>,
    content: &'a Variables,
}

impl One<'_> {
    fn name(&self) -> String {
        format!("target `{}`", self.target.name())
    }

    fn mcp(&self, mcp: &McpTarget, found: &mut Collector<'_>) {
        // Part of every call and every reply.
        let shared = format!("{:?} {}", mcp.respond, Value::Object(mcp.default_args.clone()));
        let shared = self.defined.variables([shared.as_str()], Scope::Env).with(self.content);
        for server in &mcp.servers {
            self.server(server, &shared, found);
        }
        if let Some(code) = &mcp.transform_response {
            found.code(code, "transforms responses");
        }
    }

    fn server(&self, server: &Server, shared: &Variables, found: &mut Collector<'_>) {
        let what = format!("{}, server `{}`", self.name(), server.name);
        let (url, headers, auth) = match &server.launch {
            Launch::Url { url, headers, auth, .. } => (url, headers, auth),
            Launch::Command { env, cwd, .. } | Launch::Path { env, cwd, .. } => {
                let Some((program, args)) = server.launch.command_line() else { return };
                let args: Vec<String> = args.iter().map(|arg| arg.display().to_string()).collect();
                let command = program.display().to_string();
                let values = env.values().map(ExposeSecret::expose_secret);
                let texts = values.chain(args.iter().map(String::as_str)).chain([command.as_str()]);
                let receives = self.defined.variables(texts, Scope::Env).with(shared);
                let inherited = found.inherited.iter().map(|name| (*name).to_owned());
                let names = inherited.chain(env.keys().cloned()).collect();
                let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string());
                let environment = Environment::Named(names);
                found.start(Start { what, command, args, cwd, environment, receives });
                return;
            }
        };
        let texts = headers.iter().map(|(_, value)| value.expose_secret()).chain([url.as_str()]);
        let receives = self.defined.variables(texts, Scope::Env).with(shared);
        let receives = receives.with(&self.auth(auth));
        if let Auth::OAuth(oauth) = auth {
            let url = oauth
                .token_url
                .as_deref()
                .map_or_else(|| format!("the authorization server that {} names", bare(url)), bare);
            let what = format!("{what}: tokens");
            if let Grant::IdentityAssertion(provider) = &oauth.grant {
                let receives = self.grant(&oauth.grant);
                let url = bare(&provider.token_url);
                found.contact(Contact { what: what.clone(), url, receives });
            }
            found.contact(Contact { what, url, receives: self.oauth(oauth) });
        }
        if matches!(auth, Auth::Stored) {
            let url = format!("the authorization server of the login for {}", bare(url));
            let what = format!("{what}: tokens");
            found.contact(Contact { what, url, receives: Variables::default() });
        }
        found.contact(Contact { what, url: bare(url), receives });
    }

    /// The variables in the credentials that the target itself receives.
    fn auth(&self, auth: &Auth) -> Variables {
        let texts: Vec<&str> = match auth {
            Auth::None | Auth::Stored | Auth::OAuth(_) => Vec::new(),
            Auth::Bearer { token } => vec![token.expose_secret()],
            Auth::Basic { username, password } => vec![username, password.expose_secret()],
            Auth::ApiKey { value, key_name, .. } => vec![value.expose_secret(), key_name],
        };
        self.defined.variables(texts, Scope::Bare)
    }

    fn oauth(&self, oauth: &OAuth) -> Variables {
        let OAuth {
            grant, token_url, client_id, client_secret, scopes, audience, resource, ..
        } = oauth;
        let plain = [token_url, client_id, audience, resource].into_iter().flatten();
        let plain = plain.chain(scopes).map(String::as_str);
        let secret = client_secret.iter().map(ExposeSecret::expose_secret);
        let own = self.defined.variables(plain.chain(secret), Scope::Bare);
        match grant {
            // The identity provider receives them; this server gets a token that it issues.
            Grant::IdentityAssertion(_) => own,
            grant => own.with(&self.grant(grant)),
        }
    }

    fn grant(&self, grant: &Grant) -> Variables {
        let secrets = grant.secrets().into_iter().map(ExposeSecret::expose_secret);
        self.defined.variables(grant.texts().into_iter().chain(secrets), Scope::Bare)
    }

    fn http(&self, http: &HttpTarget, found: &mut Collector<'_>) {
        let named = http.headers.iter().chain(&http.query).map(|(_, value)| value.expose_secret());
        let body = http.body.as_ref().map(Value::to_string).unwrap_or_default();
        let texts = named.chain([http.url.as_str(), &body]).chain(http.request.as_deref());
        let mut receives = self.defined.variables(texts, Scope::Env).with(self.content);
        receives = receives.with(&self.auth(&http.auth));
        // The code can put any variable into a request.
        receives.any |= http.transform_request.is_some();
        let url = match &http.request {
            Some(request) => host_of(request, http.use_https),
            None => bare(&http.url),
        };
        found.contact(Contact { what: self.name(), url, receives });
        for (code, what) in [
            (&http.transform_request, "transforms requests"),
            (&http.transform_response, "transforms responses"),
            (&http.validate_status, "validates the status"),
        ] {
            code.iter().for_each(|code| found.code(code, what));
        }
    }

    fn exec(&self, exec: &ExecTarget, found: &mut Collector<'_>) {
        let mut args = exec.args.clone();
        args.extend(["PROMPT", "OPTIONS", "CONTEXT"].map(str::to_owned));
        found.start(Start {
            what: self.name(),
            command: exec.command.clone(),
            args,
            cwd: Some(exec.base_dir.display().to_string()),
            environment: Environment::All,
            receives: Variables::default(),
        });
    }

    fn code(&self, code: &CodeTarget, found: &mut Collector<'_>) {
        found.code_with(&code.code, &self.name(), code.executable.as_deref());
    }
}

/// The hosts of a raw request.
fn host_of(request: &str, https: bool) -> String {
    let scheme = if https { "https" } else { "http" };
    let hosts = request.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("host").then(|| value.trim())
    });
    let hosts: BTreeSet<&str> = hosts.collect();
    let hosts: Vec<&str> = hosts.into_iter().collect();
    format!("{scheme}://{}", hosts.join(" or "))
}

/// The interpreter of a language and the variable that overrides it; none for JavaScript.
pub(super) fn interpreter(language: Language) -> Option<(&'static str, &'static str)> {
    match language {
        Language::JavaScript => None,
        Language::Python => Some(("python3", "PROMPTFOO_PYTHON")),
        Language::Ruby => Some(("ruby", "PROMPTFOO_RUBY")),
    }
}
