//! Two ways to fill a template: names only, or expressions with whole numbers.

use super::ToolError;

/// Replaces `{{ name }}` where `variable` knows the name and leaves everything else as it is.
pub(super) fn fill(template: &str, variable: impl Fn(&str) -> Option<String>) -> String {
    let replaced = replace(template, |inner| Ok(variable(inner)));
    replaced.unwrap_or_else(|_| template.to_owned())
}

/// Replaces `{{ expression }}` by its value.
pub(super) fn evaluate(
    template: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, ToolError> {
    replace(template, |inner| match variable(inner) {
        Some(value) => Ok(Some(value)),
        None => Parser { rest: inner, variable: &variable, depth: 0 }.parse().map(Some),
    })
}

fn replace(
    template: &str,
    mut value_of: impl FnMut(&str) -> Result<Option<String>, ToolError>,
) -> Result<String, ToolError> {
    let mut output = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inner, tail)) = after.split_once("}}") else { break };
        output.push_str(before);
        match value_of(inner.trim())? {
            Some(value) => output.push_str(&value),
            None => output.extend(["{{", inner, "}}"]),
        }
        rest = tail;
    }
    output.push_str(rest);
    Ok(output)
}

/// A recursive descent over sums, products, brackets, numbers and names.
struct Parser<'a, V> {
    rest: &'a str,
    variable: &'a V,
    depth: usize,
}

impl<V: Fn(&str) -> Option<String>> Parser<'_, V> {
    const DEEPEST: usize = 50;

    fn parse(mut self) -> Result<String, ToolError> {
        let value = self.sum()?;
        if self.rest.trim().is_empty() { Ok(value.to_string()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> ToolError {
        ToolError::Template(format!("unexpected `{}`", self.rest.trim()))
    }

    fn eat(&mut self, operators: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let first = rest.chars().next().filter(|letter| operators.contains(letter))?;
        self.rest = &rest[first.len_utf8()..];
        Some(first)
    }

    fn sum(&mut self) -> Result<i128, ToolError> {
        let mut value = self.product()?;
        while let Some(operator) = self.eat(&['+', '-']) {
            let right = self.product()?;
            value = if operator == '+' {
                value.saturating_add(right)
            } else {
                value.saturating_sub(right)
            };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<i128, ToolError> {
        let mut value = self.atom()?;
        while let Some(operator) = self.eat(&['*', '/', '%']) {
            let right = self.atom()?;
            value = match operator {
                '*' => Some(value.saturating_mul(right)),
                '/' => value.checked_div(right),
                _ => value.checked_rem(right),
            }
            .ok_or_else(|| ToolError::Template("division by zero".into()))?;
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<i128, ToolError> {
        self.depth += 1;
        if self.depth > Self::DEEPEST {
            return Err(ToolError::Template("expression is too deep".into()));
        }
        let value = if self.eat(&['(']).is_some() {
            let value = self.sum()?;
            self.eat(&[')']).ok_or_else(|| self.unexpected())?;
            value
        } else if self.eat(&['-']).is_some() {
            self.atom()?.saturating_neg()
        } else {
            self.word()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn word(&mut self) -> Result<i128, ToolError> {
        let rest = self.rest.trim_start();
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (word, tail) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        let value = word.parse().ok().or_else(|| (self.variable)(word)?.parse().ok());
        let value = value.ok_or_else(|| self.unexpected())?;
        self.rest = tail;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        (name == "amount").then(|| "40".to_owned())
    }

    #[test]
    fn expressions_are_evaluated_with_the_usual_precedence() {
        for (template, expected) in [
            ("{{ 7*7 }}", "49"),
            ("{{ 2 + 3 * (4 - 1) }}!", "11!"),
            ("{{amount}} {{ amount / 2 }}", "40 20"),
            ("{{ -3 * 2 }}", "-6"),
            ("no braces {{", "no braces {{"),
        ] {
            assert_eq!(evaluate(template, variable).unwrap(), expected, "{template}");
        }
        let deep = format!("{{{{ {} }}}}", "(".repeat(1000));
        for template in ["{{ 1 / 0 }}", "{{ nobody }}", "{{ 1 + }}", &deep] {
            assert!(evaluate(template, variable).is_err(), "{template}");
        }
    }

    #[test]
    fn filling_knows_names_and_nothing_else() {
        assert_eq!(fill("{{ amount }} {{ 7*7 }}", variable), "40 {{ 7*7 }}");
    }
}
