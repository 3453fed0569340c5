//! The values of an answer that no result, message or argument has.

use std::cell::RefCell;
use std::collections::HashSet;

use super::arithmetic::{Context, Operands, Periods, is_rough};
use super::counted;
use crate::values::date::{self, Day};
use crate::values::derived::is_item;
use crate::values::grounds;
use crate::values::groups;
use crate::values::known::{Known, Search};
use crate::values::prose::{Mood, Sentence};
use crate::values::shape;
use crate::values::spaced;
use crate::values::token::{Kind, Number, Token, Written, tokens};
use crate::values::units::{Dimension, PERCENT, Unit, named};
use crate::values::word_list::WordList;
use crate::view::View;

/// A value that an answer states and nothing supports.
pub(super) struct Unsupported {
    pub(super) what: &'static str,
    pub(super) text: String,
    pub(super) sentence: String,
}

/// Small numbers by which people count and order what they say themselves.
const SMALL: f64 = 2.0;
/// Numbers of a sentence by which others are multiplied.
const MAX_FACTORS: usize = 8;
/// Smaller numbers are products of anything.
const SMALLEST_PRODUCT: f64 = 10.0;
/// A number with this number of units in its last place may be rounded.
const LONG: f64 = 1000.0;
/// Parts of lists are counted up to this number.
const MAX_PART: f64 = 20.0;

pub(super) fn unsupported(
    view: &View<'_>,
    step: usize,
    text: &str,
    sentences: &[Sentence<'_>],
) -> Vec<Unsupported> {
    let answer = ReadAnswer::new(view, step, text);
    let periods = Periods::new(text);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut at = 0;
    for sentence in sentences {
        while answer.tokens.get(at).is_some_and(|token| token.start < sentence.start) {
            at += 1;
        }
        let own = answer.tokens[at..].iter().take_while(|token| token.start < sentence.end);
        if matches!(sentence.mood, Mood::Question | Mood::Offer) {
            continue;
        }
        let context = Context::new(sentence.text, &periods);
        let own: Vec<&Token<'_>> = own.collect();
        let factors = answer.factors(&own);
        for token in own {
            let Some(what) = answer.missing(token, &context, &factors) else { continue };
            if seen.insert(token.text) && found.len() < 30 {
                let sentence = sentence.text.trim().to_owned();
                found.push(Unsupported { what, text: token.text.to_owned(), sentence });
            }
        }
    }
    found
}

struct ReadAnswer<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    known: &'a Known,
    before: usize,
    /// How long the lists in the answer are, and how many calls were made.
    counts: HashSet<usize>,
    operands: RefCell<Operands>,
}

impl<'a> ReadAnswer<'a> {
    fn new(view: &'a View<'_>, before: usize, text: &'a str) -> Self {
        let known = view.known();
        let tokens = tokens(text);
        let mut counts = lists(text);
        counts.insert(view.calls.partition_point(|call| call.step < before));
        let search = Search { units: true, sums: true, pairs: true, ..Search::default() };
        let numbers = || {
            tokens.iter().filter_map(|token| match &token.kind {
                Kind::Number(number) => Some(*number),
                _ => None,
            })
        };
        let longest = known.longest_list(before) as f64;
        let counts_items = |number: &Number| {
            let value = number.readings.first.value;
            number.is_count()
                && (value <= MAX_PART.min(longest)
                    || known.number(number, before, Search { counts: true, ..Search::default() }))
        };
        let operands = Operands::new(
            numbers().filter(|number| known.number(number, before, search)),
            numbers().filter(counts_items),
            known,
            before,
        );
        Self { text, tokens, known, before, counts, operands: RefCell::new(operands) }
    }

    /// What kind of value a token is, if nothing supports it.
    fn missing(
        &self,
        token: &Token<'_>,
        context: &Context,
        factors: &[f64],
    ) -> Option<&'static str> {
        let (known, before) = (self.known, self.before);
        if known.word(token.text, before) {
            return None;
        }
        let digits = token.text.bytes().filter(u8::is_ascii_digit).count();
        let (what, is_supported) = match &token.kind {
            // A number of this length is an id, and more precise than floating point.
            Kind::Number(_) if digits == token.text.len() && digits > 15 => ("id", false),
            Kind::Number(number) => ("number", self.number(number, token, context, factors)),
            Kind::Days(days) => ("date", days.iter().any(|day| grounds::day(known, *day, before))),
            Kind::Month(year, month) => (
                "date",
                year.is_none()
                    || known.month(*year, *month, before)
                    || known.leaves_day_open(before),
            ),
            Kind::Time(time) => ("time", self.time(*time, token)),
            Kind::Url => ("URL", grounds::url(known, token.text, before)),
            Kind::Email => ("e-mail address", known.word(token.text, before)),
            Kind::Path => ("path", self.path(token.text)),
            Kind::Id => ("id", self.id(token.text)),
            Kind::Phone(digits) => ("telephone number", known.phone(digits, before)),
            Kind::Word if self.is_code(token) => ("id", false),
            Kind::Word => return None,
        };
        (!is_supported && !self.is_grouped(token)).then_some(what)
    }

    /// Whether capital letters are an id, because of the words before: `Your booking reference is QXWTRA`.
    fn is_code(&self, token: &Token<'_>) -> bool {
        static NOUNS: WordList = WordList::new(
            "reference ref pnr locator confirmation booking reservation tracking voucher coupon \
             code id number",
        );
        let is_capital = token.text.bytes().all(|byte| byte.is_ascii_uppercase());
        if token.text.len() < 5 || !is_capital {
            return false;
        }
        let before = self.text[..token.start].trim_end_matches([' ', '*', '`', ':', '#', '"', '(']);
        let mut words = before.rsplit(|c: char| !c.is_alphanumeric()).take(2);
        let last = words.next().unwrap_or_default().to_lowercase();
        let is_noun = |word: &str| NOUNS.has(&word.to_lowercase());
        is_noun(&last) || matches!(last.as_str(), "is" | "was") && words.next().is_some_and(is_noun)
    }

    /// Whether a token is part of a value that is written in groups, or a day without its year: `21.12.`
    fn is_grouped(&self, token: &Token<'_>) -> bool {
        let (known, before) = (self.known, self.before);
        if !matches!(token.kind, Kind::Number(_) | Kind::Id | Kind::Phone(_)) {
            return false;
        }
        let near = self.text[..token.start].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[near..].lines().next().unwrap_or_default();
        let place = token.start - near;
        let is_known = |run: &groups::Run| {
            (run.start..run.end).contains(&place)
                && (known.word(&run.joined, before) || known.phone(&run.joined, before))
        };
        let as_number = || {
            let all = spaced::numbers(line);
            let own = all.iter().find(|one| (one.start..one.end).contains(&place))?;
            let search = Search { sums: true, ..Search::default() };
            Some(known.number(&Number::plain(own.readings), before, search))
        };
        let as_day = || {
            let (day, month) = token.text.trim_end_matches('.').split_once('.')?;
            let day = Day::new(None, month.parse().ok()?, day.parse().ok()?)?;
            let is_dotted = self.text[token.end..].starts_with('.') || token.text.ends_with('.');
            Some(is_dotted && grounds::day(known, day, before))
        };
        groups::runs(line).iter().any(is_known)
            || as_number() == Some(true)
            || as_day() == Some(true)
    }

    fn number(
        &self,
        number: &Number,
        token: &Token<'_>,
        context: &Context,
        factors: &[f64],
    ) -> bool {
        let (known, before) = (self.known, self.before);
        let reading = number.readings.first;
        let value = reading.value;
        let is_free = match number.written {
            Written::Digits => false,
            Written::Words => !counted::states_count(self.text, token, number),
            Written::Ordinal => true,
        };
        if is_free || value == 0.0 || number.is_count() && value <= SMALL {
            return true;
        }
        let is_rough = is_rough(&self.text[..token.start])
            || self.has_mark_before(token, &['~', '≈', '>', '<', '±'])
            || self.text[token.end..].starts_with('+');
        let pairs = context.compares();
        let search =
            Search { units: true, sums: true, counts: true, pairs, rough: is_rough, exact: false };
        let unit = number.unit.or_else(|| self.column_unit(token));
        let number = &Number { unit, ..*number };
        if known.number(number, before, search) || self.is_label(number, token) {
            return true;
        }
        if number.is_count() && value < 1e9 {
            let count = value as usize;
            let is_part = value <= MAX_PART && count <= known.longest_list(before);
            if is_part || self.counts.contains(&count) {
                return true;
            }
        }
        if context.is_update && self.is_updated(number) {
            return true;
        }
        let dimension = number.unit.map(|unit| unit.dimension);
        if dimension == Some(Dimension::Percent) && (value - 100.0).abs() < 1e-9 {
            return true;
        }
        if dimension == Some(Dimension::Time) && (context.is_about_now || self.span(number)) {
            return true;
        }
        let is_age = context.is_about_now && number.is_count() && value <= 200.0;
        if is_age
            && self
                .next_word(token)
                .is_some_and(|word| word.starts_with("year") || word.starts_with("month"))
        {
            return true;
        }
        let is_advice = context.is_advice
            && reading.place >= 1.0
            && value <= 100.0
            && dimension != Some(Dimension::Money);
        is_advice
            || context.is_masked && reading.place >= 1.0 && value < 10_000.0
            || self.is_computed(number, context, factors, is_rough)
    }

    /// Whether a number is computed from those of its sentence, of the user and of the results. Others are computed from it
    /// in turn.
    fn is_computed(
        &self,
        number: &Number,
        context: &Context,
        factors: &[f64],
        is_rough: bool,
    ) -> bool {
        let mut operands = self.operands.borrow_mut();
        let is_made = operands.make(number, context, is_rough)
            || self.is_product(number, factors, is_rough)
            || is_rough && self.is_product(number, operands.computed(), is_rough);
        if is_made {
            operands.add(number.readings.first.value);
        }
        is_made
    }

    /// The known numbers of a sentence, by which others are multiplied and divided.
    fn factors(&self, sentence: &[&Token<'_>]) -> Vec<f64> {
        let numbers = sentence.iter().filter_map(|token| match &token.kind {
            Kind::Number(number) if number.written != Written::Ordinal => Some(number),
            _ => None,
        });
        let search = Search { units: true, counts: true, ..Search::default() };
        let known = numbers.filter(|number| {
            let value = number.readings.first.value;
            self.known.number(number, self.before, search)
                || self.known.asked(self.before).any(|asked| same(asked, value))
        });
        let values = known.map(|number| number.readings.first.value).take(MAX_FACTORS);
        values.filter(|value| *value > 0.0 && !same(*value, 1.0)).collect()
    }

    /// Whether a number is a product with a factor: of a number in its sentence, or of the user. Short numbers are products
    /// by coincidence.
    fn is_product(&self, number: &Number, factors: &[f64], is_rough: bool) -> bool {
        let (known, before) = (self.known, self.before);
        let reading = number.readings.first;
        let value = reading.value;
        let exact = value * 1e-9;
        let is_long = value >= LONG * reading.place;
        let tolerance = if is_long { reading.place / 2.0 } else { exact };
        let by = |factor: f64, tolerance: f64| {
            let inverse = factor / value;
            grounds::made_with(known, value, tolerance, factor, before)
                || is_long && known.is_written(inverse, inverse * tolerance / value, before)
        };
        let near = if is_rough { reading.place / 2.0 } else { tolerance };
        let in_sentence = value >= SMALLEST_PRODUCT
            && factors.iter().any(|factor| !same(*factor, value) && by(*factor, near));
        let is_telling = value >= 100.0 || reading.place < 1.0;
        let asked = || known.asked(before).filter(|one| *one > 0.0 && !same(*one, 1.0));
        in_sentence || is_telling && asked().any(|factor| by(factor, tolerance))
    }

    /// Numbers that name or order something: `1.`, `Step 3`, `4/5`, `52-week`.
    fn is_label(&self, number: &Number, token: &Token<'_>) -> bool {
        let value = number.readings.first.value;
        let before = &self.text[..token.start];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let after = &self.text[token.end..];
        let is_first = line.chars().all(|c| c.is_whitespace() || "#*>-_|`([\u{2022}".contains(c));
        if is_first
            && value < 100.0
            && after.starts_with(['.', ')', ':', '\u{fe0f}', '\u{20e3}'])
            && number.is_count()
        {
            return true;
        }
        let noun = line
            .trim_end_matches([' ', '#', '*', '\u{a0}'])
            .rsplit(|c: char| !c.is_alphabetic())
            .next()
            .unwrap_or_default();
        let nouns = [
            "step", "option", "day", "phase", "part", "section", "item", "chapter", "tier",
            "level", "priority", "stage", "figure", "table", "week", "type", "top", "number", "no",
            "scenario", "example", "question", "tip", "round", "plan", "grade",
        ];
        if value <= 20.0
            && number.is_count()
            && nouns.iter().any(|one| noun.eq_ignore_ascii_case(one))
        {
            return true;
        }
        // Scales: `4/5`, `8 out of 10`.
        let scale = [4.0, 5.0, 10.0, 100.0].contains(&value)
            && (line.ends_with('/')
                || line.trim_end().ends_with(" of")
                || token.text.contains('/'));
        let usual = [
            7.0, 10.0, 12.0, 14.0, 24.0, 28.0, 30.0, 50.0, 52.0, 60.0, 90.0, 100.0, 180.0, 200.0,
            365.0,
        ];
        let joined = token.text.contains('-')
            || after.starts_with('-') && after[1..].starts_with(char::is_alphabetic);
        let is_noun = joined
            && number.unit.is_none_or(|unit| unit.dimension == Dimension::Time)
            && usual.contains(&value);
        let around_clock = token.text == "24/7";
        scale || is_noun || around_clock || joined && number.unit.is_none() && value <= 10.0
    }

    /// Whether a number is a known one after a change by what the user named, or a count after a few changes.
    fn is_updated(&self, number: &Number) -> bool {
        let reading = number.readings.first;
        let near = |value: f64| {
            value > 0.0 && self.known.is_written(value, reading.place / 2.0, self.before)
        };
        let mut asked = self.known.asked(self.before).filter(|one| *one > 0.0);
        let by_few = || {
            (1..=5).any(|few| {
                near(reading.value - f64::from(few)) || near(reading.value + f64::from(few))
            })
        };
        asked.any(|one| near(reading.value - one) || near(reading.value + one))
            || number.is_count() && by_few()
    }

    /// The unit in the head of the column in which a number is: `| Size (MB) |`.
    fn column_unit(&self, token: &Token<'_>) -> Option<Unit> {
        let start = self.text[..token.start].rfind('\n').map_or(0, |at| at + 1);
        let row = &self.text[start..token.start];
        if !row.trim_start().starts_with('|') {
            return None;
        }
        let column = row.matches('|').count();
        let above = self.text[..start].trim_end_matches('\n').rsplit('\n').take(200);
        let head = above.take_while(|line| line.trim_start().starts_with('|')).last()?;
        let cell = head.split('|').nth(column)?;
        let mut words =
            cell.split(|c: char| !c.is_alphanumeric() && c != '%').filter(|word| !word.is_empty());
        words.find_map(|word| {
            if word == "%" { Some(PERCENT) } else { named(word).filter(|_| word.len() > 1) }
        })
    }

    fn next_word(&self, token: &Token<'_>) -> Option<&str> {
        self.text[token.end..].split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty())
    }

    fn has_mark_before(&self, token: &Token<'_>, marks: &[char]) -> bool {
        self.text[..token.start].trim_end_matches(['$', '€', '£', '¥', ' ']).ends_with(marks)
    }

    /// Whether a duration lies between two known days or times.
    fn span(&self, number: &Number) -> bool {
        let Some(unit) = number.unit else { return false };
        let seconds = number.readings.first.value * unit.size;
        let slack = number.readings.first.place * unit.size / 2.0;
        let near = |span: f64| (span - seconds).abs() <= slack;
        let days = self.known.some_days(self.before);
        let by_days =
            || days.iter().any(|a| days.iter().any(|b| near(f64::from((a - b).abs()) * 86_400.0)));
        let times: Vec<u16> = self.known.times(self.before).take(64).collect();
        let by_times =
            || times.iter().any(|a| times.iter().any(|b| near(f64::from(a.abs_diff(*b)) * 60.0)));
        by_days() || by_times()
    }

    fn time(&self, time: u16, token: &Token<'_>) -> bool {
        let as_duration = |size: f64| {
            let unit = Some(Unit { dimension: Dimension::Time, size });
            let search = Search { units: true, ..Search::default() };
            let number = Number { unit, ..Number::of(f64::from(time)) };
            self.known.number(&number, self.before, search) || self.span(&number)
        };
        // A delay that a result names: 14:05 and 3 minutes.
        let is_delayed = || {
            self.known.times(self.before).take(64).any(|other| {
                let minutes = Number::of(f64::from(time.abs_diff(other)));
                let unit = Some(Unit { dimension: Dimension::Time, size: 60.0 });
                let search = Search { units: true, exact: true, ..Search::default() };
                time != other && self.known.number(&Number { unit, ..minutes }, self.before, search)
            })
        };
        let zone = self.next_word(token).unwrap_or_default();
        let is_universal = matches!(zone, "UTC" | "GMT" | "Z");
        grounds::stated_time(self.known, time, self.before, !is_universal)
            || is_delayed()
            || as_duration(60.0)
            || as_duration(1.0)
    }

    fn path(&self, path: &str) -> bool {
        let segments = shape::segments(path).count();
        let has_ending = shape::extension(path).is_some();
        // Routes of web applications look like paths, and names of products like files.
        let is_claim =
            has_ending && (segments > 1 || shape::extension(path) != Some("js")) || segments > 2;
        !is_claim || grounds::path(self.known, path, self.before, false)
    }

    fn id(&self, id: &str) -> bool {
        static USUAL: WordList = WordList::new(
            "sha aes iso rfc utf http https rsa base es ipv gpt claude covid ieee crc md mp usb \
             rtx gtx ecma cve level",
        );
        let letters = id.bytes().take_while(u8::is_ascii_alphabetic).count();
        let digits = id.bytes().filter(u8::is_ascii_digit).count();
        let prefix = &id[..letters];
        let is_version = letters <= 1
            && id[letters..].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && (digits < 4 || id.contains('.') || matches!(prefix, "v" | "V"));
        // A key of a tracker has few digits; it is one if the same tracker was named before.
        let is_key = letters >= 2
            && id[letters..].starts_with(['-', '_', '#'])
            && id[letters + 1..].bytes().all(|byte| byte.is_ascii_digit())
            && prefix.bytes().all(|byte| byte.is_ascii_uppercase())
            && self.known.word(prefix, self.before);
        let is_claim = if is_version {
            id.matches('.').count() >= 2
        } else {
            digits >= 3 || shape::is_hex(id) && id.len() >= 7 || is_key || is_mixed(id)
        };
        let is_usual = USUAL.has(&prefix.to_ascii_lowercase());
        let is_moment = date::timestamp(id).is_some();
        !is_claim || is_usual || is_moment || grounds::id(self.known, id, self.before)
    }
}

/// Whether letters and digits alternate as in references: `X7KQ2P`, `evt_8fk2Lq`.
fn is_mixed(id: &str) -> bool {
    let last = id.rsplit_once('_').map_or(id, |(_, last)| last);
    let is_plain = last.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let kinds: Vec<bool> = last.bytes().map(|byte| byte.is_ascii_digit()).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let is_prefixed = last.len() < id.len() && last.len() >= 5 && changes >= 2;
    is_plain && (is_prefixed || last.len() >= 6 && changes >= 3)
}

/// The lengths of the lists and tables in an answer.
fn lists(text: &str) -> HashSet<usize> {
    let mut lengths = HashSet::new();
    let (mut items, mut rows, mut all) = (0, 0, 0);
    for line in text.lines().chain([""]) {
        if is_item(line) {
            items += 1;
            all += 1;
        } else if !line.starts_with(' ') && !line.trim().is_empty()
            || line.is_empty() && items > 0 && rows == 0
        {
            lengths.insert(items);
            if !line.is_empty() {
                items = 0;
            }
        }
        if line.trim_start().starts_with('|') {
            rows += 1;
        } else if rows > 0 {
            // The head and the line below it do not count as rows.
            lengths.extend([rows, rows - 1, usize::saturating_sub(rows, 2)]);
            rows = 0;
        }
    }
    lengths.extend([items, all]);
    let headings = text.lines().filter(|line| line.starts_with('#')).count();
    lengths.insert(headings);
    lengths
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= b.abs() * 1e-9
}
