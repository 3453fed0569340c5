//! Reduces names to what they look like.

/// Letters of other scripts that look like Latin letters, with the lower-case Latin letter.
const ALIKE: &[(char, &str)] = &[
    ('a', "аɑα"),
    ('b', "ЬƄ"),
    ('c', "сϲᴄ"),
    ('d', "ԁⅾ"),
    ('e', "еҽ℮"),
    ('g', "ɡց"),
    ('h', "һհ"),
    ('i', "іıɩιӏⅰ"),
    ('j', "јϳ"),
    ('k', "кκ"),
    ('l', "ⅼ"),
    ('m', "мⅿ"),
    ('n', "ոռ"),
    ('o', "оοօσ"),
    ('p', "рρ"),
    ('q', "ԛզ"),
    ('r', "гᴦ"),
    ('s', "ѕꜱ"),
    ('t', "тτ"),
    ('u', "υսʋ"),
    ('v', "ѵνⅴ"),
    ('w', "ԝաѡ"),
    ('x', "хχⅹ"),
    ('y', "уγү"),
    ('z', "ᴢ"),
    ('a', "АΑ"),
    ('b', "ВΒ"),
    ('c', "СϹ"),
    ('e', "ЕΕ"),
    ('h', "НΗ"),
    ('i', "ІΙ"),
    ('j', "Ј"),
    ('k', "КΚ"),
    ('m', "МΜ"),
    ('n', "Ν"),
    ('o', "ОΟ"),
    ('p', "РΡ"),
    ('s', "Ѕ"),
    ('t', "ТΤ"),
    ('x', "ХΧ"),
    ('y', "ҮΥ"),
    ('z', "Ζ"),
];

fn latin(c: char) -> Option<char> {
    let point = u32::from(c);
    let letter = |offset: u32| char::from_u32(u32::from('a') + offset % 26);
    match point {
        // Fullwidth forms.
        0xff10..=0xff19 | 0xff21..=0xff3a | 0xff41..=0xff5a => {
            char::from_u32(point - 0xfee0).map(|c| c.to_ascii_lowercase())
        }
        // Mathematical letters and digits: each alphabet has its capital letters, then its small letters.
        0x1d400..=0x1d6a3 => letter(point - 0x1d400),
        0x1d7ce..=0x1d7ff => char::from_u32(u32::from('0') + (point - 0x1d7ce) % 10),
        0x24b6..=0x24cf => letter(point - 0x24b6),
        0x24d0..=0x24e9 => letter(point - 0x24d0),
        _ => ALIKE.iter().find(|(_, others)| others.contains(c)).map(|(latin, _)| *latin),
    }
}

/// A name with look-alike letters replaced, in lower case and without separators.
pub(super) fn skeleton(name: &str) -> String {
    let mut seen = String::new();
    for c in name.chars().take(256) {
        let c = latin(c).unwrap_or(c);
        match c {
            '0' => seen.push('o'),
            '1' | '|' => seen.push('l'),
            // A capital I looks like an l, but its lower-case form is close enough.
            'I' => seen.push('i'),
            c if c.is_alphanumeric() => seen.extend(c.to_lowercase()),
            _ => {}
        }
    }
    seen
}

/// Whether a word of a name mixes Latin letters with letters that look like them.
pub(super) fn mixes_scripts(name: &str) -> bool {
    let words = name.split(|c: char| !c.is_alphabetic());
    words.filter(|word| !word.is_empty()).any(|word| {
        word.chars().any(|c| c.is_ascii_alphabetic())
            && word.chars().any(|c| !c.is_ascii() && latin(c).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_has_one_skeleton() {
        for (a, b) in [
            ("list_stations", "list_ѕtations"),
            ("pay", "рау"),
            ("get_user", "getUser"),
            ("get_user", "ｇｅｔ_ｕｓｅｒ"),
            ("send", "𝐬𝐞𝐧𝐝"),
            ("send", "𝚜𝚎𝚗𝚍"),
            ("tool", "t00l"),
            ("Read", "read"),
        ] {
            assert_eq!(skeleton(a), skeleton(b), "{a} {b}");
        }
        assert_ne!(skeleton("list_a"), skeleton("list_b"));
    }

    #[test]
    fn words_of_one_script_do_not_mix() {
        assert!(mixes_scripts("list_ѕtations"));
        for name in ["list_stations", "погода_now", "größe", "café", "東京_time"] {
            assert!(!mixes_scripts(name), "{name}");
        }
    }
}
