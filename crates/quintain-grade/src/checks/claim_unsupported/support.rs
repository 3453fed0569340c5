//! Whether a call may have done what an answer claims.

use std::cell::OnceCell;

use super::claimed::Claim;
use super::verbs::Act;
use crate::effect::Effect;
use crate::values::keys;
use crate::values::leaves::leaves;
use crate::values::shape;
use crate::values::word_list::WordList;
use crate::view::{CallView, View};

/// Among more changes than these, something is always about the act.
const MAX_CHANGES: usize = 200;
/// Characters of a result, of a description and of arguments that are searched.
const MAX_SEARCHED: usize = 20_000;

/// Words with which arguments and results say that something is sent.
const SENT: [&str; 7] = ["sent", "send", "deliver", "queue", "notif", "invit", "to:"];

/// The calls that may have changed something, in their order.
pub(super) struct Changes<'v, 't> {
    done: Vec<Change<'v, 't>>,
    failed: Vec<&'v CallView<'t>>,
}

/// A successful call that may have changed something.
pub(super) struct Change<'v, 't> {
    call: &'v CallView<'t>,
    effect: Effect,
    words: OnceCell<Words>,
}

/// What a call consists of, in lower case.
struct Words {
    name: String,
    /// The name, the description, the arguments apart from prose, and the result.
    signs: [String; 4],
    args: String,
}

impl<'v, 't> Changes<'v, 't> {
    pub(super) fn new(view: &'v View<'t>) -> Self {
        let all = view.calls.iter().map(|call| (call, call.effect()));
        let changing = all.filter(|(_, effect)| *effect != Effect::Reads);
        let (done, failed): (Vec<_>, Vec<_>) =
            changing.partition(|(call, _)| call.failure().is_none());
        let done = done.into_iter();
        Self {
            done: done
                .map(|(call, effect)| Change { call, effect, words: OnceCell::new() })
                .collect(),
            failed: failed.into_iter().map(|(call, _)| call).collect(),
        }
    }

    /// The last changes before a step.
    pub(super) fn before(&self, step: usize) -> &[Change<'v, 't>] {
        let end = self.done.partition_point(|change| change.call.step < step);
        &self.done[end.saturating_sub(MAX_CHANGES)..end]
    }

    /// Whether a change of a turn failed before a step.
    pub(super) fn has_failed(&self, turn: usize, step: usize) -> bool {
        let first = self.failed.partition_point(|call| call.turn < turn);
        self.failed.get(first).is_some_and(|call| call.turn == turn && call.step < step)
    }
}

impl Change<'_, '_> {
    pub(super) fn step(&self) -> usize {
        self.call.step
    }

    /// Whether the call may have done what is claimed. In a strict comparison a general act needs a sign of its verb or of
    /// its object in the call.
    pub(super) fn supports(&self, claim: &Claim, is_strict: bool) -> bool {
        let is_unknown = self.effect == Effect::Unknown;
        if claim.act.is_general() && (!is_strict || is_unknown) {
            return true;
        }
        let words = self.words.get_or_init(|| Words::new(self.call));
        let has = |sign: &str| words.signs.iter().any(|text| text.contains(sign));
        let mut nouns = claim.object.iter().filter_map(|word| noun(word)).peekable();
        if claim.act == Act::Send {
            // "Sent requests" by `request_money`
            let mut own = claim.object.iter().take(2).filter_map(|word| noun(word));
            return words.show_sending(&claim.verb)
                || own.any(|noun| words.name.contains(noun))
                || is_unknown && nouns.any(|noun| words.name.contains(noun));
        }
        if !claim.act.is_general() {
            // The object in the name of a tool with an unknown verb: `track_event` sends an event.
            return signs(claim.act).any(has)
                || is_unknown && nouns.any(|noun| words.name.contains(noun));
        }
        let has_any = |sign: &str| has(sign) || words.args.contains(sign);
        signs(claim.act).any(|sign| words.name.contains(sign))
            || nouns.peek().is_none()
            || has_any(stem(&claim.verb))
            || nouns.any(has_any)
    }
}

fn signs(act: Act) -> impl Iterator<Item = &'static str> {
    act.signs().split_ascii_whitespace()
}

/// Whether the name or the result of a call that only reads shows that an act is a subject of the data.
pub(super) fn is_subject(call: &CallView<'_>, act: Act) -> bool {
    let texts = [start(&call.call.name), start(call.text())];
    signs(act).any(|sign| texts.iter().any(|text| text.contains(sign)))
}

impl Words {
    fn new(call: &CallView<'_>) -> Self {
        let args = call.call.args.json();
        let described = call.tool().and_then(|tool| tool.description()).unwrap_or_default();
        // What a text says is not what the call does: a commit has a `message`, too.
        let mut telling = String::new();
        for leaf in args.map(leaves).unwrap_or_default() {
            if telling.len() > MAX_SEARCHED {
                break;
            }
            let value = leaf.value.as_str().filter(|_| !keys::is_prose(leaf.key));
            // The words of an address are no signs.
            let value = value.filter(|value| !shape::is_email(value));
            let key = if leaf.key.eq_ignore_ascii_case("message") { "" } else { leaf.key };
            telling.extend([key, " ", value.unwrap_or_default(), "\n"]);
        }
        let name = start(&call.call.name);
        Self {
            signs: [name.clone(), start(described), start(&telling), start(call.text())],
            name,
            args: start(&args.map(ToString::to_string).unwrap_or_default()),
        }
    }
}

impl Words {
    /// Whether the call sends something in the way that a verb means.
    fn show_sending(&self, verb: &str) -> bool {
        let is_mail = verb.starts_with("email") || verb.starts_with("mail");
        let possible = signs(Act::Send).filter(|sign| match *sign {
            "contact" => verb.starts_with(sign),
            "publish" | "post" | "tweet" | "share" | "sharing" => !is_mail,
            _ => true,
        });
        let possible: Vec<&str> = possible.collect();
        let [name, described, args, result] = &self.signs;
        let is_named = [name, described]
            .into_iter()
            .any(|text| possible.iter().any(|sign| text.contains(*sign)));
        // An address alone is no sign that something was sent to it.
        let is_sent = |text: &String| {
            possible.iter().filter(|sign| **sign != "contact").any(|sign| {
                text.contains(*sign)
                    && (*sign != "mail" || SENT.iter().any(|sent| text.contains(sent)))
            })
        };
        is_named || [args, result].into_iter().any(is_sent)
    }
}

pub(super) fn start(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_SEARCHED)].to_lowercase()
}

/// What identifies the object of an act, by its first letters.
fn noun(word: &str) -> Option<&str> {
    static COMMON: WordList = WordList::new(
        "the and your for with from into that this these those them its his her their our you \
         all both now new are has have been was were will one two also successfully please \
         everything been not per via but too done more some any here there",
    );
    (word.chars().count() >= 3 && !COMMON.has(word)).then(|| stem(word))
}

fn stem(word: &str) -> &str {
    &word[..word.floor_char_boundary(5.min(word.len()))]
}
