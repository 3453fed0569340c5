//! Changes the configuration of a client so that one of its servers is recorded.

use super::{App, Args};
use crate::exit::Exit;

pub(super) async fn run(_client: &str, _args: &Args, _app: &App) -> Exit {
    Exit::Usage
}
