//! The verbs of what an application can do, and what a user asks for with them.

use crate::values::word_list::WordList;

/// What kind of act a verb means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Create,
    Change,
    Send,
    Delete,
    Pay,
    Book,
}

impl Act {
    /// Whether any change may be this act: "saved", "updated", "closed" fit nearly every call.
    pub(super) fn is_general(self) -> bool {
        matches!(self, Self::Create | Self::Change)
    }

    /// Beginnings of words by which a call shows that it is about the act.
    pub(super) fn signs(self) -> &'static str {
        match self {
            Self::Create => {
                "creat add insert new make write save store upload put append log record register \
                 regist file post note import copy clone draft generat open start place order \
                 submit request upsert publish"
            }
            Self::Change => {
                "updat chang edit modif set mov renam replac mark tag label assign configur toggl \
                 enabl disabl activ approv merg commit push deploy restart reset upgrad patch \
                 write put save adjust switch turn clos archiv resolv transition complet reopen \
                 pause resume accept reject install subscrib manage control reboot launch trigger \
                 migrat sync lock start stop run"
            }
            Self::Send => {
                "send sent mail messag notif forward reply replie sms invit attendee recipient share \
                 sharing post publish tweet submit submission contact alert slack chat comment \
                 webhook deliver broadcast participant channel"
            }
            Self::Delete => {
                "delet remov cancel archiv clos purg eras revok unsubscri drop terminat disabl \
                 clear uninstall deactivat trash destroy resolv unassign prune clean rm kill \
                 truncat unlink discard"
            }
            Self::Pay => {
                "pay paid refund charg transfer purchas buy bought order credit reimburs donat \
                 checkout cart invoice billing amount"
            }
            Self::Book => {
                "book reserv schedul appointment event calendar meeting slot itinerar remind \
                 cron"
            }
        }
    }
}

/// Past participles of what an application can do.
static VERBS: [(WordList, Act); 6] = [
    (
        WordList::new(
            "sent emailed mailed messaged notified forwarded replied texted invited shared \
             posted published tweeted submitted alerted contacted pinged",
        ),
        Act::Send,
    ),
    (
        WordList::new(
            "deleted removed cancelled canceled purged erased revoked unsubscribed dropped \
             terminated uninstalled",
        ),
        Act::Delete,
    ),
    (
        WordList::new(
            "paid refunded charged transferred purchased bought ordered credited reimbursed \
             wired deposited",
        ),
        Act::Pay,
    ),
    (WordList::new("booked reserved scheduled rescheduled"), Act::Book),
    (
        WordList::new(
            "created added saved uploaded inserted registered placed filed stored logged \
             recorded opened requested imported exported appended cloned forked attached \
             provisioned",
        ),
        Act::Create,
    ),
    (
        WordList::new(
            "updated changed configured installed deployed merged committed pushed moved renamed \
             edited modified enabled assigned approved replaced restarted activated subscribed \
             marked tagged set upgraded reset closed archived disabled cleared deactivated \
             resolved reopened paused resumed muted unmuted pinned starred acknowledged escalated \
             transitioned enrolled granted rotated restored reverted switched turned rolled \
             rebooted launched triggered migrated synced locked unlocked \
             overwritten unarchived unassigned",
        ),
        Act::Change,
    ),
];

/// The act that a past participle means. What is done again is the same act: `reordered`, `resent`.
pub(super) fn act(past: &str) -> Option<Act> {
    let known = |past: &str| VERBS.iter().find(|(verbs, _)| verbs.has(past)).map(|(_, act)| *act);
    known(past).or_else(|| again(past).filter(|rest| *rest != "marked").and_then(known))
}

/// The act that a verb without a meaning of its own has with its object: "made a reservation", "left a note".
pub(super) fn with_object<'w>(verb: &str, after: impl Iterator<Item = &'w str>) -> Option<Act> {
    static OBJECTS: [(&str, WordList, Act); 5] = [
        ("made placed", WordList::new("reservation booking appointment"), Act::Book),
        ("made", WordList::new("payment transfer purchase donation deposit refund"), Act::Pay),
        ("made", WordList::new("post announcement"), Act::Send),
        ("left", WordList::new("note comment review message reply reminder"), Act::Create),
        (
            "put",
            WordList::new("list calendar cart basket queue waitlist backlog agenda"),
            Act::Create,
        ),
    ];
    let mut verbs =
        OBJECTS.iter().filter(|(verbs, ..)| verbs.split(' ').any(|one| one == verb)).peekable();
    verbs.peek()?;
    let after: Vec<&str> = after.take(6).collect();
    // "Put together", "left out"
    if after.first().is_some_and(|word| matches!(*word, "together" | "out" | "up" | "down")) {
        return None;
    }
    verbs.find(|(_, objects, _)| after.iter().any(|word| objects.has(word))).map(|(.., act)| *act)
}

/// What a verb does again.
fn again(word: &str) -> Option<&str> {
    word.strip_prefix("re").filter(|rest| rest.len() > 2)
}

/// The act that a verb means in its base form: `cancel`, `notify`.
pub(super) fn base(word: &str) -> Option<Act> {
    known_base(word).or_else(|| again(word).filter(|rest| *rest != "mark").and_then(known_base))
}

fn known_base(word: &str) -> Option<Act> {
    const IRREGULAR: [(&str, &str); 8] = [
        ("send", "sent"),
        ("pay", "paid"),
        ("buy", "bought"),
        ("set", "set"),
        ("reset", "reset"),
        ("cancel", "cancelled"),
        ("drop", "dropped"),
        ("transfer", "transferred"),
    ];
    let irregular = IRREGULAR.iter().find(|(base, _)| *base == word).map(|(_, past)| *past);
    let is_past = |past: &str| {
        irregular == Some(past)
            || past.strip_suffix("ed") == Some(word)
            || past.strip_suffix('d') == Some(word)
            || word.strip_suffix('y').is_some_and(|stem| past.strip_suffix("ied") == Some(stem))
            || past.strip_suffix("ed").is_some_and(|stem| {
                // The last letter is doubled: `tagged`.
                let mut ends = stem.bytes().rev();
                stem.len() == word.len() + 1 && stem.starts_with(word) && ends.next() == ends.next()
            })
    };
    VERBS.iter().find(|(verbs, _)| verbs.iter().any(is_past)).map(|(_, act)| *act)
}

/// The acts that a message orders: the verbs at the start of its clauses.
pub(super) fn ordered(text: &str) -> Vec<Act> {
    static OPENINGS: WordList = WordList::new(
        "please pls can could would will you now then also and ok okay just kindly go ahead i \
         want need to i'd like let's let yes hi hello hey so first next finally me",
    );
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    let clauses = lower
        .split(['.', '!', '?', ';', ',', '\n', ':'])
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" then "));
    let mut acts = Vec::new();
    for clause in clauses.take(200) {
        let words: Vec<&str> = clause
            .split(|c: char| !c.is_alphanumeric() && c != '\'')
            .filter(|word| !word.is_empty())
            .collect();
        let at = words.iter().take_while(|word| OPENINGS.has(word)).count();
        let Some(verb) = words.get(at).and_then(|word| base(word)) else { continue };
        // "Send me the list" is answered by the answer, "add up the prices" as well.
        let next = words.get(at + 1).copied().unwrap_or_default();
        let is_for_user = matches!(next, "me" | "us") && matches!(verb, Act::Send | Act::Create);
        if !is_for_user && !matches!(next, "up" | "out") && !acts.contains(&verb) {
            acts.push(verb);
        }
    }
    acts
}

/// The acts that a text names in any form of their verbs.
pub(super) fn named(text: &str) -> Vec<Act> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    words.take(2000).filter_map(|word| base(word).or_else(|| act(word))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn participles_and_base_forms_mean_the_same() {
        for (base_form, past) in [
            ("send", "sent"),
            ("tag", "tagged"),
            ("notify", "notified"),
            ("merge", "merged"),
            ("log", "logged"),
            ("reorder", "reordered"),
            ("resend", "resent"),
        ] {
            assert_eq!(base(base_form), act(past), "{past}");
            assert!(act(past).is_some(), "{past}");
        }
        assert_eq!(
            (base("look"), act("remarked"), act("related"), act("red")),
            (None, None, None, None)
        );
    }

    #[test]
    fn orders_begin_clauses() {
        assert_eq!(ordered("Could you please book a desk and email Ann?"), [Act::Book, Act::Send]);
        assert_eq!(ordered("Find the ticket, then close it."), [Act::Change]);
        assert_eq!(ordered("I'd like to cancel my trip"), [Act::Delete]);
        assert_eq!(ordered("How do I cancel a trip?"), []);
        assert_eq!(ordered("Send me the list of booked rooms"), []);
        assert_eq!(ordered("Add up the prices"), []);
    }
}
