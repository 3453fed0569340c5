//! Arithmetic over named numbers, for derived metrics: `2 * p * r / (p + r)`. The syntax is that of mathjs, which
//! promptfoo uses. Each token is translated into JavaScript, so that the code can do nothing but compute.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quintain_script::{Host, Script};
use serde_json::{Value, json};

/// Operators of mathjs, longer ones first.
const SIGNS: [&str; 17] =
    ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "^", "(", ")", ",", "?", ":"];
/// Functions with their minimum and maximum number of arguments.
const FUNCTIONS: [(&str, usize, usize); 17] = [
    ("abs", 1, 1),
    ("ceil", 1, 1),
    ("floor", 1, 1),
    ("round", 1, 2),
    ("sqrt", 1, 1),
    ("cbrt", 1, 1),
    ("exp", 1, 1),
    ("log", 1, 2),
    ("log2", 1, 1),
    ("log10", 1, 1),
    ("pow", 2, 2),
    ("mod", 2, 2),
    ("sign", 1, 1),
    ("min", 1, 255),
    ("max", 1, 255),
    ("sum", 1, 255),
    ("mean", 1, 255),
];
/// Functions that JavaScript lacks or computes differently.
const LIBRARY: &str = r"
const mod = (x, y) => x - y * Math.floor(x / y);
const sum = (...all) => all.reduce((x, y) => x + y);
const library = {
    mod, sum,
    mean: (...all) => sum(...all) / all.length,
    log: (x, base) => base === undefined ? Math.log(x) : Math.log(x) / Math.log(base),
    round: (x, digits = 0) => {
        const scale = 10 ** Math.trunc(digits);
        return Math.sign(x) * Math.round(Math.abs(x) * scale) / scale;
    },
};
const call = (name, least, most, ...given) => {
    if (given.length < least || given.length > most) {
        throw new Error(`wrong number of arguments for \`${name}\`: ${given.length}`);
    }
    return (library[name] ?? Math[name])(...given);
};
";

/// Evaluates an expression. Comparisons are 1 or 0.
///
/// # Errors
/// If the expression is invalid or uses an unknown name.
pub fn evaluate(text: &str, numbers: &BTreeMap<String, f64>) -> Result<f64, String> {
    let code = translate(text, &|name| numbers.contains_key(name))?;
    let value = Script::inline(&code)
        .run(&[("numbers", &json!(numbers))], &Host::default())
        .map_err(|error| error.to_string())?;
    // As text, since JSON has no infinity.
    let value = value.as_str().and_then(|text| text.parse().ok());
    value.ok_or_else(|| NOT_COMPLETE.to_owned())
}

/// Checks the syntax of an expression without evaluating it; any name is allowed.
///
/// # Errors
/// If the expression is invalid.
pub fn check(text: &str) -> Result<(), String> {
    let code = translate(text, &|_| true)?;
    Script::inline(&code).check().map_err(|_| NOT_COMPLETE.to_owned())
}

const NOT_COMPLETE: &str = "not a complete expression";

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'t> {
    Number(f64),
    Name(&'t str),
    Sign(&'static str),
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if first.is_ascii_digit() || first == '.' {
            number_length(rest)
        } else if is_name(first) {
            rest.find(|c| !is_name(c)).unwrap_or(rest.len())
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = *sign.ok_or_else(|| format!("unexpected `{first}`"))?;
            tokens.push(Token::Sign(sign));
            rest = rest[sign.len()..].trim_start();
            continue;
        };
        let word = &rest[..length];
        tokens.push(word.parse().map_or(Token::Name(word), Token::Number));
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Splits off a number: digits, a point, an exponent with its sign.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let exponent = matches!(byte, b'e' | b'E');
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        if exponent && matches!(bytes.get(at + 1), Some(b'+' | b'-')) && digit(at + 2) {
            at += 2;
        } else if !(byte.is_ascii_digit() || *byte == b'.' || (exponent && digit(at + 1))) {
            break;
        }
        at += 1;
    }
    at
}

/// A pair of parentheses that is being translated.
struct Level {
    /// Where the current product starts in the output: `a * b % c` becomes `mod(a * b, c)`.
    product: usize,
    /// Parentheses to close after the current operand and its powers: JavaScript does not allow `-x ** y`.
    open: usize,
}

/// Translates the expression into JavaScript that contains only numbers, operators, known functions and
/// `numbers[...]`.
fn translate(text: &str, is_known: &dyn Fn(&str) -> bool) -> Result<String, String> {
    let tokens = tokens(text)?;
    let mut code = String::new();
    let mut levels = vec![Level { product: 0, open: 0 }];
    // Whether an operand comes next, so that `-` and `+` are signs.
    let mut is_prefix = true;
    let mut is_call = false;
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        let level = levels.last_mut().ok_or(NOT_COMPLETE)?;
        let mut is_operand = false;
        match *token {
            Token::Number(number) => {
                let _ = write!(code, " {number}");
                is_operand = true;
            }
            Token::Name(name) if next == Some(&Token::Sign("(")) => {
                let known = FUNCTIONS.iter().find(|(known, ..)| *known == name);
                let known = known.ok_or_else(|| format!("unknown function `{name}`"))?;
                let _ = write!(code, " call({}, {}, {}, ", Value::from(name), known.1, known.2);
                is_call = true;
                continue;
            }
            Token::Name(name) => {
                match name {
                    _ if is_known(name) => {
                        let _ = write!(code, " numbers[{}]", Value::from(name));
                    }
                    "pi" => code.push_str(" Math.PI"),
                    "e" => code.push_str(" Math.E"),
                    _ => return Err(format!("unknown name `{name}`")),
                }
                is_operand = true;
            }
            Token::Sign("(") => {
                if !is_call {
                    code.push_str(" (");
                }
                is_call = false;
                levels.push(Level { product: code.len(), open: 0 });
            }
            Token::Sign(")") => {
                code.push(')');
                levels.pop();
                is_operand = true;
            }
            Token::Sign(sign @ ("-" | "+")) if is_prefix => {
                code.push_str(if sign == "-" { " -(" } else { " +(" });
                level.open += 1;
            }
            Token::Sign("^") => code.push_str(" **"),
            Token::Sign("%") => {
                code.insert_str(level.product, " mod(");
                code.push(',');
                level.open += 1;
            }
            Token::Sign(sign) => {
                code.push(' ');
                code.push_str(sign);
                if !matches!(sign, "*" | "/") {
                    level.product = code.len();
                }
            }
        }
        is_prefix = !is_operand;
        if is_operand && next != Some(&Token::Sign("^")) {
            let level = levels.last_mut().ok_or(NOT_COMPLETE)?;
            code.push_str(&")".repeat(std::mem::take(&mut level.open)));
        }
    }
    // Unclosed parentheses are an error here, before the wrapper below could close them.
    if levels.len() != 1 || code.contains(',') && is_list(&tokens) {
        return Err(NOT_COMPLETE.to_owned());
    }
    Ok(format!("{LIBRARY}return String(+({code}));"))
}

/// Whether there is a comma outside of a call.
fn is_list(tokens: &[Token<'_>]) -> bool {
    let mut calls = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign("(") => {
                calls.push(at > 0 && matches!(tokens[at - 1], Token::Name(_)));
            }
            Token::Sign(")") => {
                calls.pop();
            }
            Token::Sign(",") if calls.last() != Some(&true) => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, String> {
        let numbers = [("precision", 0.5), ("recall", 1.0), ("__count", 4.0), ("class", 2.0)];
        evaluate(text, &numbers.map(|(name, number)| (name.to_owned(), number)).into())
    }

    #[test]
    fn arithmetic_binds_as_it_does_in_mathjs() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("2 ^ -1 ^ 2", 0.5),
            ("2 * -3 + 1", -5.0),
            ("--2", 2.0),
            ("7 % 4", 3.0),
            ("-7 % 4", 1.0),
            ("7 % -4", -1.0),
            ("1 + 2 * 7 % 4 * 3", 7.0),
            ("10 % 4 % 3 ^ 2", 2.0),
            ("1.5e1 / 3", 5.0),
            ("precision / __count", 0.125),
            ("class * 2", 4.0),
            ("2 * precision * recall / (precision + recall)", 2.0 / 3.0),
            ("max(1, 2, 3) + min(4, 5) + round(2.345, 2)", 9.35),
            ("round(-2.5) + mean(1, 2, 3) + sum(1, 2) + mod(7, 4) + log(8, 2)", 8.0),
            ("max(-1, (2 + 1) * 2 % 4)", 2.0),
            ("recall >= 1 ? 10 : 20", 10.0),
            ("precision > recall", 0.0),
            ("sqrt(16) + abs(-1)", 5.0),
        ] {
            let found = value(text).unwrap();
            assert!((found - expected).abs() < 1e-9, "{text} = {found}");
            assert_eq!(check(text), Ok(()), "{text}");
        }
        assert_eq!(value("1 / 0"), Ok(f64::INFINITY));
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in ["", "1 +", "(1", "1)", "1)+(1", "f(1)", "1 2", "#", "()", "1, 2", "(1, 2)"] {
            assert!(value(text).is_err(), "{text}");
            assert!(check(text).is_err(), "{text}");
        }
        for text in ["a = 1", "a[0]", "'a'", "a.b", "a;b", "`a`", "{}", "a => 1", "1 // 2"] {
            assert!(check(text).is_err(), "{text}");
        }
        for text in ["nothing", "max()", "sqrt(1, 2)", "constructor", "numbers", "library"] {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(value(&"(".repeat(10_000)).is_err());
        assert!(value(&"-".repeat(10_000)).is_err());
    }
}
