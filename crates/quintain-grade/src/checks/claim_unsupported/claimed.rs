//! The acts that an answer claims: in the first person, without a subject ("Booked!"), in the passive, or as "Done".

use super::own_text::{NOTHING, is_about_text};
use super::verbs::{self, Act};
use crate::values::word_list::WordList;

/// How an answer claims an act, from the plainest form to the vaguest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// `I have sent it.`
    Active,
    /// `Successfully sent the report.`, `Booked!`
    Elliptic,
    /// `You're booked.`, `The mail has been sent.`
    Passive,
}

/// An act that a sentence claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    /// As the answer writes it.
    pub(super) words: String,
    pub(super) act: Act,
    pub(super) verb: String,
    /// The words after the verb.
    pub(super) object: Vec<String>,
    pub(super) voice: Voice,
    /// Whether the form alone shows a claim, whatever the user asked for: a tick, "successfully", an exclamation mark.
    pub(super) is_plain: bool,
    /// Whether something is sent to somebody: "Report emailed to Ann".
    pub(super) names_recipient: bool,
}

/// The acts that a sentence claims for its speaker.
pub(super) fn claims(sentence: &str) -> Vec<Claim> {
    let plain = sentence.replace('\u{2019}', "'");
    let words = split_words(&plain);
    let is_condition = words.first().is_some_and(|(_, word)| {
        matches!(word.as_str(), "if" | "once" | "when" | "unless" | "before" | "after")
    });
    if is_condition {
        return Vec::new();
    }
    let mut found = active(&plain, &words);
    if found.is_empty() {
        found.extend(elliptic(&plain, &words));
    }
    if found.is_empty() {
        found.extend(passive(&plain, &words));
    }
    found
}

/// Whether a sentence begins by saying that the work is done.
pub(super) fn says_done(sentence: &str) -> bool {
    let words = split_words(sentence);
    let mut words = words.iter().map(|(_, word)| word.as_str());
    match words.next() {
        // "Done looking through the logs" changes nothing.
        Some("done") => words.next().is_none_or(|word| !word.ends_with("ing")),
        Some("all") => matches!(words.next(), Some("done" | "set")),
        Some("that's" | "it's" | "everything's") => {
            matches!(words.next(), Some("done" | "sorted"))
        }
        _ => false,
    }
}

fn active(plain: &str, words: &[(usize, String)]) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let (place, word) = &words[at];
        let is_subject = matches!(word.as_str(), "i" | "we" | "i've" | "we've");
        let before = at.checked_sub(1).map_or("", |before| words[before].1.as_str());
        // "Had I deleted it", "whether I sent it"
        let is_open = matches!(before, "had" | "whether" | "if" | "unless" | "until" | "should");
        at += 1;
        if !is_subject || is_open || is_inside_quotes(&plain[..*place]) {
            continue;
        }
        let mut from = at;
        // "I looked it up, cancelled the order and emailed Ann": every verb counts.
        while let Some((verb_at, act)) = verb_after(words, from, from > at) {
            let claim = claim(plain, words, *place, verb_at, act, Voice::Active);
            if !is_about_text(&claim.verb, &claim.object, &plain[*place..]) {
                found.push(claim);
            }
            from = verb_at + 1;
        }
        at = from;
    }
    found
}

fn claim(
    plain: &str,
    words: &[(usize, String)],
    place: usize,
    verb_at: usize,
    act: Act,
    voice: Voice,
) -> Claim {
    let end = words.get(verb_at + 4).map_or(plain.trim_end().len(), |(at, _)| *at).max(place);
    let after = words[verb_at + 1..].iter().take(8).map(|(_, word)| word.clone());
    Claim {
        words: plain[place..end.min(plain.len())].trim_end().to_owned(),
        act,
        verb: words[verb_at].1.clone(),
        object: after.collect(),
        voice,
        is_plain: voice == Voice::Active,
        names_recipient: false,
    }
}

/// A sentence that begins with the verb, or that a tick marks: "Sent!", "Successfully created the ticket", "✅ Ticket created".
fn elliptic(plain: &str, words: &[(usize, String)]) -> Option<Claim> {
    static OPENINGS: WordList = WordList::new(
        "all done great perfect ok okay sure alright excellent yes good news certainly and",
    );
    /// Words in which a clause has its verb.
    const MAX_CLAUSE: usize = 12;
    let marks = |c: char| matches!(c, '✅' | '✔' | '☑' | '🎉');
    let opening = words.iter().take_while(|(_, word)| OPENINGS.has(word)).count();
    let is_success = words.get(opening).is_some_and(|(_, word)| word == "successfully");
    let at = opening + usize::from(is_success);
    let (place, first) = words.get(at)?;
    let is_marked = is_success || plain[..*place].contains(marks);
    let opened = verbs::act(first).map(|act| (at, act));
    let has_aux = |within: usize| {
        words.iter().skip(at).take(within).any(|(_, word)| {
            is_form_of_be(word) || matches!(word.as_str(), "has" | "have" | "had" | "will" | "can")
        })
    };
    // "Ticket created", "Event created:", "Report emailed to Ann"
    let closed = || {
        let short = words.iter().enumerate().skip(at + 1).take(4);
        short.filter_map(|(at, (_, word))| Some((at, verbs::act(word)?))).find(|(at, _)| {
            let (place, word) = &words[*at];
            let after = plain[place + word.len()..].trim_start_matches(['*', '_']).trim_start();
            let next = words.get(at + 1).map_or("", |(_, word)| word.as_str());
            after.is_empty()
                || after.starts_with(['.', '!', ':', '–', '—', '-', '('])
                || matches!(next, "to" | "for" | "successfully") && !has_aux(MAX_CLAUSE)
        })
    };
    let (verb_at, act) = opened.or_else(|| closed().filter(|_| !has_aux(5)))?;
    let (verb_place, verb) = &words[verb_at];
    let after = plain[verb_place + verb.len()..].trim_start_matches(['*', '_']);
    let next = words.get(verb_at + 1).map_or("", |(_, word)| word.as_str());
    // "Created: 3 May", "Closed by Ann", "Updated 3 days ago" are data.
    let is_data = after.starts_with(':') && opened.is_some()
        || matches!(next, "by" | "at" | "since" | "ago" | "between")
        || NOTHING.has(next);
    if is_data || is_inside_quotes(&plain[..*place]) {
        return None;
    }
    let mut claim = claim(plain, words, *place, verb_at, act, Voice::Elliptic);
    claim.is_plain = is_marked || opened.is_some() && after.starts_with('!');
    if opened.is_none() {
        claim.names_recipient = act == Act::Send && next == "to";
        claim.is_plain |= next == "successfully";
        claim.object.extend(words[at..verb_at].iter().map(|(_, word)| word.clone()));
    }
    (!is_about_text(&claim.verb, &claim.object, &plain[*place..])).then_some(claim)
}

fn is_form_of_be(word: &str) -> bool {
    matches!(word, "is" | "are" | "was" | "were" | "been" | "be" | "isn't" | "not" | "being")
        || ["'s", "'re"].iter().any(|end| word.ends_with(end))
}

/// "You're booked", "the mail has been sent", "is now scheduled". The past tense is about data.
fn passive(plain: &str, words: &[(usize, String)]) -> Option<Claim> {
    let verb = (1..words.len()).find_map(|at| {
        let act = verbs::act(&words[at].1)?;
        let is_filler = |word: &str| {
            matches!(word, "now" | "all" | "both" | "successfully" | "officially" | "also")
        };
        let aux = words[..at].iter().rev().find(|(_, word)| !is_filler(word))?.1.as_str();
        let is_present = matches!(aux, "is" | "are" | "been")
            || ["'s", "'re"].iter().any(|end| aux.ends_with(end));
        let earlier = words[..at].iter().rev().take(8);
        let is_open = earlier.map(|(_, word)| word.as_str()).any(|word| {
            word.ends_with("n't")
                || matches!(
                    word,
                    "already"
                        | "not"
                        | "never"
                        | "no"
                        | "nothing"
                        | "if"
                        | "once"
                        | "when"
                        | "until"
                        | "whether"
                        | "that"
                        | "which"
                        | "who"
                        | "had"
                )
        });
        let next = words.get(at + 1).map_or("", |(_, word)| word.as_str());
        let is_data = matches!(next, "by" | "until" | "since" | "out" | "up");
        (is_present && !is_open && !is_data).then_some((at, act))
    });
    let (verb_at, act) = verb?;
    let place = words.first()?.0;
    if is_inside_quotes(&plain[..words[verb_at].0]) {
        return None;
    }
    let mut claim = claim(plain, words, place, verb_at, act, Voice::Passive);
    claim.object.extend(words[..verb_at].iter().rev().take(6).map(|(_, word)| word.clone()));
    claim.is_plain = says_done(plain);
    Some(claim)
}

/// The words of a text in lower case with their places; apostrophes belong to words.
pub(super) fn split_words(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric() || c == '\'', start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, text[from..at].to_lowercase()));
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// The first verb of an act that belongs to the subject before a place, or that is joined to an earlier verb.
fn verb_after(words: &[(usize, String)], from: usize, is_joined: bool) -> Option<(usize, Act)> {
    static OBJECTS: WordList = WordList::new(
        "it them the a an your this that you all both these those to her him us his their my our \
         everyone another two three",
    );
    let mut joins = !is_joined;
    let mut able = false;
    for (at, (_, word)) in words.iter().enumerate().skip(from).take(25) {
        let word = word.as_str();
        match word {
            "not" | "never" | "couldn't" | "can't" | "cannot" | "haven't" | "didn't" | "wasn't"
            | "don't" | "unable" | "won't" | "no" | "can" | "could" | "will" | "would" | "may"
            | "might" | "should" | "need" | "want" | "wanted" | "plan" | "tried" | "attempted"
            | "i" | "i'd" | "i'll" | "i've" | "we" | "we've" | "you" | "which" | "that" | "who"
            | "if" | "hasn't" | "without" | "but" | "is" | "are" | "has" => return None,
            "have" | "'ve" | "just" | "already" | "also" | "now" | "successfully" | "finally"
            | "then" | "went" | "gone" | "ahead" | "and" | "both" | "first" | "since"
            | "therefore" | "automatically" | "manually" | "been" | "had" | "re" => joins = true,
            "able" | "managed" => able = true,
            "to" if able => joins = true,
            _ => {
                let verb = verbs::act(word).or_else(|| verbs::base(word).filter(|_| able));
                let after = words[at + 1..].iter().map(|(_, word)| word.as_str());
                let verb = verb.or_else(|| verbs::with_object(word, after));
                let goes_ahead = at > 1 && words[at - 2].1 == "ahead";
                let after_and = at > from && words[at - 1].1 == "and" && !goes_ahead;
                let is_second = is_joined || after_and && at > from + 1;
                let next = words.get(at + 1).map_or("", |(_, word)| word.as_str());
                if let Some(act) = verb.filter(|_| joins && (!is_second || OBJECTS.has(next))) {
                    return Some((at, act));
                }
                joins = false;
            }
        }
    }
    None
}

fn is_inside_quotes(before: &str) -> bool {
    let straight = before.chars().filter(|c| *c == '"').count() % 2 == 1;
    let open = before.chars().filter(|c| matches!(c, '“' | '„' | '«')).count();
    let closed = before.chars().filter(|c| matches!(c, '”' | '»')).count();
    straight || open > closed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voices(text: &str) -> Vec<Voice> {
        claims(text).into_iter().map(|claim| claim.voice).collect()
    }

    #[test]
    fn first_person_acts_are_claims() {
        for text in [
            "I have sent the report to Ann.",
            "I've just created a ticket for it.",
            "Done! I successfully booked the room.",
            "I was able to cancel your order.",
            "I looked it up and refunded the payment.",
            "We\u{2019}ve now deleted it.",
            "I went ahead and scheduled the meeting.",
            "I went ahead and messaged Lena.",
            "I've gone ahead and archived thread 9.",
            "I updated the file /a/b.txt.",
            "I turned off the hall lamp.",
            "I removed the duplicate entry.",
            "I reordered b2.",
            "I've re-sent the invite.",
        ] {
            assert_eq!(voices(text), [Voice::Active], "{text}");
        }
    }

    #[test]
    fn every_act_of_a_sentence_counts() {
        let found = claims("I moved the card to Review and notified the owner.");
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(claims("I cancelled the trip, and I refunded the deposit.").len(), 2);
    }

    #[test]
    fn negations_passives_reports_and_texts_are_not_claims() {
        for text in [
            "I have not sent it.",
            "I haven't created anything.",
            "The order was cancelled on May 3.",
            "I found the report created by Ann.",
            "You have sent 3 messages.",
            "I couldn't find it, so nothing was deleted.",
            "Ann wrote: \"I have sent the report\".",
            "If I have sent it, ignore this.",
            "I checked the issue and closed items.",
            "I've created a summary of your mails below.",
            "I see that the invoice was paid.",
            "I cancelled nothing.",
            "Had I removed the branch, the build would be red.",
            "You wanted to know whether I paid it: I did not.",
            "I've added the currencies and units to the table.",
            "I've sent a request to the weather API.",
            "This saved time.",
            "I opened the document and read it.",
            "I turned to the second page.",
            "I've added up the quantities and marked the largest one in bold.",
            "I've set out all of them below and saved the best for last.",
            "I've put together a list, sorted it and shared it below.",
            "I ordered the results by price.",
            "I removed duplicate rows.",
            "I opened with the smallest.",
        ] {
            assert!(claims(text).is_empty(), "{text}: {:?}", claims(text));
        }
    }

    #[test]
    fn claims_need_no_subject() {
        for text in [
            "Booked!",
            "Successfully uploaded the photo.",
            "✅ Reminder created.",
            "Perfect! Cancelled!",
        ] {
            let found = claims(text);
            assert!(found.len() == 1 && found[0].is_plain, "{text}: {found:?}");
            assert_eq!(found[0].voice, Voice::Elliptic, "{text}");
        }
        let found = claims("Merged #12 into main.");
        assert!(found.len() == 1 && !found[0].is_plain, "{found:?}");
        for text in
            ["Created: 3 May", "Closed by Ann in May.", "Sent nothing.", "Updated 2 hours ago"]
        {
            let found = claims(text);
            assert!(found.iter().all(|claim| !claim.is_plain), "{text}: {found:?}");
        }
    }

    #[test]
    fn passives_of_the_present_are_claims_and_those_of_the_past_are_data() {
        for text in [
            "You're booked for Friday.",
            "Your parcel has been sent.",
            "The talk is now scheduled.",
        ] {
            assert_eq!(voices(text), [Voice::Passive], "{text}");
        }
        for text in [
            "The invoice was paid in May.",
            "The issue is already closed.",
            "The room is booked by Lena.",
            "The slot is booked until noon.",
            "It has not been sent.",
        ] {
            assert_eq!(voices(text), [], "{text}");
        }
    }

    #[test]
    fn done_is_said_at_the_start() {
        assert!(says_done("Done, it is on the list.") && says_done("All set!"));
        assert!(!says_done("When you are done, call me.") && !says_done("All lamps are on."));
    }
}
