//! All built-in strategies, grouped by family. To add one, write its static in the file of its family and its line in
//! `ALL`. Most are a `Converter`: a description, and a function that reads the options and returns a `Rewrite`; those
//! with several turns are a `Dialogue`.

/// `Meta::docs` of a strategy.
macro_rules! docs {
    (what: $what:expr, why: $why:expr, example: $example:expr $(,)?) => {
        concat!(
            "# What it does\n",
            $what,
            "\n\n# Why it matters\n",
            $why,
            "\n\n# Example\n```yaml\n",
            $example,
            "\n```\n"
        )
    };
}

mod adversary;
mod basic;
mod ciphers;
mod dialogue;
mod encodings;
mod flaw;
mod framing;
mod layer;
mod lift;
mod missing;
mod noise;
mod options;
mod random;
mod reader;
mod retry;
mod rewrite;
mod strategy;
mod tactic;
mod talk;
mod turn;
mod unicode;
mod wording;

pub use adversary::{Adversary, is_message};
pub use dialogue::chunked::joined;
pub use flaw::{Flaw, Mistake};
pub use lift::{Reach, Skipped, lift, objective, texts, with_text};
pub use options::Options;
pub use reader::read;
pub use rewrite::{MAX_TEXT, MAX_VARIANTS, Rewrite};
pub use strategy::{Missing, Receiver, Strategy, StrategyKind, Suits};
pub use tactic::{Tactic, options_of, parse, parse_all};
pub use talk::{Conversation, Done, History, MAX_TURNS, Talk, Turn};
pub(crate) use unicode::invisible::{operators, selectors, tags};

/// All strategies, in the order of the reference.
static ALL: &[&dyn Strategy] = &[
    &basic::BASIC,
    &layer::LAYER,
    &retry::RETRY,
    // Encodings of the same bytes.
    &encodings::bases::BASE64,
    &encodings::bases::GZIP_BASE64,
    &encodings::bases::BASE32,
    &encodings::bases::BASE58,
    &encodings::bases::BASE85,
    &encodings::digits::HEX,
    &encodings::digits::BINARY,
    &encodings::digits::OCTAL,
    &encodings::digits::DECIMAL,
    &encodings::escapes::URL,
    &encodings::escapes::HTML_ENTITIES,
    &encodings::escapes::UNICODE_ESCAPE,
    &encodings::escapes::HEX_ESCAPE,
    &encodings::escapes::JSON_STRING,
    &encodings::escapes::CSS_ESCAPE,
    &encodings::literals::SQL_CHAR,
    &encodings::literals::JS_CHAR_CODES,
    &encodings::literals::SHELL_OCTAL,
    &encodings::literals::STRING_CONCAT,
    &encodings::mail::QUOTED_PRINTABLE,
    &encodings::mail::UUENCODE,
    &encodings::mail::MIME_WORD,
    // Ciphers and signals.
    &ciphers::shifts::ROT13,
    &ciphers::shifts::CAESAR,
    &ciphers::shifts::ATBASH,
    &ciphers::shifts::ROT47,
    &ciphers::shifts::VIGENERE,
    &ciphers::signals::MORSE,
    &ciphers::signals::BRAILLE,
    &ciphers::signals::NATO,
    &ciphers::signals::A1Z26,
    &ciphers::signals::BACON,
    &ciphers::signals::TAP_CODE,
    &ciphers::transposition::REVERSE,
    &ciphers::transposition::RAIL_FENCE,
    &ciphers::transposition::ODD_EVEN,
    &ciphers::bijection::BIJECTION,
    // Unicode.
    &unicode::lookalikes::HOMOGLYPH,
    &unicode::lookalikes::CONFUSABLE,
    &unicode::invisible::ASCII_SMUGGLING,
    &unicode::invisible::EMOJI,
    &unicode::invisible::SNEAKY_BITS,
    &unicode::invisible::ZERO_WIDTH,
    &unicode::direction::BIDI,
    &unicode::marks::ZALGO,
    &unicode::marks::DIACRITICS,
    &unicode::marks::STRIKETHROUGH,
    &unicode::shapes::FULL_WIDTH,
    &unicode::shapes::SUPERSCRIPT,
    &unicode::shapes::SMALL_CAPS,
    &unicode::shapes::UPSIDE_DOWN,
    &unicode::shapes::MATH_LETTERS,
    &unicode::shapes::CIRCLED,
    &unicode::arabic::TATWEEL,
    &unicode::arabic::ARABIC_FORMS,
    &unicode::arabic::ARABIZI,
    // Spelling, spacing and affixes.
    &wording::spelling::LEETSPEAK,
    &wording::spelling::PIGLATIN,
    &wording::spelling::CAMELCASE,
    &wording::spelling::FIRST_LETTER,
    &wording::spelling::COLLOQUIAL,
    &wording::spacing::CHAR_SPACE,
    &wording::spacing::STRING_JOIN,
    &wording::spacing::WORD_SPLIT,
    &wording::affixes::PREFIX,
    &wording::affixes::SUFFIX,
    &wording::affixes::REPEAT_TOKEN,
    &wording::affixes::SEARCH_REPLACE,
    &wording::selective::SELECTIVE,
    &wording::languages::MULTILINGUAL,
    // Random noise.
    &noise::characters::RANDOM_CASE,
    &noise::characters::CHAR_SWAP,
    &noise::characters::CHAR_NOISE,
    &noise::characters::CHAR_DELETE,
    &noise::characters::INSERT_PUNCTUATION,
    &noise::best_of_n::BEST_OF_N,
    &noise::gcg::GCG,
    &noise::terminal::ANSI,
    // Frames around the text.
    &framing::templates::JAILBREAK_TEMPLATES,
    &framing::templates::COMPOSITE,
    &framing::templates::LIKERT,
    &framing::templates::TASK_FRAMING,
    &framing::templates::NEGATION_TRAP,
    &framing::markup::POLICY_PUPPETRY,
    &framing::markup::AUTHORITATIVE_MARKUP,
    &framing::code::CODE_ATTACK,
    &framing::code::CODE_CHAMELEON,
    &framing::decode::ASK_TO_DECODE,
    &framing::decode::FLIP,
    &framing::puzzles::ACROSTIC,
    &framing::puzzles::SATA_MASKING,
    &framing::puzzles::MATH_OBFUSCATION,
    &framing::puzzles::TEMPLATE_SEGMENT,
    &framing::puzzles::ANAGRAM,
    &framing::art::ASCII_ART,
    &framing::scholarly::CITATION,
    &framing::scholarly::MATH_PROMPT,
    &framing::web_page::INDIRECT_WEB_PWN,
    &framing::shots::MANY_SHOT,
    // Conversations.
    &dialogue::crescendo::CRESCENDO,
    &dialogue::skeleton_key::SKELETON_KEY,
    &dialogue::chunked::CHUNKED,
    &dialogue::multi_prompt::MULTI_PROMPT,
    &dialogue::tree::PAIR,
    &dialogue::tree::TAP,
    &dialogue::led::CUSTOM,
    &dialogue::led::MISCHIEVOUS_USER,
    &dialogue::phased::GOAT,
    &dialogue::phased::GOBLIN,
    &dialogue::phased::SIMBA,
    &dialogue::hydra::HYDRA,
    // Known, but not available: other media than text.
    &missing::AUDIO,
    &missing::IMAGE,
    &missing::VIDEO,
];

pub fn all() -> &'static [&'static dyn Strategy] {
    ALL
}

/// The strategy with this name or alias.
pub fn find(name: &str) -> Option<&'static dyn Strategy> {
    ALL.iter().copied().find(|strategy| strategy.meta().answers_to(name))
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
