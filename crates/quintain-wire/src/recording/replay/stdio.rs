//! Serves a capture on stdin and stdout.

use std::io::{self, BufRead as _, Read as _, Write as _};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Recorded;
use super::message::{Message, MessageKind};
use super::player::{Out, Player, Reply, Sent, error};
use crate::recording::MAX_FRAME;

const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;
/// Lines that wait to be answered.
const QUEUE: usize = 64;

/// Serves until the client closes stdin.
///
/// # Errors
/// When a thread cannot be started.
pub async fn serve(recorded: &Recorded) -> io::Result<()> {
    let (send_line, mut lines) = mpsc::channel::<Vec<u8>>(QUEUE);
    std::thread::Builder::new().name("input".into()).spawn(move || read_lines(&send_line))?;
    let (write, written) = std::sync::mpsc::channel::<String>();
    let writer = std::thread::Builder::new().name("output".into()).spawn(move || {
        let mut stdout = io::stdout().lock();
        for line in written {
            let sent = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
            if sent.is_err() {
                return;
            }
        }
    })?;
    let write = std::sync::Mutex::new(write);
    let out: Out = Arc::new(move |sent: Sent| {
        let write = write.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = write.send(format!("{}\n", sent.text));
    });
    let player = Player::new(recorded.script.clone());
    player.open(&out).await;
    let mut running = JoinSet::new();
    while let Some(line) = lines.recv().await {
        take(&line, &player, &out, &mut running);
        while running.try_join_next().is_some() {}
    }
    player.stop_waiting();
    while running.join_next().await.is_some() {}
    drop(out);
    // The writer ends when all answers are written.
    let _ = tokio::task::spawn_blocking(move || writer.join()).await;
    Ok(())
}

fn read_lines(lines: &mpsc::Sender<Vec<u8>>) {
    let mut stdin = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let limit = MAX_FRAME as u64;
        match stdin.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if lines.blocking_send(line).is_err() {
                    return;
                }
            }
        }
    }
}

/// Starts the answer to a line. All answers start in the order of the lines.
fn take(line: &[u8], player: &Arc<Player>, out: &Out, running: &mut JoinSet<()>) {
    let line = line.trim_ascii();
    if line.is_empty() {
        return;
    }
    let (player, out) = (player.clone(), out.clone());
    let text = String::from_utf8_lossy(line);
    let Ok(raw) = serde_json::from_str::<&RawValue>(&text) else {
        running.spawn(async move {
            send(&out, error("null", PARSE_ERROR, "the line is not JSON", &Value::Null));
        });
        return;
    };
    if !raw.get().starts_with('[') {
        let message = Message::read(raw.get());
        running.spawn(async move {
            match message {
                Some(message) => play(message, player, out).await,
                None => send(&out, invalid()),
            }
        });
        return;
    }
    let batch: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    let messages: Vec<Option<Message>> =
        batch.into_iter().map(|one| Message::read(one.get())).collect();
    running.spawn(async move {
        if messages.is_empty() {
            send(&out, invalid());
        } else {
            play_batch(messages, player, out).await;
        }
    });
}

fn invalid() -> String {
    error("null", INVALID_REQUEST, "the message is not JSON-RPC", &Value::Null)
}

fn send(out: &Out, text: String) {
    out(Sent { text, apart: false, is_message: true });
}

async fn play(message: Message, player: Arc<Player>, out: Out) {
    if let Some((answer, call)) = answer(&message, &player, &out).await {
        send(&out, answer);
        if let Some(call) = call {
            player.follow(call, &message, &out).await;
        }
    }
}

/// The answers to a batch are one batch.
async fn play_batch(messages: Vec<Option<Message>>, player: Arc<Player>, out: Out) {
    let mut answers = Vec::new();
    let mut calls = Vec::new();
    for message in &messages {
        let Some(message) = message else {
            answers.push(invalid());
            continue;
        };
        if let Some((answer, call)) = answer(message, &player, &out).await {
            answers.push(answer);
            calls.extend(call.map(|call| (call, message)));
        }
    }
    if !answers.is_empty() {
        send(&out, format!("[{}]", answers.join(",")));
    }
    for (call, message) in calls {
        player.follow(call, message, &out).await;
    }
}

/// The answer to a message, and the recorded call that it is from.
async fn answer(message: &Message, player: &Player, out: &Out) -> Option<(String, Option<usize>)> {
    match message.kind {
        MessageKind::Response => player.answered(message),
        MessageKind::Notification(_) => player.react(message, out).await,
        MessageKind::Request(_) => {
            return match player.choose(message) {
                Reply::Own(text) => Some((text, None)),
                Reply::Recorded(call) => {
                    player.play(call, message, out).await.map(|text| (text, Some(call)))
                }
            };
        }
    }
    None
}
