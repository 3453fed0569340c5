//! Questions to whoever sits at the terminal. Whether somebody does is in `Context::answers`.

use super::Desk;

/// Asks for one line; the end of the input is an empty one.
pub(super) async fn ask_user(text: &str, desk: &Desk) -> String {
    desk.console.err(text);
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = read.await.ok().and_then(Result::ok).unwrap_or_default();
    line.trim().to_owned()
}
