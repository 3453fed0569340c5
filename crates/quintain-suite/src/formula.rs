//! Arithmetic over named numbers, for metrics that are made of others: `2 * p * r / (p + r)`.

use std::collections::BTreeMap;

/// Parentheses and signs inside of each other.
const DEPTH: usize = 64;

/// Why a formula has no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FormulaError {
    #[error("`{0}` is not known")]
    Unknown(String),
    #[error("`{0}` is no function of {1} numbers")]
    Function(String, usize),
    #[error("unexpected `{0}`")]
    Unexpected(String),
    #[error("it ends too early")]
    Ended,
    #[error("it is nested too deeply")]
    Deep,
}

/// The value of a formula. Comparisons are 1 or 0.
///
/// # Errors
/// When it is no formula, or mentions a number that is not there.
pub fn evaluate(text: &str, numbers: &BTreeMap<String, f64>) -> Result<f64, FormulaError> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0, depth: 0, numbers };
    let value = reader.ternary()?;
    match reader.peek() {
        None => Ok(value),
        Some(token) => Err(FormulaError::Unexpected(token.to_string())),
    }
}

/// Whether a text is a formula, whatever numbers it mentions.
///
/// # Errors
/// When it is none.
pub fn check(text: &str) -> Result<(), FormulaError> {
    let names = tokens(text)?.into_iter().filter_map(|token| match token {
        Token::Name(name) => Some((name, 1.0)),
        Token::Number(_) | Token::Sign(_) => None,
    });
    evaluate(text, &names.collect()).map(|_| ())
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Sign(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
            Self::Sign(sign) => f.write_str(sign),
        }
    }
}

/// Longer signs first.
const SIGNS: [&str; 17] =
    ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "^", "(", ")", ",", "?", ":"];

fn tokens(text: &str) -> Result<Vec<Token>, FormulaError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if first.is_ascii_digit() || first == '.' {
            number_length(rest)
        } else if is_name(first) {
            rest.find(|c| !is_name(c)).unwrap_or(rest.len())
        } else {
            0
        };
        let (token, length) = if length == 0 {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| FormulaError::Unexpected(first.to_string()))?;
            (Token::Sign(sign), sign.len())
        } else {
            let word = &rest[..length];
            let token = word.parse().map_or_else(|_| Token::Name(word.to_owned()), Token::Number);
            (token, length)
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Digits, a point, an exponent with its sign.
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

struct Reader<'n> {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    numbers: &'n BTreeMap<String, f64>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        match self.peek() {
            Some(Token::Sign(sign)) if signs.contains(sign) => {
                let sign = *sign;
                self.at += 1;
                Some(sign)
            }
            _ => None,
        }
    }

    fn demand(&mut self, sign: &'static str) -> Result<(), FormulaError> {
        match self.take(&[sign]) {
            Some(_) => Ok(()),
            None => Err(self
                .peek()
                .map_or(FormulaError::Ended, |token| FormulaError::Unexpected(token.to_string()))),
        }
    }

    fn ternary(&mut self) -> Result<f64, FormulaError> {
        let condition = self.comparison()?;
        if self.take(&["?"]).is_none() {
            return Ok(condition);
        }
        let yes = self.nested(Self::ternary)?;
        self.demand(":")?;
        let no = self.nested(Self::ternary)?;
        Ok(if condition == 0.0 { no } else { yes })
    }

    fn comparison(&mut self) -> Result<f64, FormulaError> {
        let mut value = self.sum()?;
        while let Some(sign) = self.take(&["==", "!=", "<=", ">=", "<", ">"]) {
            let other = self.sum()?;
            let order = value.partial_cmp(&other);
            let holds = match sign {
                "==" => order.is_some_and(std::cmp::Ordering::is_eq),
                "!=" => !order.is_some_and(std::cmp::Ordering::is_eq),
                "<=" => order.is_some_and(std::cmp::Ordering::is_le),
                ">=" => order.is_some_and(std::cmp::Ordering::is_ge),
                "<" => order.is_some_and(std::cmp::Ordering::is_lt),
                _ => order.is_some_and(std::cmp::Ordering::is_gt),
            };
            value = f64::from(u8::from(holds));
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<f64, FormulaError> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&["+", "-"]) {
            let other = self.product()?;
            value = if sign == "+" { value + other } else { value - other };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, FormulaError> {
        let mut value = self.signed()?;
        while let Some(sign) = self.take(&["*", "/", "%"]) {
            let other = self.signed()?;
            value = match sign {
                "*" => value * other,
                "/" => value / other,
                _ => value.rem_euclid(other),
            };
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<f64, FormulaError> {
        match self.take(&["-", "+"]) {
            Some("-") => Ok(-self.nested(Self::signed)?),
            Some(_) => self.nested(Self::signed),
            None => self.power(),
        }
    }

    fn power(&mut self) -> Result<f64, FormulaError> {
        let value = self.atom()?;
        match self.take(&["^"]) {
            Some(_) => Ok(value.powf(self.nested(Self::signed)?)),
            None => Ok(value),
        }
    }

    fn atom(&mut self) -> Result<f64, FormulaError> {
        if self.take(&["("]).is_some() {
            let value = self.nested(Self::ternary)?;
            self.demand(")")?;
            return Ok(value);
        }
        let token = self.peek().cloned().ok_or(FormulaError::Ended)?;
        self.at += 1;
        match token {
            Token::Number(number) => Ok(number),
            Token::Name(name) if self.take(&["("]).is_some() => self.function(&name),
            Token::Name(name) => match (self.numbers.get(&name), name.as_str()) {
                (Some(number), _) => Ok(*number),
                (None, "pi") => Ok(std::f64::consts::PI),
                (None, "e") => Ok(std::f64::consts::E),
                _ => Err(FormulaError::Unknown(name)),
            },
            Token::Sign(sign) => Err(FormulaError::Unexpected(sign.to_owned())),
        }
    }

    fn function(&mut self, name: &str) -> Result<f64, FormulaError> {
        let mut given = Vec::new();
        while self.take(&[")"]).is_none() {
            if !given.is_empty() {
                self.demand(",")?;
            }
            given.push(self.nested(Self::ternary)?);
        }
        let sum = || given.iter().sum::<f64>();
        Ok(match (name, &given[..]) {
            ("abs", [x]) => x.abs(),
            ("ceil", [x]) => x.ceil(),
            ("floor", [x]) => x.floor(),
            ("round", [x]) => x.round(),
            ("round", [x, digits]) => {
                let scale = 10f64.powf(digits.trunc());
                (x * scale).round() / scale
            }
            ("sqrt", [x]) => x.sqrt(),
            ("cbrt", [x]) => x.cbrt(),
            ("exp", [x]) => x.exp(),
            ("log", [x]) => x.ln(),
            ("log", [x, base]) => x.log(*base),
            ("log2", [x]) => x.log2(),
            ("log10", [x]) => x.log10(),
            ("pow", [x, y]) => x.powf(*y),
            ("mod", [x, y]) => x.rem_euclid(*y),
            ("sign", [x]) => f64::from(i8::from(*x > 0.0)) - f64::from(i8::from(*x < 0.0)),
            ("min", [first, rest @ ..]) => rest.iter().copied().fold(*first, f64::min),
            ("max", [first, rest @ ..]) => rest.iter().copied().fold(*first, f64::max),
            ("sum", [_, ..]) => sum(),
            ("mean", [_, ..]) => sum() / given.len() as f64,
            _ => return Err(FormulaError::Function(name.to_owned(), given.len())),
        })
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<f64, FormulaError>,
    ) -> Result<f64, FormulaError> {
        self.depth += 1;
        let value = if self.depth > DEPTH { Err(FormulaError::Deep) } else { read(self) };
        self.depth -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<f64, FormulaError> {
        let numbers = [("precision", 0.5), ("recall", 1.0), ("__count", 4.0)];
        evaluate(text, &numbers.map(|(name, number)| (name.to_owned(), number)).into())
    }

    #[test]
    fn arithmetic_binds_as_it_should() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("-2 ^ 2", -4.0),
            ("2 ^ 3 ^ 2", 512.0),
            ("7 % 4", 3.0),
            ("1.5e1 / 3", 5.0),
            ("precision / __count", 0.125),
            ("2 * precision * recall / (precision + recall)", 2.0 / 3.0),
            ("max(1, 2, 3) + min(4, 5) + round(2.345, 2)", 9.35),
            ("recall >= 1 ? 10 : 20", 10.0),
            ("sqrt(16) + abs(-1)", 5.0),
        ] {
            let found = value(text).unwrap();
            assert!((found - expected).abs() < 1e-9, "{text} = {found}");
        }
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        for text in ["", "1 +", "(1", "nothing", "f(1)", "1 2", "#", "max()"] {
            assert!(value(text).is_err(), "{text}");
        }
        assert_eq!(value(&"(".repeat(10_000)), Err(FormulaError::Deep));
        assert_eq!(value(&"-".repeat(10_000)), Err(FormulaError::Deep));
    }
}
