//! Texts that as a whole state a failure: "Error: ...", "Failed to ...", a stack trace, a status of HTTP. Only how a text
//! begins counts; what it mentions later is content.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::subject::Subject;
use crate::word_pattern::{Pattern, Test, compile, compile_test, is_match};

/// Characters of the first line that are looked at.
const MAX_LINE: usize = 400;
/// An error without a stack trace is not longer.
const MAX_REPORT: usize = 4_000;
/// A sentence about a failure is not longer.
const MAX_SENTENCE: usize = 300;
const MAX_PAIRS: usize = 16;

/// Texts that begin like this label themselves as errors.
static LABEL: Pattern = LazyLock::new(|| {
    compile(concat!(
        r"(?i)^(?:an?\s+|there\s+was\s+an?\s+|i\s+(?:encountered|got|received)\s+an?\s+|encountered\s+an?\s+)?",
        r"(?P<words>(?:[\w'./-]+\s+){0,4}?)(?:error|exception|failure|fault)\b\s*",
        r"(?P<rest>$|[:!.\-–—(\[{#\d]|code\b|occurred|while\b|when\b|trying\b|encountered",
        r"|(?:in|from|with|at|for)\b[^:]{0,80}:",
        r"|(?:accessing|adding|calling|connecting|creating|deleting|downloading|executing|fetching|finding|getting",
        r"|invoking|listing|loading|making|opening|parsing|performing|processing|querying|reading|removing|resolving",
        r"|retrieving|running|saving|searching|sending|updating|uploading|validating|writing)\b)",
    ))
});
/// Words before "error" with which a text is about errors.
static ABOUT: Test = LazyLock::new(|| {
    compile_test(
        r"(?i)\b(?:no|zero|any|all|without|last|latest|previous|recent|how|why|what|fix|fixed|fixing|found|common|every|each|if|about|margin|standard|mean|absolute|relative|squared|percent|percentage|rounding|measurement|typical|sampling|with|see|this|that|your|their|\d+)\b",
    )
});
/// Names of exceptions, and how programs die.
static DEATH: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"^(?:(?:Uncaught|Unhandled)\s+(?:\w+\s+)?)?[A-Za-z_][\w.$]*(?:::\w+)*(?:Error|Exception|Fault)\b\s*(?:[:(\[]|$)",
        r"|^Traceback \(most recent call last\)|^panic:|^thread '[^']*' panicked|^Exception in thread",
        r"|^(?i:unhandled|uncaught)\s+(?i:exception|error|rejection)|^Segmentation fault|^fatal:\s|^FATAL\b:?\s",
        r"|^npm ERR!|^error\[E\d+\]|^error TS\d+|^(?:ba|z|c|k)?sh: |^curl: \(\d+\)|^/bin/\w*sh: ",
        r"|^(?i:(?:the\s+)?(?:command|process|script|program)\s+(?:failed|exited|returned|terminated|crashed)\b.*)",
        r"|^(?i:exit(?:ed)?(?: with)?(?: exit)? (?:code|status):?\s*-?[1-9])",
        r"|^\[Errno \d+\]|^E[A-Z]{3,}[A-Z0-9]*: |^ORA-\d+|^SQLSTATE\[",
    ))
});
/// Codes of operating systems and protocols without other text.
static CODE: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"^E(?:NOENT|ACCES|PERM|XIST|EXIST|CONN[A-Z]+|TIMEDOUT|INVAL|ISDIR|NOTDIR|NOTEMPTY|BUSY|NOSPC|ROFS|PIPE|MFILE|HOSTUNREACH|NETUNREACH|ADDRINUSE|AGAIN)\b\s*(?:[:(]|$)",
        r"|^(?:SMTP|FTP|IMAP|LDAP|SIP|RPC|API|REST)\s+(?:error\s+)?[45]\d\d\b",
    ))
});
/// What a tool says about a change that it did not make.
static UNDONE: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"(?i)^(?:the\s+|your\s+|this\s+|that\s+)?(?:[\w'#.-]+\s+){1,4}?(?:was|were|has|have|could|is|are|can)(?:n['’]t|\s*not)\s+(?:been\s+|be\s+)?(?:\w{2,}ed|sent|made|set|paid|found|written)\b",
        r"|^invalid\s+[\w ]{1,40}[:.]|^nothing\s+(?:was|has\s+been)\s+\w+ed\b",
    ))
});
/// Titles of works begin like failures: "Failed to Launch (2006)".
static TITLE: Test = LazyLock::new(|| {
    compile_test(
        r"^(?:Failed|Failure|Unable|Cannot|Can't|Could)\b(?:\s+(?:[A-Z][\w'’:-]*|to|of|the|a|an|and|in|on|for|\(\d{4}\)))+\s*$",
    )
});
/// How servers begin politely.
static APOLOGY: Pattern = LazyLock::new(|| {
    compile(
        r"(?i)^(?:(?:we(?:'re| are)\s+|i(?:'m| am)\s+)?(?:sorry|apologies|unfortunately|oops|whoops|uh[ -]oh)\b[,.!:;]*\s+(?:but\s+)?)+",
    )
});
/// What could not be done.
static UNABLE: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"(?i)^",
        r"(?:(?:i|we|it)\s+(?:was\s+|were\s+|am\s+|are\s+)?|(?:the\s+)?(?:server|service|request|tool|api|operation|command|system|backend|database|client)\s+(?:has\s+|was\s+|is\s+)?)?",
        r"(?:failed\s+(?:to|with|because|due|while|when|after|[:\-–—])|fail(?:ed|ure)\s*[:!]|failed[.!]?$",
        r"|unable\s+to|not\s+able\s+to|could\s+not|couldn't|couldn’t|cannot|can\s+not|can't|can’t|did\s+not\s+succeed|didn't\s+succeed|(?:returned|responded\s+with|reported|encountered|resulted\s+in|raised|threw)\s+an?\s+(?:\w+\s+)?(?:error|exception))(?:\s|$|[:!.])?",
    ))
});
/// What was tried, and how it ended.
static ENDED: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"(?i)^(?:the\s+|your\s+)?(?:[\w'/-]+\s+){0,3}?",
        r"(?:request|operation|call|command|query|login|log-?in|sign-?in|authentication|authorization|connection|upload|download|transaction|payment",
        r"|execution|validation|search|lookup|update|creation|deletion|delivery|booking|reservation|transfer|import|export|insert|save|submission",
        r"|conversion|fetch|handshake|parsing|retrieval|action|access|permission|card|order|session|token|key)\s+",
        r"(?:has\s+|have\s+|was\s+|is\s+|could\s+not\s+be\s+|couldn't\s+be\s+)?",
        r"(?:failed|timed\s+out|time-?out|refused|denied|rejected|aborted|declined|unsuccessful|not\s+successful|reset\s+by|expired|forbidden|not\s+permitted|completed\s+with\s+errors)\b",
    ))
});
/// Phrases of servers for a call that they refuse.
static REFUSED: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"(?i)^(?:unauthori[sz]ed|not\s+authori[sz]ed|not\s+authenticated|forbidden|authentication\s+(?:is\s+)?required|login\s+required",
        r"|invalid\s+(?:\w+\s+)?(?:api\s+key|token|credentials?|arguments?|params?|parameters?|inputs?|requests?|json|format|date|value|id|identifier|url|uri|path|syntax|query|name|type|number|email|address|file|option)\b",
        r"|missing\s+(?:required\s+)?(?:\w+\s+)?(?:parameters?|arguments?|fields?|api\s+key|token|credentials?|property|properties|inputs?|permissions?|headers?)\b|missing\s+required\b",
        r"|rate\s*limit(?:ed)?\b|rate-limit|too\s+many\s+requests|quota\s+(?:has\s+been\s+)?exceeded|(?:api\s+)?usage\s+limit\s+(?:reached|exceeded)",
        r"|(?:the\s+)?(?:[\w-]+\s+){0,3}?(?:service|server|api|backend|database|upstream|host|endpoint)\s+(?:is\s+)?(?:temporarily\s+|currently\s+)?(?:unavailable|unreachable|not\s+available|not\s+responding|overloaded|down\b)",
        r"|internal\s+server\s+error|bad\s+gateway|bad\s+request\b|gateway\s+time-?out|request\s+time-?out|time-?out\b|timed\s+out|deadline\s+exceeded",
        r"|connection\s+(?:refused|reset|closed|aborted|lost|timed)|no\s+such\s+\w+|unknown\s+(?:tool|command|method|parameter|argument|function|error|action|operation|resource)\b",
        r"|unsupported\s+\w+|not\s+(?:yet\s+)?implemented|not\s+supported|out\s+of\s+memory|network\s+(?:is\s+)?unreachable|host\s+unreachable|no\s+space\s+left|disk\s+full",
        r"|syntax\s+error|operation\s+not\s+permitted|insufficient\s+(?:permissions?|privileges?|funds|quota|scopes?)|something\s+went\s+wrong|an?\s+unexpected\s+\w*\s*error",
        r"|tool\s+\S+\s+not\s+found|mcp\s+error\s+-?\d+|\d+\s+validation\s+errors?\s+for\b)",
    ))
});
/// A sentence about a thing that is not there, or an input that is wrong.
static ABSENT: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"(?i)(?:\bnot\s+found|\bdoes\s+not\s+exist|\bdoesn't\s+exist|\bdoes\s+not\s+have\s+access|\bno\s+longer\s+exists|\bcommand\s+not\s+found|\bno\s+such\s+(?:file|directory|table|column|user|key|host)\b",
        r"|\bis\s+a\s+required\s+property|(?:parameter|argument|field|property|input|value|key|token)\b.{0,60}\b(?:is|are)\s+(?:required|missing|invalid|not\s+valid|not\s+allowed|not\s+supported))",
    ))
});
/// A status of HTTP with its phrase.
static HTTP: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"(?i)^(?:http(?:/\d(?:\.\d)?)?\s*(?:error|status|code)?\s*(?:code)?\s*[:=]?\s*[45]\d\d\b",
        r"|(?:response\s+)?status(?:\s+code)?\s*[:=]?\s*[45]\d\d\b|error\s*[:=]?\s*[45]\d\d\b",
        r"|[45]\d\d\s*[:\-–—]?\s*(?:client\s+error|server\s+error|bad\s+request|unauthori[sz]ed|payment\s+required|forbidden|not\s+found|method\s+not\s+allowed|not\s+acceptable|request\s+time-?out|conflict|gone|precondition|payload\s+too\s+large|unsupported\s+media|unprocessable|too\s+many\s+requests|internal\s+server\s+error|not\s+implemented|bad\s+gateway|service\s+(?:temporarily\s+)?unavailable|gateway\s+time-?out)",
        r"|(?:the\s+)?(?:request|fetch|server|api|response|got|received|returned|upstream)\b.{0,80}\b(?:status(?:\s+code)?|code|http|error)[\s:(]*[45]\d\d\b)",
    ))
});
/// The title of a page that a server shows instead of the content.
static PAGE: Test = LazyLock::new(|| {
    compile_test(
        r"(?is)^\s*(?:<!doctype\s+html|<html).{0,2000}?<(?:title|h1)[^>]*>\s*(?:(?:error\s*)?[45]\d\d\b|(?:page\s+)?not\s+found\s*<|access\s+denied|forbidden\s*<|bad\s+gateway|service\s+unavailable|internal\s+server\s+error)",
    )
});
static ELEMENT: Test = LazyLock::new(|| {
    compile_test(
        r"(?i)^(?:<\?xml[^>]*>\s*)?<(?:\w+:)?(?:error|errors|fault|exception|errorresponse|errormessage)\b",
    )
});
/// The beginnings and phrases of other languages.
static FOREIGN: Test = LazyLock::new(|| {
    compile_test(concat!(
        r"(?i)^(?:错误|出错|失败|异常|无法|未能|找不到|请求失败|操作失败|エラー|오류|실패|ошибка|не\s+удалось|fehler\b|konnte\s+nicht|kann\s+\S+\s+nicht|ungültige|erreur\b|échec|impossible\s+d[e']|accès\s+refusé",
        r"|errore\b|impossibile|accesso\s+negato|error\s+al\b|fallo\b|falló|no\s+se\s+(?:pudo|puede|ha\s+podido|encontr)|acceso\s+denegado|erro\b|falha\b|não\s+foi\s+possível|fout\b|kon\s+niet|błąd\b|nie\s+udało|zugriff\s+verweigert)",
        r"|^.{0,120}(?:失败|出错|不存在|未找到|找不到|失敗しました|見つかりません|できませんでした|실패했|찾을\s+수\s+없|fehlgeschlagen|nicht\s+gefunden|existiert\s+nicht|konnte\s+nicht|introuvable|n['’]existe\s+pas|a\s+échoué|no\s+encontrad[oa]|no\s+existe|ha\s+fallado|não\s+encontrad[oa]|não\s+existe|non\s+trovat[oa]|не\s+найден\w*|не\s+существует)(?:\s*[:：].*|[\s.!。！]*)$",
    ))
});
/// Words of a failure of the service rather than of the subject.
static SERVICE: Test = LazyLock::new(|| {
    compile_test(
        r"(?i)\b(?:unavailable|time-?out|timed\s+out|unauthori[sz]ed|forbidden|denied|rate.?limit|too\s+many|invalid|refused|internal\s+server|quota|expired|missing\s+required|unknown\s+tool|executing\s+tool|calling\s+tool|api\s+key|backend|upstream|service|[45]\d\d|ENOENT|EACCES|validation)\b",
    )
});
/// Lines of logs, and lines that list something.
static LISTED: Test = LazyLock::new(|| {
    compile_test(
        r"^\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[?(?:INFO|DEBUG|WARN|WARNING|TRACE|ERROR)\b|(?:URL|Link|Source|Title):\s|https?://|\d+[.)]\s|✅|✓)",
    )
});

/// Whether a trimmed text states that all failed.
pub(super) fn states_failure(text: &str, subject: &Subject<'_>) -> bool {
    if text.is_empty() {
        return false;
    }
    let is_page = text.starts_with('<');
    if is_page {
        let head = &text[..text.floor_char_boundary(MAX_REPORT)];
        let is_short = text.len() <= 5 * MAX_REPORT;
        return is_match(&ELEMENT, head)
            || (is_short && is_match(&PAGE, head) && !subject.is_question);
    }
    let line = first_line(text);
    let stated = Stated::of(line, subject);
    let Some(stated) = stated else { return !subject.reads && ends_in_death(text) };
    let is_single = !text.contains('\n');
    // Where errors are asked for, an error that names neither tool nor argument is the content.
    let is_named = subject.is_named_in(line);
    if subject.is_log && !is_named {
        return false;
    }
    if subject.mentions_errors && !is_named && !(is_single && is_match(&SERVICE, line)) {
        return false;
    }
    match stated {
        Stated::Label | Stated::Death => is_single || is_report(text, line, subject, is_named),
        // What people wrote may begin like a failure.
        Stated::Sentence if subject.is_prose && !is_named && !is_match(&SERVICE, line) => false,
        Stated::Sentence => {
            text.len() <= MAX_SENTENCE * 2 && is_report(text, line, subject, is_named)
        }
    }
}

/// How a text states a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stated {
    /// It is labelled as an error.
    Label,
    /// A program died.
    Death,
    /// A sentence states it.
    Sentence,
}

impl Stated {
    fn of(line: &str, subject: &Subject<'_>) -> Option<Self> {
        let is_marked = line.starts_with(['❌', '✗', '✘', '⛔', '🚫']);
        // `**Error:** no such city`, `> Error: no such city`
        let line = if line.starts_with(['*', '_', '>', '`']) {
            Cow::Owned(line.replace("**", "").replace("__", "").replace('`', ""))
        } else {
            Cow::Borrowed(line)
        };
        let bare = line.trim_start_matches(|c: char| !c.is_alphanumeric() && !"[<-/".contains(c));
        let is_tag =
            |tag: &&str| bare.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
        if ["[error]", "[fatal]", "[critical]"].iter().any(is_tag) {
            return Some(Self::Label);
        }
        let bare = APOLOGY.as_ref().map_or(bare.into(), |apology| apology.replace(bare, ""));
        let bare: &str = &bare;
        if subject.reads && is_match(&TITLE, bare) {
            return None;
        }
        if is_match(&DEATH, bare) || is_match(&CODE, bare) {
            return Some(Self::Death);
        }
        if is_label(bare) || is_match(&HTTP, bare) && !subject.is_state && !subject.is_question {
            return Some(Self::Label);
        }
        let begins = [&UNABLE, &ENDED, &REFUSED].iter().any(|pattern| is_match(pattern, bare));
        let asked = subject.is_state || subject.is_question;
        let is_absent = || {
            let starts_none = bare.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("no "));
            let is_counted = bare.starts_with(|c: char| c.is_ascii_digit());
            // A sentence with further data follows: "Not in stock. The next delivery is on 2 May."
            let follows = bare.split_once(". ").map_or("", |(_, after)| after);
            let is_data = subject.reads && follows.contains(|c: char| c.is_ascii_digit());
            let is_short = bare.len() <= MAX_SENTENCE && !is_data;
            is_short && !starts_none && !is_counted && is_match(&ABSENT, bare)
        };
        let is_undone = || subject.changes && is_match(&UNDONE, bare);
        let is_stated =
            begins || is_marked || is_match(&FOREIGN, bare) || is_absent() || is_undone();
        (is_stated && !asked).then_some(Self::Sentence)
    }
}

fn is_label(line: &str) -> bool {
    let Some(found) = LABEL.as_ref().and_then(|label| label.captures(line)) else { return false };
    let words = found.name("words").map_or("", |words| words.as_str());
    let end = found.name("rest").map_or(line.len(), |rest| rest.start());
    let rest = line[end..].trim_start_matches([':', '-', '–', '—', ' ', '=']).trim();
    // "Error: none" and "standard error: 0.03" report a value.
    let value = rest.trim_end_matches(['%', '.']).to_lowercase();
    let is_none = matches!(value.as_str(), "none" | "null" | "nil" | "n/a" | "no" | "false");
    let is_measured =
        value.parse::<f64>().is_ok_and(|number| !(400.0..600.0).contains(&number) && number >= 0.0);
    !is_none && !is_measured && !is_match(&ABOUT, words)
}

fn first_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default().trim();
    &line[..line.floor_char_boundary(MAX_LINE)]
}

/// Whether the lines after the first belong to the error: details, not a log, a list or a document.
fn is_report(text: &str, line: &str, subject: &Subject<'_>, is_named: bool) -> bool {
    let rest = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let is_open = line.ends_with(['{', '[', ':', '(']);
    let mut count = 0;
    for later in rest.take(200) {
        count += 1;
        let starts_data =
            ["{\"", "[{", "[\""].iter().any(|start| later.starts_with(start)) && !is_open;
        if is_match(&LISTED, later) || starts_data {
            return false;
        }
    }
    let is_trace =
        is_match(&DEATH, line) && ["\n  ", "\n\t"].iter().any(|sign| text.contains(sign));
    if text.len() > MAX_REPORT && !is_trace && !is_open {
        return false;
    }
    // What a tool reads may begin with an error; what it states itself names what it was given, or is a heading above a
    // single sentence.
    let is_heading = count == 1 && line.trim_matches(|c: char| !c.is_alphanumeric()).len() <= 20;
    let below = text.lines().skip(1).map(str::trim).find(|line| !line.is_empty());
    let is_told = is_heading
        && below.is_some_and(|below| {
            matches!(Stated::of(below, subject), Some(Stated::Sentence)) || is_match(&UNDONE, below)
        });
    count == 0
        || is_told
        || !subject.reads
        || is_named
        || is_open
        || is_trace
        || is_match(&SERVICE, line)
}

/// Whether the output of a program ends with a stack trace.
fn ends_in_death(text: &str) -> bool {
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last = &last[..last.floor_char_boundary(MAX_LINE)];
    text.contains("Traceback (most recent call last)") && is_match(&DEATH, last)
}

/// Lines of keys and values as an object: `success: false`.
pub(super) fn pairs(text: &str) -> Option<Value> {
    const FIRST: [&str; 6] = ["error", "iserror", "ok", "status", "statuscode", "success"];
    if text.lines().nth(1).is_none() || text.lines().nth(MAX_PAIRS).is_some() {
        return None;
    }
    let mut map = Map::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (key, value) = line.split_once([':', '='])?;
        let key = key.trim();
        if key.is_empty() || key.len() > 40 || key.contains(' ') {
            return None;
        }
        if map.is_empty() && !FIRST.contains(&key.to_lowercase().replace('_', "").as_str()) {
            return None;
        }
        let value = value.trim();
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        map.insert(key.to_owned(), value);
    }
    Some(Value::Object(map))
}

/// `ENOENT`, `ECONNREFUSED`: the codes of operating systems.
pub(super) fn is_system_code(code: &str) -> bool {
    code.len() >= 5
        && code.starts_with('E')
        && code.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Call;
    use serde_json::json;

    use super::*;

    fn states(name: &str, args: Value, text: &str) -> bool {
        let call = Call::tool(name, args);
        states_failure(text.trim(), &Subject::new(&call, None))
    }

    #[test]
    fn failures_in_the_words_of_many_servers() {
        for text in [
            "Error: DDG detected an anomaly in the request",
            "error: no such order",
            "Error calling tool 'write_note': (sqlite3.OperationalError) no such table: project\n[SQL: SELECT 1]",
            "Error executing tool geocode: Connection timeout to host https://example.com/search?q=x",
            "Input validation error: 'file_hash' is a required property",
            "MCP error -32602: Invalid arguments for tool x: [\n  {\n    \"code\": \"invalid_type\"\n  }\n]",
            "Error: [\n  {\n    \"code\": \"invalid_type\"\n  }\n]",
            "An error occurred while processing your request.",
            "Unexpected error",
            "ValueError: invalid literal for int() with base 10: 'x'",
            "java.lang.IllegalStateException: closed",
            "Failed to fetch https://example.com/a - status code 403",
            "Failed to retrieve cryptocurrency data",
            "Could not connect to the database",
            "Sorry, I couldn't find that city",
            "Sorry, something went wrong.",
            "[ERROR] upstream timed out",
            "[error] no such city",
            "## Error\n\nThe city does not exist.",
            "# Error\n\nForecast 7 could not be loaded.",
            "Oops! The server returned an error (500).",
            "Request failed with status code 429",
            "Login failed: bad password",
            "Access denied",
            "Permission denied for user bob",
            "Unauthorized",
            "Invalid API key provided",
            "Missing required parameter: city",
            "Rate limit exceeded, retry in 30 s",
            "Weather service is temporarily unavailable.",
            "Unknown tool: excel_read",
            "Document /root/docs/exchange.docx does not exist",
            "User 17 not found",
            "404 Not Found",
            "HTTP 500",
            "HTTP/1.1 503 Service Unavailable",
            "HTTP error: 503",
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'a'",
            "panic: runtime error: index out of range",
            "bash: foo: command not found",
            "ENOENT: no such file or directory, open '/a'",
            "❌ Booking was not possible",
            "<html><head><title>502 Bad Gateway</title></head></html>",
            "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>",
            "插入布局失败: Package not found",
            "错误：参数无效",
            "Fehler beim Laden der Daten",
            "Erreur : ville introuvable",
            "No se pudo conectar",
            "Connection refused",
            "Operation timed out",
            "1 validation error for get_weatherArguments\ncity\n  Field required",
            "**Error**: the forecast could not be loaded",
            "**Error:** backend offline",
            "com.acme.ForecastException: station is null\n\tat com.acme.Station.load(Station.java:12)",
        ] {
            assert!(states("get_weather", json!({"city": "Paris"}), text), "{text}");
        }
    }

    #[test]
    fn contents_that_mention_errors_are_not_failures() {
        for text in [
            "",
            "Paris: 21 degrees, no errors reported",
            "No results found",
            "No matches found for 'error'",
            "0 errors, 3 warnings",
            "Found 2 errors:\n a.rs:1 unused",
            "Error handling in Rust: a guide",
            "# Error\n\nA novel in three parts.",
            "Errors: 0",
            "Error: none",
            "Standard error: 0.03",
            "Mean absolute error: 12.5",
            "1. Error: Cannot find module\n   https://example.com/1\n2. Failed to compile",
            "How to fix error: x",
            "Failover completed",
            "500 results",
            "The battle failed and the king could not return.",
            "404 is a famous area code",
            "Successfully wrote to /a/errors.log",
            "2024-05-01 12:00:00 ERROR could not connect",
            "/data/log_yesterday.txt:\n  3: ERROR",
            "Temperature: 21\nWind: 3",
            "A visa is required for entry.",
            "Title: Error: x\nURL: https://example.com",
            "<html><head><title>Cooking for 404 guests</title></head>",
        ] {
            assert!(!states("get_weather", json!({"city": "Paris"}), text), "{text}");
        }
    }

    #[test]
    fn changes_that_were_not_made_and_codes_are_failures() {
        let add = |text: &str| states("add_member", json!({"name": "Ada"}), text);
        assert!(add("The member was not added because the team is full."));
        assert!(add("Invalid name: must not be empty"));
        assert!(add("ENOENT") && add("SMTP 550: mailbox unavailable"));
        assert!(!add("The member was added; she has not been invited yet."));
        let search = |text: &str| states("search_films", json!({"q": "launch"}), text);
        assert!(!search("Failed to Launch (2006)"));
        assert!(!search("Not found in stock: K-9. Next delivery 2026-12-01."));
        assert!(search("Failed to reach the index"));
        assert!(states("log_hours", json!({"hours": 2}), "Error: the week is locked"));
    }

    #[test]
    fn what_was_asked_for_is_content() {
        let log = json!({"path": "/var/log/app.log"});
        assert!(!states(
            "read_file",
            log.clone(),
            "ERROR: connection refused\nERROR: connection refused"
        ));
        assert!(!states("read_file", log.clone(), "Error: connection refused"));
        assert!(states(
            "read_file",
            log,
            "Error: ENOENT: no such file or directory, open '/var/log/app.log'"
        ));
        assert!(!states("get_logs", json!({}), "Failed to start worker"));
        let query = json!({"q": "how to fix an error"});
        assert!(!states(
            "search",
            query.clone(),
            "Error: Cannot find module - a question\nhttps://example.com"
        ));
        assert!(states("search", query, "Error: search backend unavailable"));
        assert!(!states("check_link", json!({}), "404 Not Found"));
        assert!(!states("file_exists", json!({}), "The file does not exist"));
        assert!(!states("get_build_status", json!({}), "Build failed: 3 tests"));
        assert!(!states("get_note", json!({"id": "n1"}), "Failed to call Bob yesterday"));
        assert!(states("get_note", json!({"id": "n1"}), "Error: no such note"));
        let note = json!({"path": "notes.txt"});
        assert!(!states("read_file", note, "Error: the printer jams\nCall the office about it"));
    }

    #[test]
    fn a_program_that_dies_after_some_output_failed() {
        let output =
            "Loading\nTraceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'a'";
        assert!(states("run_python", json!({"code": "x"}), output));
        assert!(!states("read_file", json!({"path": "notes.txt"}), output));
    }

    #[test]
    fn pairs_are_read_as_an_object() {
        let value = pairs("success: false\nerror: No tag found\nmatched: []\n").unwrap();
        assert_eq!(value, json!({"success": false, "error": "No tag found", "matched": []}));
        assert_eq!(pairs("Temperature: 21\nWind: 3"), None);
        assert_eq!(pairs("error: x"), None, "a single line is a text");
    }
}
