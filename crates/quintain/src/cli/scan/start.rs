//! Starts servers with the consent of the user, and lists what they offer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use quintain_engine::{Sessions, World};
use quintain_evidence::connection::Launch;
use quintain_evidence::surface::Surface;
use quintain_scan::clients::{Lookup, resolve};
use quintain_source::visible;
use secrecy::{ExposeSecret, SecretString};

use super::sheet::{Scan, State};
use super::table;
use crate::cli::App;
use crate::cli::ask_user::ask_user;
use crate::console::counted;
use crate::context::Context;

/// Number of servers to start in parallel.
const AT_ONCE: usize = 4;

/// Whether any server needs the consent of the user.
pub(super) fn is_asked(scan: &Scan) -> bool {
    scan.entries().any(|(.., entry)| !entry.disabled && entry.launch.is_some())
}

/// Starts every enabled server that may be started.
pub(super) async fn start(scan: &mut Scan, yes: bool, timeout: Option<u64>, app: &App) {
    let asked: Vec<Asked> = scan
        .entries()
        .filter(|(.., entry)| !entry.disabled)
        .filter_map(|(sheet, line, config, entry)| {
            let launch = entry.launch.as_ref()?;
            Some(Asked {
                sheet,
                line,
                title: format!("{} / {}", config.client.title, entry.name),
                shown: table::launch(launch),
                filled: fill(launch, &LocalLookup { context: &app.context }),
            })
        })
        .collect();
    let mut consent = Consent::new(yes);
    let mut agreed = Vec::new();
    for asked in asked {
        let state = match &asked.filled {
            Err(missing) => State::Skipped(format!("{missing} is unknown here")),
            Ok(_) if !consent.ask(&asked, app).await => State::Skipped("declined".into()),
            Ok(_) => {
                agreed.push(asked);
                continue;
            }
        };
        scan.sheets[asked.sheet].lines[asked.line].state = state;
    }
    let world = World {
        env: app.context.env.clone().into(),
        state_dir: app.context.state_dir(),
        request_timeout: app.context.request_timeout(),
        redactor: app.redactor.clone(),
        ..World::default()
    };
    let timeout = timeout.filter(|millis| *millis > 0).map(Duration::from_millis);
    let _busy = app.console.busy(&format!("starting {}", counted(agreed.len(), "server")));
    let listing = stream::iter(agreed).map(|asked| {
        let world = &world;
        async move {
            let state = match list(&asked, timeout, world).await {
                Ok(surface) => State::Listed(Box::new(surface)),
                Err(why) => State::Failed(why),
            };
            (asked.sheet, asked.line, state)
        }
    });
    let states: Vec<_> = listing.buffered(AT_ONCE).collect().await;
    for (sheet, line, state) in states {
        scan.sheets[sheet].lines[line].state = state;
    }
}

/// A server to start.
struct Asked {
    sheet: usize,
    line: usize,
    title: String,
    shown: String,
    /// The launch with all references resolved, or the reference that cannot be resolved here.
    filled: Result<Launch, String>,
}

async fn list(asked: &Asked, timeout: Option<Duration>, world: &World) -> Result<Surface, String> {
    let launch = asked.filled.clone()?;
    let mut target = quintain_engine::jobs::plain(asked.title.clone(), launch);
    if timeout.is_some() {
        target.timeouts.request = timeout;
    }
    let sessions = Sessions::open(&target, world).await.map_err(|error| error.to_string())?;
    let surfaces = sessions.surfaces(true).await;
    sessions.close().await;
    let listed = surfaces.into_iter().next().map(|(_, surface)| surface);
    listed.ok_or_else(|| "the server listed nothing".to_owned())
}

/// The user's answers so far.
struct Consent {
    /// The answer for all remaining servers.
    rest: Option<bool>,
    /// Answers by launch; equal launches are asked once.
    given: BTreeMap<Vec<String>, bool>,
}

impl Consent {
    fn new(yes: bool) -> Self {
        Self { rest: yes.then_some(true), given: BTreeMap::new() }
    }

    async fn ask(&mut self, asked: &Asked, app: &App) -> bool {
        let whole = asked.filled.as_ref().map(whole).unwrap_or_default();
        if let Some(answer) = self.rest.or_else(|| self.given.get(&whole).copied()) {
            return answer;
        }
        let (title, shown) = (visible(&asked.title), visible(&asked.shown));
        let text = format!("{title}\n  {shown}\nstart it? [y]es, [N]o, [a]ll, [q]uit");
        let answer = match ask_user(&text, app).await.to_ascii_lowercase().as_str() {
            "y" | "yes" => true,
            "a" | "all" => *self.rest.insert(true),
            "q" | "quit" => *self.rest.insert(false),
            _ => false,
        };
        self.given.insert(whole, answer);
        answer
    }
}

/// Everything that distinguishes launches, including secret values.
fn whole(launch: &Launch) -> Vec<String> {
    let pair =
        |(name, value): (&String, &SecretString)| [name.clone(), value.expose_secret().to_owned()];
    match launch {
        Launch::Command { command, args, env, cwd } => {
            let folder = cwd.iter().map(|cwd| cwd.display().to_string());
            let words = std::iter::once(command).chain(args).cloned();
            words.chain(env.iter().flat_map(pair)).chain(folder).collect()
        }
        Launch::Url { url, headers, .. } => {
            let headers = headers.iter().flat_map(|(name, value)| pair((name, value)));
            std::iter::once(url.clone()).chain(headers).collect()
        }
        Launch::Path { path, .. } => vec![path.display().to_string()],
    }
}

/// Resolves references on this machine.
struct LocalLookup<'a> {
    context: &'a Context,
}

impl Lookup for LocalLookup<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.context.env.get(name).cloned()
    }

    fn folder(&self, name: &str) -> Option<String> {
        match name {
            "workspaceFolder" | "workspaceRoot" | "cwd" => {
                Some(self.context.cwd.display().to_string())
            }
            "userHome" => self.variable("HOME").or_else(|| self.variable("USERPROFILE")),
            "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR.to_string()),
            _ => None,
        }
    }
}

fn fill(launch: &Launch, here: &LocalLookup<'_>) -> Result<Launch, String> {
    let text = |text: &String| resolve(text, here);
    let secret = |value: &SecretString| resolve(value.expose_secret(), here).map(Into::into);
    let mut filled = launch.clone();
    match &mut filled {
        Launch::Command { command, args, env, cwd } => {
            *command = text(command)?;
            for arg in args {
                *arg = text(arg)?;
            }
            for value in env.values_mut() {
                *value = secret(value)?;
            }
            if let Some(cwd) = cwd {
                *cwd = PathBuf::from(text(&cwd.display().to_string())?);
            }
        }
        Launch::Url { url, headers, .. } => {
            *url = text(url)?;
            for (_, value) in headers {
                *value = secret(value)?;
            }
        }
        Launch::Path { .. } => {}
    }
    Ok(filled)
}
