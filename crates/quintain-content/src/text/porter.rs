//! The stem of an English word by Porter's algorithm (1980), with the small liberties of the
//! library that promptfoo uses: if the rule with the longest ending does not apply, shorter ones
//! are tried.

const STEP_2: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

const STEP_3: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// By length: the longest ending counts.
const STEP_4: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "al", "er", "ic", "ou",
];

/// The stem of a word in lower case.
pub fn stem(word: &str) -> String {
    if word.encode_utf16().take(3).count() < 3 {
        return word.to_owned();
    }
    let word = past_and_progressive(&plural(word));
    let word = final_y(word);
    let word = replace_endings(&replace_endings(&word, STEP_2), STEP_3);
    let word = final_e(drop_ending(&word));
    match word.strip_suffix('l') {
        Some(rest) if rest.ends_with('l') && measure(&word) > 2 => rest.to_owned(),
        _ => word,
    }
}

/// Step 1a.
fn plural(word: &str) -> String {
    match word.strip_suffix("es") {
        Some(rest) if rest.ends_with("ss") || rest.ends_with('i') => rest.to_owned(),
        _ => match word.strip_suffix('s') {
            Some(rest) if !rest.ends_with('s') && rest.len() > 1 => rest.to_owned(),
            _ => word.to_owned(),
        },
    }
}

/// Step 1b.
fn past_and_progressive(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("eed") {
        return if measure(rest) > 0 { format!("{rest}ee") } else { word.to_owned() };
    }
    let rest = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing"));
    let Some(rest) = rest.filter(|rest| groups(rest).contains(&Sound::Vowel)) else {
        return word.to_owned();
    };
    let mut letters = rest.chars().rev();
    let (last, before) = (letters.next(), letters.next());
    if ["at", "bl", "iz"].iter().any(|ending| rest.ends_with(ending)) {
        format!("{rest}e")
    } else if last == before && last.is_some_and(|c| !"aeioulsz".contains(c)) {
        rest.strip_suffix(|_: char| true).unwrap_or_default().to_owned()
    } else if measure(rest) == 2 && short_end(&sounds(rest)) && !rest.ends_with(['w', 'x', 'y']) {
        format!("{rest}e")
    } else {
        rest.to_owned()
    }
}

/// Step 1c.
fn final_y(word: String) -> String {
    match word.strip_suffix('y') {
        Some(rest)
            if groups(&word).split_last().is_some_and(|(_, g)| g.contains(&Sound::Vowel)) =>
        {
            format!("{rest}i")
        }
        _ => word,
    }
}

fn replace_endings(word: &str, rules: &[(&str, &str)]) -> String {
    let mut result = word.to_owned();
    for (ending, other) in rules {
        if word.strip_suffix(ending).is_some_and(|rest| measure(rest) > 0)
            && let Some(rest) = result.strip_suffix(ending).map(str::len)
        {
            result.replace_range(rest.., other);
        }
    }
    result
}

/// Step 4.
fn drop_ending(word: &str) -> String {
    let ending =
        STEP_4.iter().find_map(|ending| word.strip_suffix(ending).filter(|r| !r.is_empty()));
    let ion =
        || word.strip_suffix("ion").filter(|rest| rest.ends_with(['s', 't']) && rest.len() > 1);
    let long = |rest: &&str| measure(rest) > 2;
    ending.filter(long).or_else(|| ion().filter(long)).unwrap_or(word).to_owned()
}

/// Step 5a.
fn final_e(word: String) -> String {
    let rest = word.strip_suffix('e').unwrap_or(&word);
    let keeps = || {
        let sounds = sounds(&word);
        let before = word.chars().rev().nth(1);
        sounds.len() > 3
            && short_end(&sounds[..sounds.len() - 1])
            && before.is_some_and(|c| !"wxy".contains(c))
    };
    match measure(rest) {
        m if m > 2 || m == 2 && !keeps() => rest.to_owned(),
        _ => word,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sound {
    Consonant,
    Vowel,
}

/// Twice the number of times that consonants follow vowels; a stray vowel gives an odd number.
/// Negative for nothing at all.
fn measure(word: &str) -> i64 {
    if word.is_empty() {
        return -1;
    }
    let groups = groups(word);
    let groups = groups.strip_prefix(&[Sound::Consonant]).unwrap_or(&groups);
    let groups = groups.strip_suffix(&[Sound::Vowel]).unwrap_or(groups);
    i64::try_from(groups.len()).unwrap_or(i64::MAX)
}

/// A `y` after a consonant sounds like a vowel; it does not melt with a vowel that follows.
fn groups(word: &str) -> Vec<Sound> {
    let mut groups: Vec<Sound> = Vec::new();
    let mut after_y = false;
    let mut before = None;
    for c in word.chars() {
        let y = c == 'y' && before.is_some_and(|b: char| !"aeiouy".contains(b));
        let sound = if y || "aeiou".contains(c) { Sound::Vowel } else { Sound::Consonant };
        if groups.last() != Some(&sound) || (sound == Sound::Vowel && after_y) {
            groups.push(sound);
        }
        (after_y, before) = (y, Some(c));
    }
    groups
}

/// The same letter by letter.
fn sounds(word: &str) -> Vec<Sound> {
    let mut before = None;
    let sound = |c: char| {
        let y = c == 'y' && before.is_some_and(|b: char| !"aeiouy".contains(b));
        before = Some(c);
        if y || "aeiou".contains(c) { Sound::Vowel } else { Sound::Consonant }
    };
    word.chars().map(sound).collect()
}

/// Consonant, vowel, consonant.
fn short_end(sounds: &[Sound]) -> bool {
    sounds.ends_with(&[Sound::Consonant, Sound::Vowel, Sound::Consonant])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from the library that promptfoo uses.
    #[test]
    fn stems_are_those_of_promptfoo() {
        for (word, wanted) in [
            ("caress", "caress"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("rational", "ration"),
            ("valency", "valenc"),
            ("digitizer", "digit"),
            ("differently", "differ"),
            ("operator", "oper"),
            ("feudalism", "feudal"),
            ("hopefulness", "hope"),
            ("triplicate", "triplic"),
            ("formative", "form"),
            ("electrical", "electr"),
            ("goodness", "good"),
            ("revival", "reviv"),
            ("allowance", "allow"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            ("controlling", "control"),
            ("rolling", "roll"),
            ("crying", "cry"),
            ("yes", "ye"),
            ("saying", "sai"),
            ("is", "is"),
            ("é", "é"),
            ("cafés", "café"),
        ] {
            assert_eq!(stem(word), wanted);
        }
    }

    #[test]
    fn a_word_of_megabytes_takes_linear_time() {
        assert!(stem(&"yings".repeat(100_000)).starts_with("ying"));
    }
}
