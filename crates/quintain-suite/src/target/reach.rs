//! What a target would start and contact, as its settings report it. Nothing is started here.

use std::collections::BTreeMap;

use quintain_evidence::code::Code;
use quintain_evidence::connection::{Auth, Grant, OAuth};
use quintain_evidence::effects::{Contact, ProcessStart, Variables};
use quintain_source::Scope;
use secrecy::ExposeSecret;

use super::Target;
use super::variables::Defined;

/// One thing that a target reaches.
#[derive(Debug)]
pub enum Reached {
    Start(ProcessStart),
    Contact(Contact),
    /// Code of the suite, what it is for, and the interpreter if it is not the usual one.
    Code {
        code: Code,
        what: String,
        executable: Option<String>,
    },
}

/// Collects what one target reaches, in order.
pub struct Reach<'a> {
    /// What reports call the target.
    pub what: String,
    /// Variables of the user in what the tests send.
    pub content: &'a Variables,
    /// Names of the variables that every started server inherits.
    pub inherited: &'a [&'a str],
    defined: Defined<'a>,
    found: Vec<Reached>,
}

impl<'a> Reach<'a> {
    /// Everything that `target` reaches. `env` is that of the suite as it is written.
    pub fn of(
        target: &'a Target,
        env: &'a BTreeMap<String, String>,
        content: &'a Variables,
        inherited: &'a [&'a str],
    ) -> Vec<Reached> {
        Self::of_named(format!("target `{}`", target.name()), target, env, content, inherited)
    }

    /// The same under another name: a target can also be a judge.
    pub fn of_named(
        what: String,
        target: &'a Target,
        env: &'a BTreeMap<String, String>,
        content: &'a Variables,
        inherited: &'a [&'a str],
    ) -> Vec<Reached> {
        let defined = Defined(vec![&target.env, env]);
        let mut reach = Self { what, content, inherited, defined, found: Vec::new() };
        target.settings.reach(&mut reach);
        if let Some(code) = &target.transform {
            reach.code(code, "transforms responses");
        }
        reach.found
    }

    pub fn start(&mut self, start: ProcessStart) {
        self.found.push(Reached::Start(start));
    }

    pub fn contact(&mut self, contact: Contact) {
        self.found.push(Reached::Contact(contact));
    }

    pub fn code(&mut self, code: &Code, what: &str) {
        self.code_with(code, what, None);
    }

    /// The same, for code with its own interpreter.
    pub fn code_with(&mut self, code: &Code, what: &str, executable: Option<&str>) {
        let (code, what) = (code.clone(), what.to_owned());
        self.found.push(Reached::Code { code, what, executable: executable.map(str::to_owned) });
    }

    /// The user's environment variables that these texts read.
    pub fn variables<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
        scope: Scope,
    ) -> Variables {
        self.defined.variables(texts, scope)
    }

    /// The variables in the credentials that the target itself receives.
    pub fn credentials(&self, auth: &Auth) -> Variables {
        let texts: Vec<&str> = match auth {
            Auth::None | Auth::Stored | Auth::OAuth(_) => Vec::new(),
            Auth::Bearer { token } => vec![token.expose_secret()],
            Auth::Basic { username, password } => vec![username, password.expose_secret()],
            Auth::ApiKey { value, key_name, .. } => vec![value.expose_secret(), key_name],
        };
        self.variables(texts, Scope::Bare)
    }

    /// The variables that an authorization server receives.
    pub fn oauth(&self, oauth: &OAuth) -> Variables {
        let OAuth {
            grant, token_url, client_id, client_secret, scopes, audience, resource, ..
        } = oauth;
        let plain = [token_url, client_id, audience, resource].into_iter().flatten();
        let plain = plain.chain(scopes).map(String::as_str);
        let secret = client_secret.iter().map(ExposeSecret::expose_secret);
        let own = self.variables(plain.chain(secret), Scope::Bare);
        match grant {
            // The identity provider receives them; this server gets a token that it issues.
            Grant::IdentityAssertion(_) => own,
            grant => own.with(&self.grant(grant)),
        }
    }

    /// The variables in a grant.
    pub fn grant(&self, grant: &Grant) -> Variables {
        let secrets = grant.secrets().into_iter().map(ExposeSecret::expose_secret);
        self.variables(grant.texts().into_iter().chain(secrets), Scope::Bare)
    }
}
