//! What scripts can use besides the language: `console`, `process`, `require` and timers. Each costs as
//! much as a small script, so it is defined only if the script contains its name.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::function::IntoArgs;
use rquickjs::{Ctx, Error, Function, Object};

const CONSOLE: &str = include_str!("host/console.js");
const PROCESS: &str = include_str!("host/process.js");
const TIMERS: &str = include_str!("host/timers.js");

/// Maximum console output that is kept.
const MAX_LOG_LINES: usize = 200;
const MAX_LOG_BYTES: usize = 64 << 10;

/// Level and text of a script's console output.
pub(crate) type LogLines = Rc<RefCell<Vec<(String, String)>>>;

/// Runs the next timer that is due before a time in milliseconds, if the script may have any.
pub(crate) type Tick<'js> = Option<Function<'js>>;

pub(crate) fn install<'js>(
    ctx: &Ctx<'js>,
    text: &str,
    env: &[(String, String)],
    log_lines: &LogLines,
) -> Result<Tick<'js>, Error> {
    let mentions = |word: &str| text.contains(word);
    if mentions("console") {
        let lines_of_host = Rc::clone(log_lines);
        let print = Function::new(ctx.clone(), move |level: String, text: String| {
            keep(&mut lines_of_host.borrow_mut(), level, text);
        })?;
        add(ctx, CONSOLE, (print,))?;
    }
    if mentions("process") || mentions("require") {
        let added = add(ctx, PROCESS, ())?;
        let process: Object<'_> = added.get("process")?;
        let variables: Object<'_> = process.get("env")?;
        for (name, value) in env {
            variables.set(name.as_str(), value.as_str())?;
        }
    }
    if mentions("global") {
        ctx.globals().set("global", ctx.globals())?;
    }
    if !["Timeout", "Interval", "Immediate"].into_iter().any(mentions) {
        return Ok(None);
    }
    let tick = Rc::new(RefCell::new(None));
    let kept = Rc::clone(&tick);
    let expose = Function::new(ctx.clone(), move |function: Function<'js>| {
        kept.replace(Some(function));
    })?;
    add(ctx, TIMERS, (expose,))?;
    Ok(tick.take())
}

/// Makes the result of a piece of the host global.
fn add<'js>(
    ctx: &Ctx<'js>,
    piece: &str,
    arguments: impl IntoArgs<'js>,
) -> Result<Object<'js>, Error> {
    let setup: Function<'_> = ctx.eval(piece)?;
    let added: Object<'_> = setup.call(arguments)?;
    let globals = ctx.globals();
    for entry in added.props::<String, rquickjs::Value<'_>>() {
        let (name, value) = entry?;
        globals.set(name, value)?;
    }
    Ok(added)
}

fn keep(log_lines: &mut Vec<(String, String)>, level: String, text: String) {
    let bytes: usize = log_lines.iter().map(|(_, text)| text.len()).sum();
    if log_lines.len() < MAX_LOG_LINES && bytes + text.len() <= MAX_LOG_BYTES {
        log_lines.push((level, text));
    }
}
