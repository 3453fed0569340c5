//! Checksums that distinguish valid numbers from random ones.

/// Payment cards.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = u32::from(*digit);
            match (at % 2, digit) {
                (0, digit) => digit,
                (_, digit) if digit > 4 => digit * 2 - 9,
                (_, digit) => digit * 2,
            }
        })
        .sum();
    !digits.is_empty() && sum.is_multiple_of(10)
}

/// IBAN: letters count from 10, the first four characters come last.
pub(super) fn mod_97(iban: &str) -> bool {
    let (Some(head), Some(tail)) = (iban.get(..4), iban.get(4..)) else { return false };
    let mut rest = 0_u32;
    for c in tail.chars().chain(head.chars()) {
        let Some(value) = c.to_digit(36) else { return false };
        rest = (rest * if value > 9 { 100 } else { 10 } + value) % 97;
    }
    rest == 1
}

/// German tax ids: ISO 7064, MOD 11,10.
pub(super) fn mod_11_10(digits: &[u8]) -> bool {
    let Some((check, rest)) = digits.split_last() else { return false };
    let product = rest.iter().fold(10, |product, digit| {
        let sum = (u32::from(*digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(*check)
}

/// Dutch citizen numbers: weights 9 to 2, and -1 for the last digit.
pub(super) fn eleven(digits: &[u8]) -> bool {
    let weights = [9, 8, 7, 6, 5, 4, 3, 2, -1];
    let sum: i32 =
        digits.iter().zip(weights).map(|(digit, weight)| i32::from(*digit) * weight).sum();
    digits.len() == 9 && sum != 0 && sum % 11 == 0
}

/// Indian Aadhaar numbers.
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    const STEP: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    // The dihedral group of ten elements: turns are 0 to 4, reflections 5 to 9.
    let combine = |a: u8, b: u8| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - 5 + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let permuted =
        |digit: u8, times: usize| (0..times % 8).fold(digit, |digit, _| STEP[usize::from(digit)]);
    let places = digits.iter().rev().enumerate();
    !digits.is_empty() && places.fold(0, |sum, (at, digit)| combine(sum, permuted(*digit, at))) == 0
}

/// The letter of a Spanish identity number.
pub(super) fn dni_letter(number: u32) -> u8 {
    b"TRWAGMYFPDXBNJZSQVHLCKE"[(number % 23) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().map(|digit| digit - b'0').collect()
    }

    #[test]
    fn known_numbers_hold_and_their_neighbours_do_not() {
        type Sum = fn(&[u8]) -> bool;
        let cases: [(Sum, &str); 5] = [
            (luhn, "4539578763621486"),
            (mod_11_10, "86095742719"),
            (eleven, "111222333"),
            (verhoeff, "2363"),
            (verhoeff, "999941057058"),
        ];
        for (holds, number) in cases {
            assert!(holds(&digits(number)), "{number}");
            for at in 0..number.len() {
                let mut wrong = digits(number);
                wrong[at] = (wrong[at] + 1) % 10;
                assert!(!holds(&wrong), "{wrong:?} for {number}");
            }
            assert!(!holds(&[]));
        }
    }

    #[test]
    fn ibans_and_identity_letters() {
        assert!(mod_97("DE89370400440532013000"));
        assert!(mod_97("GB29NWBK60161331926819"));
        assert!(!mod_97("DE89370400440532013001"));
        assert!(!mod_97("DE8"));
        assert_eq!(dni_letter(12_345_678), b'Z');
    }
}
