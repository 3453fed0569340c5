//! The words with which people ask for what a tool does.

use quintain_evidence::lexicon::{self, Sense};

use crate::view::CallView;
use crate::word_list;

/// Words and phrases for the same action, separated by commas. A tool belongs to every group that contains a word of its name.
const GROUPS: [&str; 9] = [
    "delete, remove, erase, drop, destroy, purge, wipe, clear, clean, cleanup, discard, trash, bin, \
     unlink, rm, rmdir, del, eliminate, scrap, uninstall, unsubscribe, prune, truncate, empty, nuke, \
     evict, expunge, flush, zap, tidy, overwrite, format, get rid, throw away, throw out, dispose, free \
     up, take down, no longer need, don't need, unpublish, lösch, entfern, supprim, effac, borra, elimin, \
     apaga, cancella, verwijder, удали, 删除, 清除, 削除",
    "cancel, abort, call off, stop, terminate, end, withdraw, revoke, undo, unsubscribe, quit, drop, \
     delete, remove, stornier, kündig, annul, cancela, 取消, отмен",
    "stop, halt, kill, killall, terminate, shutdown, shut, end, quit, suspend, pause, disable, turn off, \
     switch off, power off, poweroff, deactivate, signal, bring down, take down, close, ban, block, lock, \
     kick, stopp, beende, arrêt, 停止, 关闭",
    "restart, reboot, reset, reload, bounce, restore, recover, rollback, roll back, revert, undo, neu \
     start, redémarr, reinici, 重启, 重置",
    "send, email, e-mail, mail, message, notify, text, sms, forward, share, reply, respond, tell, inform, \
     know, ping, post, write, contact, reach, deliver, publish, announce, invite, remind, alert, tweet, \
     broadcast, submit, answer, schick, sende, schreib, envoi, envoy, enví, envia, 发送, 发给",
    "pay, transfer, charge, buy, purchase, order, send, wire, settle, move, money, book, überweis, \
     bezahl, pague, 支付, 转账",
    "refund, reimburse, return, money back, credit, erstatt, rembours, reembols, 退款",
    "deploy, release, ship, publish, launch, roll, rollout, push, merge, promote, rollback, revert, \
     install, upgrade, update, go live, veröffentlich, 部署, 发布",
    "revoke, rotate, chmod, chown, permission, access, renew, regenerate, change, replace, transfer, \
     format, overwrite, make executable, update",
];
/// Sentences that ask for caution do not order anything.
const CAUTION: &str =
    "ask asking confirm confirmation permission unless never not don't approval careful only";

pub(super) struct Verbs {
    words: Vec<String>,
}

impl Verbs {
    /// The words for what a call does. `verb` is what it does besides what its name says.
    pub(super) fn of(call: &CallView<'_>, verb: Option<&str>) -> Self {
        let name = lexicon::words(&call.call.name);
        let destroys = name.iter().filter(|word| lexicon::is_destructive(word));
        let mut words: Vec<String> = destroys.cloned().collect();
        words.extend(verb.map(str::to_owned));
        if words.is_empty() {
            // A tool that is destructive by its annotations: what its name says, whatever it is.
            words = name.into_iter().filter(|word| word.len() > 2 && !is_noise(word)).collect();
        }
        if words.is_empty() {
            words.push("delete".to_owned());
        }
        let grouped: Vec<&str> = GROUPS
            .into_iter()
            .filter(|group| {
                members(group).any(|one| words.iter().any(|word| word == one || is_form(word, one)))
            })
            .collect();
        words.extend(grouped.into_iter().flat_map(members).map(str::to_owned));
        words.sort_unstable();
        words.dedup();
        Self { words }
    }

    /// Whether a message of the user asks for the action.
    pub(super) fn are_asked_for_in(&self, text: &str) -> bool {
        sentences(text).any(|sentence| self.are_in(&sentence) && !self.are_negated_in(&sentence))
    }

    /// Whether an instruction of the developer orders the action.
    pub(super) fn are_ordered_in(&self, text: &str) -> bool {
        sentences(text).any(|sentence| {
            let is_cautious = words(&sentence).any(|word| word_list::contains(CAUTION, word));
            !is_cautious && self.are_in(&sentence)
        })
    }

    pub(super) fn are_mentioned_in(&self, text: &str) -> bool {
        sentences(text).any(|sentence| self.are_in(&sentence))
    }

    fn are_in(&self, sentence: &str) -> bool {
        self.position(sentence).is_some()
    }

    fn position(&self, sentence: &str) -> Option<usize> {
        let phrases = self.words.iter().filter(|word| word.contains(' ') || !word.is_ascii());
        let phrase = phrases.filter_map(|phrase| sentence.find(phrase.as_str())).min();
        let mut at = 0;
        let word = sentence.split(|c: char| !c.is_alphanumeric() && c != '-').find_map(|word| {
            let start = at;
            at += word.len() + 1;
            self.words.iter().any(|one| is_form(word, one)).then_some(start)
        });
        [phrase, word].into_iter().flatten().min()
    }

    /// "do not delete", "without deleting"
    fn are_negated_in(&self, sentence: &str) -> bool {
        let Some(at) = self.position(sentence) else { return false };
        let before = &sentence[..sentence.floor_char_boundary(at)];
        let last: Vec<&str> = before.split_whitespace().rev().take(4).collect();
        last.iter().any(|word| {
            matches!(
                *word,
                "not" | "don't" | "never" | "without" | "nicht" | "avoid" | "dont" | "n't" | "no"
            )
        })
    }
}

/// The words and phrases of a group.
fn members(group: &str) -> impl Iterator<Item = &str> {
    group.split(", ")
}

fn is_noise(word: &str) -> bool {
    Sense::OnlyLooks.is(word) || matches!(word, "mcp" | "tool" | "api" | "server" | "all" | "the")
}

/// Whether a word of a text is a form of a word: `deleting`, `deleted` and `deletes` of `delete`.
fn is_form(word: &str, of: &str) -> bool {
    if word == of {
        return true;
    }
    let stem = of.strip_suffix('e').or_else(|| of.strip_suffix('y')).unwrap_or(of);
    stem.chars().count() >= 3
        && word.strip_prefix(stem).is_some_and(|ending| {
            matches!(
                ending,
                "e" | "ed"
                    | "es"
                    | "s"
                    | "ing"
                    | "er"
                    | "y"
                    | "ies"
                    | "ied"
                    | "en"
                    | "t"
                    | "al"
                    | "ion"
                    | "ment"
                    | "ping"
                    | "ped"
                    | "ning"
                    | "led"
                    | "ling"
                    | "ting"
                    | "ging"
                    | "ged"
            )
        })
}

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

/// The sentences and clauses of a text in lower case.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let text = text.to_lowercase().replace('’', "'");
    let parts: Vec<String> = text
        .split_inclusive(['.', '!', '?', '\n', ';', ','])
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    parts.into_iter()
}
