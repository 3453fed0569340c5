//! `quintain token`: tokens for `quintain serve --http`.

use std::path::Path;

use clap::Subcommand;
use quintain_serve::auth::{
    Claims, KeyRing, LOCAL_AUDIENCE, LOCAL_ISSUER, Ledger, TokenRow, folder_in,
};
use quintain_serve::principal::Scope;
use serde_json::json;

use super::App;
use crate::exit::Exit;

/// Make, list and revoke tokens for `quintain serve --http`
///
/// The keys are in a file that only you can read, in the state directory (`QUINTAIN_HOME`). A running server notices changes.
///
/// Examples:
///   quintain token new --subject alice --scope datasets:read --scope results:read
///   quintain token list
///   quintain token revoke alice
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print a new token and nothing else
    ///
    /// Example:
    ///   quintain token new --subject alice --ttl 3600 --scope results:read
    #[command(verbatim_doc_comment)]
    New(NewArgs),
    /// List the tokens that were made, without the tokens themselves
    ///
    /// Example:
    ///   quintain token list --json
    #[command(verbatim_doc_comment)]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token by its id, or all tokens of a subject
    ///
    /// Example:
    ///   quintain token revoke alice
    #[command(verbatim_doc_comment)]
    Revoke {
        /// Id or subject
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Make a new key; tokens of earlier keys stay valid
    ///
    /// Example:
    ///   quintain token rotate --revoke-all
    #[command(verbatim_doc_comment)]
    Rotate {
        /// Remove the earlier keys, so that all their tokens become invalid
        #[arg(long)]
        revoke_all: bool,
    },
}

#[derive(Debug, clap::Args)]
struct NewArgs {
    /// Who uses the token; owns what it creates
    #[arg(long, value_name = "NAME", value_parser = subject)]
    subject: String,
    /// Seconds until the token expires
    #[arg(long, value_name = "SECONDS", default_value_t = 30 * 24 * 3600, value_parser = clap::value_parser!(u64).range(1..=10 * 365 * 24 * 3600))]
    ttl: u64,
    /// Right of the token, such as datasets:read; repeatable [default: all rights of this machine's owner]
    #[arg(long = "scope", value_name = "SCOPE", value_parser = scope)]
    scopes: Vec<String>,
    /// URL of the only server that accepts the token [default: every server of this state directory]
    #[arg(long, value_name = "URI")]
    audience: Option<String>,
}

fn subject(text: &str) -> Result<String, String> {
    if text == quintain_engine::store::LOCAL_OWNER {
        return Err(
            "`local` is the user of this machine over stdio; choose another name".to_owned()
        );
    }
    let is_plain = |c: char| c.is_alphanumeric() || "-_.@+".contains(c);
    if !text.is_empty() && text.len() <= 128 && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("expected letters, digits and -_.@+".to_owned())
    }
}

fn scope(text: &str) -> Result<String, String> {
    let known = || {
        let words: Vec<&str> =
            quintain_serve::principal::Group::ALL.iter().map(|group| group.word()).collect();
        format!("expected GROUP:read or GROUP:write with GROUP one of {}", words.join(", "))
    };
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let scopes: Option<Vec<Scope>> = words.iter().map(|word| Scope::parse(word)).collect();
    let scopes = scopes.filter(|scopes| !scopes.is_empty()).ok_or_else(known)?;
    Ok(scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    let Some(folder) = app.context.state_dir().map(|state| folder_in(&state)) else {
        app.console.error("no directory for the keys", Some("set QUINTAIN_HOME"));
        return Exit::Usage;
    };
    let done = match &args.command {
        Command::New(new) => make(new, &folder, app),
        Command::List { json } => list(*json, &folder, app),
        Command::Revoke { id } => revoke(id, &folder, app),
        Command::Rotate { revoke_all } => rotate(*revoke_all, &folder, app),
    };
    done.unwrap_or_else(|why| {
        app.console.error(&why, None);
        Exit::Usage
    })
}

fn make(new: &NewArgs, folder: &Path, app: &App) -> Result<Exit, String> {
    let keys = KeyRing::open(folder).map_err(|error| error.to_string())?;
    let mut ledger =
        Ledger::open(folder).map_err(|error| format!("cannot read the list of tokens: {error}"))?;
    let now =
        app.context.time().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let claims = Claims {
        iss: LOCAL_ISSUER.to_owned(),
        sub: new.subject.clone(),
        aud: new.audience.clone().unwrap_or_else(|| LOCAL_AUDIENCE.to_owned()),
        exp: now + new.ttl,
        nbf: now,
        iat: now,
        jti: quintain_serve::random::random_id(),
        scope: new.scopes.join(" "),
        operator: new.scopes.is_empty(),
        client_id: None,
        via: None,
        family: None,
    };
    let token = keys.sign(&claims).map_err(|error| error.to_string())?;
    let row = TokenRow {
        id: claims.jti,
        subject: claims.sub,
        scope: claims.scope,
        audience: claims.aud,
        operator: claims.operator,
        created: now,
        expires: claims.exp,
        revoked: false,
    };
    ledger.add(row).map_err(|error| format!("cannot write the list of tokens: {error}"))?;
    // The redactor must not mask what the user asked for.
    app.console.out(&token);
    Ok(Exit::Passed)
}

fn list(as_json: bool, folder: &Path, app: &App) -> Result<Exit, String> {
    let ledger =
        Ledger::open(folder).map_err(|error| format!("cannot read the list of tokens: {error}"))?;
    if as_json {
        app.console.json(&json!(ledger.rows));
        return Ok(Exit::Passed);
    }
    let now =
        app.context.time().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    for row in &ledger.rows {
        let state = match row {
            row if row.revoked => "revoked".to_owned(),
            row if row.expires <= now => "expired".to_owned(),
            row => format!("{} s left", row.expires - now),
        };
        let rights = if row.operator { "all rights" } else { &row.scope };
        app.console.out(&format!("{}  {:<16}  {state:<14}  {rights}", row.id, row.subject));
    }
    if ledger.rows.is_empty() {
        app.console.note("no tokens; `quintain token new --subject NAME` makes one");
    }
    Ok(Exit::Passed)
}

fn revoke(id: &str, folder: &Path, app: &App) -> Result<Exit, String> {
    let mut ledger =
        Ledger::open(folder).map_err(|error| format!("cannot read the list of tokens: {error}"))?;
    let count =
        ledger.revoke(id).map_err(|error| format!("cannot write the list of tokens: {error}"))?;
    if count == 0 {
        app.console.error(
            &format!("no valid token has the id or subject `{id}`"),
            Some("`quintain token list` shows them"),
        );
        return Ok(Exit::Nothing);
    }
    app.console.note(&format!("revoked {count} {}", if count == 1 { "token" } else { "tokens" }));
    Ok(Exit::Passed)
}

fn rotate(revoke_all: bool, folder: &Path, app: &App) -> Result<Exit, String> {
    let mut keys = KeyRing::open(folder).map_err(|error| error.to_string())?;
    keys.rotate(revoke_all).map_err(|error| error.to_string())?;
    app.console.note("made a new key");
    Ok(Exit::Passed)
}
