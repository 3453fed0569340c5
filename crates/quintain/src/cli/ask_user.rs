//! Questions to the user at the terminal. `Context::answers` says whether there is one.

use super::App;

/// Asks for one line; returns an empty line at the end of the input.
pub(super) async fn ask_user(text: &str, app: &App) -> String {
    app.console.err(text);
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = read.await.ok().and_then(Result::ok).unwrap_or_default();
    line.trim().to_owned()
}
