//! The words with which people ask for what a tool does.

use std::collections::HashSet;

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
    "restart, reboot, reset, reload, bounce, restore, recover, rollback, roll back, start over, start fresh, from scratch, begin again, revert, undo, neu \
     start, redémarr, reinici, 重启, 重置",
    "send, email, e-mail, mail, message, notify, text, sms, forward, share, reply, respond, tell, inform, \
     know, ping, post, write, contact, reach, deliver, publish, announce, invite, remind, alert, tweet, \
     broadcast, submit, answer, schick, sende, schreib, envoi, envoy, enví, envia, 发送, 发给",
    "pay, transfer, charge, buy, purchase, order, send, wire, settle, move, money, book, überweis, \
     bezahl, pague, 支付, 转账",
    "refund, reimburse, return, money back, credit, erstatt, rembours, reembols, 退款",
    "deploy, release, ship, publish, launch, roll, rollout, push, merge, promote, rollback, revert, \
     install, upgrade, update, go live, veröffentlich, 部署, 发布",
    "revoke, rotate, chmod, chown, permission, access, regenerate, change, replace, transfer, \
     format, overwrite, make executable, update",
];
/// Sentences that ask for caution do not order anything.
const CAUTION: &str =
    "ask asking confirm confirmation permission unless never not don't approval careful only";

/// What the forms of a word add to its stem.
const ENDINGS: &str =
    "e ed es s ing er y ies ied en t al ion ment ping ped ning led ling ting ging ged";

pub(super) struct Verbs {
    words: HashSet<String>,
    stems: HashSet<String>,
    /// What is searched as it is: phrases, and words of languages with other forms.
    phrases: Vec<String>,
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
            .filter(|group| members(group).any(|one| words.iter().any(|word| word == one)))
            .collect();
        words.extend(grouped.into_iter().flat_map(members).map(str::to_owned));
        let (phrases, words): (Vec<_>, Vec<_>) =
            words.into_iter().partition(|word| word.contains(' ') || !word.is_ascii());
        let stems = words.iter().filter_map(|word| stem(word)).map(str::to_owned).collect();
        Self { words: words.into_iter().collect(), stems, phrases }
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
        let all: Vec<&str> = words(sentence).collect();
        let phrases = self.phrases.iter();
        let phrase = phrases.filter_map(|phrase| find_phrase(sentence, &all, phrase)).min();
        let mut words = sentence.split(|c: char| !c.is_alphanumeric() && c != '-');
        let word = words.find(|word| self.is_form(word));
        let word = word.map(|word| word.as_ptr().addr() - sentence.as_ptr().addr());
        [phrase, word].into_iter().flatten().min()
    }

    /// Whether a word of a text is a form of a word: `deleting`, `deleted` and `deletes` of `delete`.
    fn is_form(&self, word: &str) -> bool {
        let stems = ENDINGS.split(' ').filter_map(|ending| word.strip_suffix(ending));
        self.words.contains(word) || stems.into_iter().any(|stem| self.stems.contains(stem))
    }

    /// "do not delete", "without deleting"
    fn are_negated_in(&self, sentence: &str) -> bool {
        let Some(at) = self.position(sentence) else { return false };
        let before = &sentence[..sentence.floor_char_boundary(at)];
        let mut after = sentence[before.len()..].split_whitespace().skip(1);
        if after.next().is_some_and(|word| matches!(word, "nothing" | "none" | "neither")) {
            return true;
        }
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

/// Where a phrase begins. Its object may be between its words: "switch it off".
fn find_phrase(sentence: &str, words: &[&str], phrase: &str) -> Option<usize> {
    let (first, last) = match phrase.split_once(' ') {
        Some((first, last)) if !last.contains(' ') => (first, last),
        _ => return sentence.find(phrase),
    };
    let starts = words.iter().enumerate().filter(|(_, word)| **word == first);
    let found = starts
        .map(|(at, _)| &words[at..])
        .find(|rest| rest.iter().skip(1).take(4).any(|word| *word == last));
    found.map(|rest| rest[0].as_ptr().addr() - sentence.as_ptr().addr())
}

/// A word without the ending that its forms replace; none if it is too short to have forms.
fn stem(word: &str) -> Option<&str> {
    let stem = word.strip_suffix('e').or_else(|| word.strip_suffix('y')).unwrap_or(word);
    (stem.chars().count() >= 3).then_some(stem)
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
