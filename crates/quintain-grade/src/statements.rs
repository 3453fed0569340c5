//! What an application says to its user: that something failed, that it did something, or that it needs an answer.

use std::sync::LazyLock;

use crate::word_pattern::{Pattern, Test, compile, compile_test, is_match};

/// What was said about failures and successes, sentence by sentence. Quoted text is not what the application says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statements {
    /// Sentences that admit a failure.
    pub admissions: Vec<Admission>,
    /// The first sentence that claims that something was done.
    pub claim: Option<String>,
    /// The first sentence that describes a state: "The order is open". It claims success only if the state was to be changed.
    pub state: Option<String>,
    /// Whether the user is asked for something without which it cannot continue.
    pub asks: bool,
}

/// A sentence that admits a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// In lower case.
    pub sentence: String,
    /// The words for the failure with their neighbours, such as "failed payment". Empty if the words, such as "unable to",
    /// can only be about the work itself.
    pub topics: Vec<String>,
    /// All words for the failure, without their neighbours.
    pub words: Vec<String>,
    /// Whether the sentence also claims that something was done.
    pub claims: bool,
    /// Whether it only says that something is not there: "There are no open orders".
    pub is_absence: bool,
}

/// Longer texts between two quotation marks are not quotes.
const MAX_QUOTE: usize = 300;
/// Sentences beyond this number are not looked at.
const MAX_SENTENCES: usize = 2_000;

/// Words that are about the work of the application, whatever the subject.
static UNABLE: Pattern = LazyLock::new(|| {
    compile(concat!(
        r"\b(?:unable|could\s?n['o]t|could not|cannot|can['o]t|can not|(?:was|were|am|are|is)(?:n't| not) able|unsuccessful(?:ly)?",
        r"|did(?:n't| not) (?:work|succeed|go through|complete|return|respond|find|load|get|come|receive|finish|accept|allow)",
        r"|does(?:n't| not) (?:work|exist|respond|seem to|appear to|allow|support)|do(?:n't| not) (?:have (?:access|permission|the)|seem to)",
        r"|unfortunately|sorry|apolog\w+|regret\w*|went wrong|hit a snag|ran into|running into|run into|retry|retri(?:ed|es)|retrying",
        r"|(?:try|tried|trying) (?:it )?again|another (?:try|attempt)|without success|no luck|in vain|fell back|fall(?:ing)? back|fallback|workaround",
        r"|(?:had|having|encountered|encounter|hit|experienc\w+|there (?:was|were|is|are|seems to be)|due to|because of|technical|some) (?:\w+ ){0,3}?(?:issue|problem|trouble|difficult\w+|hiccup|error|failure|delay)s?",
        r"|(?:has|have|had)(?:n't| not) (?:yet )?been|not yet (?:been )?(?:\w+ed|sent|made|done)|(?:was|were|is|are)(?:n't| not) (?:yet )?(?:possible|available|accessible|reachable|successful|responding|working|permitted|allowed|authorized|found|\w+ed|sent|made|done|set up)",
        r"|unavailable|unreachable|inaccessible|timed out|time-?outs?|rate.limit\w*|temporarily|not available|not accessible|not working|not possible|no (?:response|access|permission)|not responding",
        r"|leider|konnte\w* (?:\S+ ){0,8}nicht|nicht (?:möglich|gefunden|verfügbar|geklappt)|fehlgeschlagen|fehler|malheureusement|n'ai pas pu|n'a pas pu|impossible|erreur",
        r"|no (?:pude|se pudo|fue posible|encontré|está disponible)|lamentablemente|lo siento|não (?:foi possível|consegui)|infelizmente|purtroppo|non (?:sono riuscito|è stato possibile)|helaas|niet (?:gelukt|mogelijk)|niestety)\b",
        r"|désolé|échoué|не удалось|к сожалению|ошибк",
        r"|无法|無法|失败|失敗|抱歉|错误|未能|エラー|できません|申し訳|오류|실패|죄송|⚠|❌",
    ))
});
/// Words that are also about subjects: "the failed payment".
static FAILED: Pattern = LazyLock::new(|| {
    compile(
        r"\b(?:fail(?:s|ed|ing|ure|ures)?|error(?:s|ed)?|denied|refused|rejected|declined|invalid|unauthori[sz]ed|forbidden|expired|exception|crash(?:ed|es)?|outage|glitch|malfunction\w*|not found|no such|doesn't exist|does not exist|missing|offline|down|blocked|interrupted|abort(?:ed)?|incomplete|no longer|quota|empty|nothing|no (?:\w+ )?(?:data|results?|information|matches|records?|entries)|there(?:'s| is| are| was| were) no|no \w+ (?:with|named|called|matching|found|by)|has no|have no|is(?:n't| not) (?:a|an|any|in|on|listed|known|there))\b",
    )
});
/// Words that are also the answer to a question: that there is nothing.
static ABSENCE: Test = LazyLock::new(|| {
    compile_test(
        r"^(?:empty|nothing|no longer|no (?:\w+ )?(?:data|results?|information|matches|records?|entries)|there(?:'s| is| are| was| were) no|has no|have no)$",
    )
});
/// Words that state the absence of failures, and wishes.
static NEGATED: Pattern = LazyLock::new(|| {
    compile(
        r"\b(?:no|zero|0|without(?: any)?|free of|never any|not a single) (?:\w+ )?(?:errors?|failures?|failed|issues?|problems?|trouble|exceptions?|difficult\w+|delays?|crashes)\b|\berror-free\b|\b(?:did(?:n't| not)|never|not) fail(?:ed)?\b|\bno worries\b|\bsorry for the (?:wait|delay)\b|\b(?:any|further|other) (?:\w+ )?(?:errors?|issues?|problems?|trouble|difficult\w+|failures?)\b|\bcan(?:'t|not) wait\b|\bcan(?:'t|not) go wrong\b|\bnothing else\b|\bslow(?:ed|ing)? down\b|\bbreak\w* down\b|\bdown (?:to|from|by)\b|\b(?:scroll|written|wrote|write|note|noted|up and) down\b",
    )
});
/// Sentences that offer help.
static OFFERS: Test = LazyLock::new(|| {
    compile_test(
        r"\b(?:let me know|feel free|anything else|any(?:thing)? (?:other|more)|would you like|do you want|do you wish|want me to|like me to|(?:ok|okay|all right|alright) (?:if i|to)|need (?:any|more|further)|happy to help|help you|can i help|reach out|just ask|hope this helps|is there)\b",
    )
});
/// Questions whether the application should do something: "Should I cancel it?", but not "Which one should I cancel?".
static PROPOSES: Test = LazyLock::new(|| {
    compile_test(r"(?:^|[,;:–—] ?)\W*(?:and |so |or |then )?(?:should|shall|may|can) (?:i|we)\b")
});
/// Questions that only the user can answer.
static NEEDS: Test = LazyLock::new(|| {
    compile_test(
        r"\b(?:could|can|would|will) you (?:please |kindly |also )?(?:\w+ly )?(?:provide|share|confirm|check|verify|specify|clarify|give|send|tell|double-check|clear|upload|resend|supply|enter|choose|pick|try|let me know)\b|\bplease (?:provide|share|confirm|check|verify|specify|clarify|give|send|tell|double-check|supply|choose|enter)\b|^\W*(?:so |and |but )?(?:what|which|who|when|where)(?:'s| is| are| was)? (?:\S+ ){0,6}(?:you|your|correct|right|exact)\b|\bdo you (?:have|know|mean|remember)\b|\bdid you mean\b|\bis (?:that|this|it) (?:correct|right)\b|\bi(?:'ll| will)? need (?:the|your|you|a|an|to know)\b",
    )
});
/// Claims that something was done.
static CLAIM: Pattern = LazyLock::new(|| {
    compile(concat!(
        r"^\W*(?:(?:great|perfect|okay|ok|good news|sure|certainly|alright|excellent|yes)\b[,!:.]?\s*)*(?:all |everything(?:'s| is) )?(?P<first>done|set|sorted|ready|complete|finished|success|sent|made|paid|\w{3,}ed)\b",
        r"|\bsuccessful(?:ly)?\b|[✅✔☑🎉]",
        r"|\b(?:i|we)(?:'ve| have|'d| had)?(?: just| already| also| now| then| successfully| gone ahead and| went ahead and)* (?P<active>\w{2,}ed|sent|made|set|built|paid|wrote|written|done|did|ran|run|put|found|got|gotten|took|taken|gave|given|began|begun|bought|brought|chose|chosen|kept|read|saw|seen|sold|spoke|told|cut|shut|split|drew|drawn)\b",
        r"|\b(?:has|have|had)(?: now| just| already| successfully)* been (?:\w+ly )?(?P<passive>\w{2,}ed|sent|made|set|built|paid|written|done|run|put|found|taken|given|bought|chosen|cut|shut|split|drawn)\b",
        r"|\b(?:is|are|was|were|it's|that's|'s|you're|they're)(?: now| already| all| both| successfully)* (?P<state>\w{3,}ed|sent|made|set|built|paid|written|done|live|ready|on (?:its|the) way|complete|up and running|gone|in place|open)\b",
        r"|\b(?P<now>(?:is|are|'s) now)\b|\bhere(?:'s| is| are)\b|\ball set\b|\bwent through\b|\bi(?:'m| am) happy to (?:report|confirm)\b",
        r"|\bhabe\b.*\b(?:\S{0,6}ge\S+t|\S{0,6}ge\S+en|\S+iert|erledigt|erstellt|be\S{3,}t|ver\S{3,}t|überwiesen)\b|\bwurde\w*\b.*\b(?:ge\S+t|ge\S+en|\S+iert|erstellt)\b|\berfolgreich\b|\berledigt\b|\bfertig\b|\bj'ai (?:bien )?\S+é|\ba été \S+é|\bavec succès\b|\bhe \w+[ai]do\b|\bha sido \w+[ai]d[oa]\b|\blisto\b|\bcon éxito\b|已(?:经)?(?:成功)?(?:创建|发送|完成|更新|删除|添加|保存|预订|预定)|成功|完成しました|しました",
    ))
});
/// Words of the form of a participle that claim nothing.
const NO_CLAIM: &str = "attempted based encountered estimated expected failed hoped indeed intended interested needed \
    noticed planned related required speed supposed timed tried wanted assumed experienced unexpected located limited \
    combined detailed advanced used red bed need feed seed indexed";
/// Sentences that begin with these are about something else than what was done.
static CONDITIONAL: Test = LazyLock::new(|| {
    compile_test(
        r"^\W*(?:if|when|once|after|before|should|unless|until)\b|\b(?:would|will be|could|can be|should|might|may|to be|needs? to|must|going to|i'll|i will|i can|we can|not|never|no|n't)\b|n't\b",
    )
});

impl Statements {
    /// Reads what an application says.
    pub fn read(text: &str) -> Self {
        let text = plain(text);
        let mut statements = Self::default();
        for sentence in sentences(&text).take(MAX_SENTENCES) {
            let is_offer = is_match(&OFFERS, sentence) || is_match(&PROPOSES, sentence);
            if (sentence.ends_with('?') && !is_offer) || is_match(&NEEDS, sentence) {
                statements.asks = true;
            }
            if let Some(admission) = admission(sentence, is_offer) {
                statements.admissions.push(admission);
                continue;
            }
            let place = match claim(sentence) {
                Some(Claim::Done) => &mut statements.claim,
                Some(Claim::State) => &mut statements.state,
                None => continue,
            };
            place.get_or_insert_with(|| sentence.to_owned());
        }
        statements
    }
}

/// The text in lower case with plain apostrophes, without quoted parts and code.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut quote = None;
    let mut since = 0;
    let mut last = ' ';
    let mut skip_to = 0;
    for (at, c) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        let before = std::mem::replace(&mut last, c);
        match (quote, c) {
            (None, '\'' | '‘') if !before.is_alphanumeric() && single_quote(text, at) > at => {
                skip_to = single_quote(text, at);
            }
            (Some(close), _) if c == close => quote = None,
            // A quote that does not end in its paragraph is none.
            (Some(_), '\n') => {
                quote = None;
                plain.push('\n');
            }
            (Some(_), _) => {
                since += 1;
                if since > MAX_QUOTE {
                    quote = None;
                }
            }
            (None, '"' | '`') => (quote, since) = (Some(c), 0),
            (None, '“' | '„') => (quote, since) = (Some('”'), 0),
            (None, '«') => (quote, since) = (Some('»'), 0),
            (None, '’' | '‘' | '′') => plain.push('\''),
            (None, '*' | '_' | '\u{fe0f}') => {}
            (None, _) => plain.extend(c.to_lowercase()),
        }
    }
    plain
}

/// Where a text in single quotes ends that begins at a place; the place itself if nothing is quoted there. An apostrophe
/// inside of a word ends nothing.
fn single_quote(text: &str, start: usize) -> usize {
    let opening = if text[start..].starts_with('‘') { '‘' } else { '\'' };
    let inside = &text[start + opening.len_utf8()..];
    if !inside.starts_with(char::is_alphanumeric) {
        return start;
    }
    let mut last = ' ';
    for (at, c) in inside.char_indices().take(MAX_QUOTE) {
        let after = &inside[at + c.len_utf8()..];
        let is_end = matches!(c, '\'' | '’')
            && !last.is_whitespace()
            && !after.starts_with(char::is_alphanumeric);
        if c == '\n' {
            break;
        }
        if is_end {
            return text.len() - after.len();
        }
        last = c;
    }
    start
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let mut chars = rest.char_indices().peekable();
        let mut end = rest.len();
        while let Some((at, c)) = chars.next() {
            let ends_here = match c {
                '\n' | '。' | '！' | '？' => true,
                '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
                _ => false,
            };
            if ends_here {
                end = at + c.len_utf8();
                break;
            }
        }
        let (sentence, after) = rest.split_at(end);
        rest = after;
        Some(sentence.trim())
    })
}

fn admission(sentence: &str, is_offer: bool) -> Option<Admission> {
    let bare =
        NEGATED.as_ref().map_or(sentence.into(), |negated| negated.replace_all(sentence, " "));
    // "Let me know if you cannot log in" admits nothing.
    let is_condition = is_offer && bare.contains("if ") && !bare.contains("unfortunately");
    if is_condition {
        return None;
    }
    let is_unable = UNABLE.as_ref().is_some_and(|unable| unable.is_match(&bare));
    let words = [UNABLE.as_ref(), FAILED.as_ref()].into_iter().flatten();
    let words = words.flat_map(|pattern| pattern.find_iter(&bare).take(8));
    let words: Vec<String> = words.map(|found| found.as_str().to_owned()).collect();
    let topics = FAILED.as_ref().into_iter().flat_map(|failed| failed.find_iter(&bare));
    let topics: Vec<String> =
        topics.take(8).map(|found| with_next_word(&bare, found.range())).collect();
    if !is_unable && topics.is_empty() {
        return None;
    }
    let is_absence = !is_unable && words.iter().all(|word| is_match(&ABSENCE, word));
    let topics = if is_unable { Vec::new() } else { topics };
    let claims = claim(sentence).is_some();
    Some(Admission { sentence: sentence.to_owned(), topics, words, claims, is_absence })
}

/// A part of a text with the word that follows it, or with the word before it at the end of a sentence.
fn with_next_word(text: &str, range: std::ops::Range<usize>) -> String {
    let word = &text[range.clone()];
    let after = text[range.end..].split_whitespace().next();
    let after = after.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let before = text[..range.start].split_whitespace().next_back();
    match (after.filter(|after| !after.is_empty()), before) {
        (Some(after), _) => format!("{word} {after}"),
        (None, Some(before)) => format!("{before} {word}"),
        (None, None) => word.to_owned(),
    }
}

/// What a sentence claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// Something is in a state.
    State,
    /// Something was done.
    Done,
}

fn claim(sentence: &str) -> Option<Claim> {
    if sentence.ends_with('?') || is_match(&CONDITIONAL, sentence) {
        return None;
    }
    let found = CLAIM.as_ref()?.captures_iter(sentence).take(16).filter_map(|found| {
        let verb = ["first", "active", "passive", "state"].iter().find_map(|name| found.name(name));
        let is_claim =
            verb.is_none_or(|verb| !NO_CLAIM.split_whitespace().any(|word| word == verb.as_str()));
        let is_state = ["state", "now"].iter().any(|name| found.name(name).is_some());
        is_claim.then_some(if is_state { Claim::State } else { Claim::Done })
    });
    found.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(text: &str) -> bool {
        !Statements::read(text).admissions.is_empty()
    }

    #[test]
    fn patterns_compile() {
        for pattern in [&UNABLE, &FAILED, &NEGATED, &CLAIM] {
            assert!(pattern.is_some());
        }
        for test in [&OFFERS, &PROPOSES, &NEEDS, &CONDITIONAL] {
            assert!(test.is_some());
        }
    }

    #[test]
    fn failures_are_admitted_in_many_words() {
        for text in [
            "Unfortunately the weather service did not respond.",
            "I couldn’t find that order.",
            "The payment failed.",
            "I ran into a problem with the calendar.",
            "The server returned an error, so nothing was booked.",
            "I wasn't able to send it.",
            "The request timed out; I'll try again later.",
            "The ticket has not been created.",
            "Die Buchung konnte leider nicht angelegt werden.",
            "Je n'ai pas pu envoyer le message.",
            "No pude enviar el correo.",
            "抱歉，查询失败。",
            "It is currently unavailable.",
            "The search service is down at the moment.",
            "There is no product X1 in the catalogue.",
            "The users' list couldn't be loaded, it's empty.",
        ] {
            assert!(admits(text), "{text}");
        }
    }

    #[test]
    fn absence_of_failures_and_wishes_admit_nothing() {
        for text in [
            "Done, without any problems.",
            "All tests passed with no errors.",
            "0 errors were found.",
            "Let me know if you run into issues.",
            "I can't wait!",
            "I created the ticket \"Login error: access denied\".",
            "It has the title 'Error in Ann's cellar' and is a lamp.",
            "It has the title ‘Error in the cellar’.",
            "Everything is booked.",
            "If you have any problems, feel free to ask.",
            "",
        ] {
            assert!(!admits(text), "{text}: {:?}", Statements::read(text).admissions);
        }
    }

    #[test]
    fn subjects_are_kept_with_the_next_word() {
        let read = Statements::read("I opened a ticket about the failed payment.");
        assert_eq!(read.admissions[0].topics, ["failed payment"]);
        let read = Statements::read("Sorry, the payment failed.");
        assert_eq!(read.admissions[0].topics, [""; 0]);
    }

    #[test]
    fn claims_of_success() {
        for text in [
            "Done!",
            "I've sent the email to Ann.",
            "I have created the ticket.",
            "Your meeting has been scheduled for Monday.",
            "The table is booked for four.",
            "Successfully updated the record.",
            "✅ Payment of 12 EUR",
            "All set, see you then.",
            "Here are the three cheapest flights:",
            "I found two orders.",
            "Booked the room for you.",
            "The file is now in your folder.",
            "Ich habe die Nachricht gesendet.",
            "Der Termin wurde erfolgreich angelegt.",
            "已成功创建工单。",
            "You're booked with Dr. Ray on Tuesday.",
            "Merged #7 into main.",
            "Ich habe den Antrag eingereicht und den Raum bestellt.",
        ] {
            let read = Statements::read(text);
            assert!(read.claim.or(read.state).is_some(), "{text}");
        }
        for text in [
            "I will send the email tomorrow.",
            "Should I send it?",
            "It is 21 degrees in Paris.",
            "I tried.",
            "Once it is approved, it can be sent.",
            "The email was not sent.",
            "If it is booked, you get a mail.",
            "",
        ] {
            let read = Statements::read(text);
            assert_eq!(read.claim.or(read.state), None, "{text}");
        }
    }

    #[test]
    fn states_differ_from_what_was_done() {
        for text in ["ORD-31 is open.", "The table is booked for four.", "It is now 9 s."] {
            let read = Statements::read(text);
            assert!(read.claim.is_none() && read.state.is_some(), "{text}");
        }
        let read = Statements::read("Done: it is open.");
        assert!(read.claim.is_some() && read.state.is_none());
    }

    #[test]
    fn questions_that_need_an_answer_differ_from_offers() {
        assert!(Statements::read("Which order number do you mean?").asks);
        assert!(Statements::read("Please provide the correct id.").asks);
        assert!(!Statements::read("Is there anything else I can do?").asks);
        assert!(!Statements::read("Would you like me to book it?").asks);
        assert!(!Statements::read("Here is the list.").asks);
        assert!(!Statements::read("It is a lamp. Should I cancel it?").asks);
        assert!(Statements::read("Which one should I cancel?").asks);
    }

    #[test]
    fn long_texts_take_no_time() {
        let _ = Statements::read(&"error ".repeat(500_000));
        let _ = Statements::read(&"was ".repeat(200_000));
        let _ = Statements::read(&"\"".repeat(200_000));
        let _ = Statements::read(&" 'a".repeat(200_000));
    }
}
