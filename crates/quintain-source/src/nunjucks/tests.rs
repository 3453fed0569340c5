//! Templates and their expected texts and values, as Nunjucks produces them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn vars() -> Map<String, Value> {
    let vars = json!({
        "name": "Ada Lovelace", "n": 3, "f": 2.50, "whole": 4.0, "yes": true, "nothing": null,
        "list": ["b", "a", "C"], "numbers": [3, 1, 2], "empty": [], "no_text": "",
        "user": {"zip": "1", "name": "bob", "tags": ["x", "y"]},
        "people": [{"n": "a", "ok": true, "g": 1}, {"n": "b", "ok": false, "g": 2}, {"n": "c", "ok": true, "g": 1}],
        "html": "<p>Hi <b>you</b></p>\n<!-- x -->", "json": "{\"a\": [1, 2]}", "long": "one two three four",
    });
    vars.as_object().cloned().unwrap_or_default()
}

fn render(text: &str) -> String {
    let env = [("HOME".to_owned(), "/home".to_owned())].into();
    Nunjucks::new(env).render(text, &vars()).unwrap_or_else(|error| format!("! {}", error.reason))
}

fn check(cases: &[(&str, &str)]) {
    for (template, expected) in cases {
        assert_eq!(render(template), *expected, "{template}");
    }
}

#[test]
fn values_print_as_in_javascript() {
    check(&[
        ("{{name}} {{ n }} {{f}} {{whole}} {{yes}}", "Ada Lovelace 3 2.5 4 true"),
        ("[{{nothing}}{{missing}}{{missing.a.b}}{{user.no}}]", "[]"),
        ("{{list}} {{user}} {{empty}}", "b,a,C [object Object] "),
        (
            "{{ 7 / 2 }} {{ 4 / 2 }} {{ 2 * n }} {{ 7 // 2 }} {{ 7 % 3 }} {{ 2 ** 3 }}",
            "3.5 2 6 3 1 8",
        ),
        ("{{env.HOME}}{{env.NO}}", "/home"),
        ("{{user['name']}} {{list[0]}} {{ list[9] }}", "bob b "),
        ("{{ html }}", "<p>Hi <b>you</b></p>\n<!-- x -->"),
        ("a\n", "a\n"),
        ("{{ name }}\n", "Ada Lovelace\n"),
    ]);
}

#[test]
fn statements_work() {
    check(&[
        ("{% if n === 3 and yes !== false %}a{% elseif x %}b{% else %}c{% endif %}", "a"),
        (
            "{% if empty %}true{% endif %}{% if no_text %}no{% endif %}{% if not nothing %}!{% endif %}",
            "true!",
        ),
        (
            "{% for x in list %}{{loop.index}}{{x}}{% if not loop.last %},{% endif %}{% endfor %}",
            "1b,2a,3C",
        ),
        ("{% for k, v in user %}{{k}}={{v}};{% endfor %}", "zip=1;name=bob;tags=x,y;"),
        ("{% for x in missing %}a{% else %}none{% endfor %}", "none"),
        ("{% set x = n + 1 %}{{ x }}", "4"),
        ("{% macro m(a, b='z') %}{{a}}{{b}}{% endmacro %}{{ m('q') }}", "qz"),
        ("{% raw %}{{ n }}{% endraw %}{% verbatim %}{% x %}{% endverbatim %}", "{{ n }}{% x %}"),
        ("a{# no {{n}} #}b {{- n -}} c", "ab3c"),
        ("{{ 'x' if n > 2 else 'y' }}{{ 'z' if n > 5 }}", "x"),
        ("{{ 'a' in list }} {{ 'Ada' in name }} {{ 'zip' in user }}", "true true true"),
        (
            "{{ n is defined }} {{ missing is defined }} {{ n is odd }} {{ no_text is truthy }}",
            "true false true false",
        ),
        ("{{ name ~ '!' ~ n }}{{ 'a' + 'b' }}", "Ada Lovelace!3ab"),
        ("{{ null }}{{ nothing === null }}", "true"),
        ("{% filter upper %}abc{% endfilter %}", "ABC"),
        ("{% for i in range(3) %}{{i}}{% endfor %}", "012"),
    ]);
}

#[test]
fn operators_convert_as_in_javascript() {
    check(&[
        (
            "{{ n == '3' }} {{ n === '3' }} {{ nothing == missing }} {{ nothing == 0 }}",
            "true false true false",
        ),
        (
            "{{ list == list }} {{ [1] == [1] }} {{ [n] == 3 }} {{ f == 2.5 }}",
            "true false true true",
        ),
        (
            "{{ 1 + '1' }} {{ 1 + 1 }} {{ 'a' ~ nothing }} {{ '5' - 2 }} {{ missing + 1 }}",
            "11 2 anull 3 NaN",
        ),
        ("{{ '10' > 9 }} {{ '10' > '9' }} {{ 1 < 2 < 3 }}", "true false true"),
        ("{% if [] and {} %}yes{% endif %} {{ not [] }} {{ (1, 2) }}", "yes false 2"),
        ("{% if not n == 3 %}yes{% else %}no{% endif %}", "no"),
        ("{{ 'x' in missing }}", "! invalid operation: `in` needs a list, a map or a text"),
        ("{{ 'me@a.org' | urlize }}", "<a href=\"mailto:me@a.org\">me@a.org</a>"),
    ]);
    let doubled =
        format!("{{% set x = '{}' %}}{}", "x".repeat(1 << 10), "{% set x = x + x %}".repeat(30));
    assert!(render(&doubled).contains("grows without bounds"));
}

#[test]
fn filters_agree_with_nunjucks() {
    check(&[
        ("{{ -3 | abs }} {{ (-2.5) | abs }}", "3 2.5"),
        ("{{ numbers | batch(2) | dump }} {{ numbers | batch(2, 0) | length }}", "[[3,1],[2]] 2"),
        ("{{ 'aBC dEF' | capitalize }} {{ 'aBC dEF' | title }}", "Abc def Abc Def"),
        ("[{{ 'ab' | center(7) }}]", "[  ab   ]"),
        (
            "{{ missing | default('d') }} {{ no_text | default('d') }} {{ no_text | default('d', true) }} {{ nothing | d('x') }}",
            "d  d ",
        ),
        (
            "{{ user | dictsort | dump }}",
            "[[\"name\",\"bob\"],[\"tags\",[\"x\",\"y\"]],[\"zip\",\"1\"]]",
        ),
        (
            "{{ user | dump }} {{ [1] | dump(2) }}",
            "{\"zip\":\"1\",\"name\":\"bob\",\"tags\":[\"x\",\"y\"]} [\n  1\n]",
        ),
        (
            "{{ '<a href=\"x\">&' | escape }} {{ '<' | safe }}",
            "&lt;a href=&quot;x&quot;&gt;&amp; <",
        ),
        ("{{ list | first }}{{ list | last }}{{ name | first }}", "bCA"),
        (
            "{{ '3.5x' | float }} {{ 'x' | float(1) }} {{ '12px' | int }} {{ 'ff' | int(0, 16) }} {{ 3.9 | int }}",
            "3.5 1 12 255 3",
        ),
        ("{% for g, p in people | groupby('g') %}{{g}}:{{ p | length }} {% endfor %}", "1:2 2:1 "),
        ("{{ 'a\nb' | indent(2) }}|{{ 'a\nb' | indent(2, true) }}", "a\n  b|  a\n  b"),
        (
            "{{ list | join }} {{ list | join('-') }} {{ people | join(',', 'n') }}",
            "baC b-a-C a,b,c",
        ),
        (
            "{{ name | length }} {{ list | length }} {{ user | length }} {{ missing | length }} {{ '😀' | length }}",
            "12 3 3 0 2",
        ),
        (
            "{{ 'abc' | list | dump }} {{ user | list | first | dump }}",
            "[\"a\",\"b\",\"c\"] {\"key\":\"zip\",\"value\":\"1\"}",
        ),
        (
            "{{ name | lower }} {{ name | upper }} {{ missing | upper }}",
            "ada lovelace ADA LOVELACE ",
        ),
        ("{{ 'a\nb' | nl2br }}", "a<br />\nb"),
        (
            "{{ people | selectattr('ok') | length }} {{ people | rejectattr('ok') | length }}",
            "2 1",
        ),
        ("{{ numbers | select('odd') | dump }} {{ numbers | reject('odd') | dump }}", "[3,1] [2]"),
        (
            "{{ 'aaa' | replace('a', 'b') }} {{ 'aaa' | replace('a', 'b', 2) }} {{ 112 | replace(1, 9) }} {{ 'ab' | replace('', '.') }}",
            "bbb bba 992 .a.b.",
        ),
        ("{{ 'abc' | reverse }} {{ numbers | reverse }}", "cba 2,1,3"),
        (
            "{{ 4.5 | round }} {{ 42.55 | round(1, 'floor') }} {{ 4.12346 | round(2) }} {{ -1.5 | round }}",
            "5 42.5 4.12 -1",
        ),
        ("{{ [1,2,3,4,5] | slice(3) | dump }}", "[[1,2],[3,4],[5]]"),
        (
            "{{ list | sort }} {{ list | sort(true) }} {{ numbers | sort }} {{ people | sort(attribute='n', reverse=true) | first | dump }}",
            "a,b,C C,b,a 1,2,3 {\"n\":\"c\",\"ok\":true,\"g\":1}",
        ),
        ("{{ html | striptags }}", "Hi you"),
        ("{{ numbers | sum }} {{ people | sum('g') }} {{ numbers | sum(none, 10) }}", "6 4 16"),
        ("[{{ '  a ' | trim }}]", "[a]"),
        (
            "{{ long | truncate(9) }} {{ long | truncate(9, true) }} {{ long | truncate(9, true, '!') }} {{ long | truncate(99) }}",
            "one two... one two t... one two t! one two three four",
        ),
        ("{{ 'a b&c' | urlencode }} {{ user | urlencode }}", "a%20b%26c zip=1&name=bob&tags=x%2Cy"),
        ("{{ long | wordcount }} {{ 3 | string }}", "4 3"),
        ("{{ (json | load).a[1] }} {{ json | load | dump }}", "2 {\"a\":[1,2]}"),
    ]);
}

#[test]
fn values_have_the_methods_of_javascript() {
    check(&[
        (
            "{{ name.length }} {{ list.length }} {{ user.length }} {{ user.tags.length + 1 }}",
            "12 3  3",
        ),
        (
            "{{ name.toUpperCase() }} {{ name.split(' ')[1] }} {{ name.split('').length }}",
            "ADA LOVELACE Lovelace 12",
        ),
        (
            "{{ name.slice(0, 3) }} {{ name.slice(-4) }} {{ list.slice(1) }} {{ name.substring(4, 8) }}",
            "Ada lace a,C Love",
        ),
        (
            "{{ name.includes('Love') }} {{ list.includes('z') }} {{ list.indexOf('a') }} {{ name.indexOf('L') }}",
            "true false 1 4",
        ),
        (
            "{{ list.join('+') }} {{ ' a '.trim() }} {{ 'a-b-c'.replace('-', '') }} {{ 'ab'.repeat(2) }}",
            "b+a+C a ab-c abab",
        ),
        ("{{ f.toFixed(2) }} {{ '7'.padStart(3, '0') }} {{ n.toString() }}", "2.50 007 3"),
        ("{{ name.startsWith('Ada') }} {{ name.charAt(0) }}", "true A"),
    ]);
}

#[test]
fn nonsense_is_an_error_and_endless_work_is_stopped() {
    for template in [
        "{{ name | nofilter }}",
        "{{ }}",
        "{% if %}",
        "{% for x in list %}",
        "{{ name.nomethod() }}",
        "{{ nofunction() }}",
        "{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}",
        "{{ 'x'.repeat(999999999) }}",
        "{{ 'x' | indent(999999999, true) }}",
        "{% for a in range(10000) %}{{ 'x'.repeat(1000000) }}{% endfor %}",
        "{{ 'x' | center(999999999) }}",
        "{% include 'a' %}",
        "{{ 'no' | load }}",
    ] {
        assert!(render(template).starts_with("! "), "{template}: {}", render(template).len());
    }
    assert_eq!(render("{{ name | nofilter }}"), "! unknown filter: filter nofilter is unknown");
}

#[test]
fn a_lone_expression_keeps_its_type() {
    let value = json!({"a": "{{n}}", "b": ["{{ user }}", "{{list | first}}", "x{{n}}"], "c": "{{missing}}", "d": 1, "e": "{{nothing}}", "f": "{{ n + 1 }}", "{{n}}": "{{whole}}"});
    let rendered = Nunjucks::default().render_value(&value, &vars()).expect("rendered");
    let user = vars()["user"].clone();
    assert_eq!(
        rendered,
        json!({"a": 3, "b": [user, "b", "x3"], "c": "", "d": 1, "e": null, "f": 4, "3": 4.0})
    );
}

#[test]
fn json_is_filled_in_without_breaking_it() {
    let mut vars = vars();
    vars.insert("bad".into(), json!("a\"b\\c\nd"));
    vars.insert("call".into(), json!("{\"tool\": \"t\", \"args\": {}}"));
    let render = |text: &str| Nunjucks::default().render_json(text, &vars);
    for (text, expected) in [
        (r#"{"a": "x {{bad}} y"}"#, json!({"a": "x a\"b\\c\nd y"})),
        (r#"{"a": {{n}}, "b": "{{n}}", "c": "n={{n}}"}"#, json!({"a": 3, "b": 3, "c": "n=3"})),
        (
            r#"{"a": {{user}}, "b": {{ user | dump }}}"#,
            json!({"a": vars["user"], "b": vars["user"]}),
        ),
        (r#"{"a": {{name}}, "b": {{bad}}}"#, json!({"a": "Ada Lovelace", "b": "a\"b\\c\nd"})),
        (r#"{"a": "{{ missing | default(\"x\") }}"}"#, json!({"a": "x"})),
        (r#"{"a": "{{ missing | default(\"x\") }}", "n": {{n}}}"#, json!({"a": "x", "n": 3})),
        (r#"{"a": "\"{{n}}\"", "b": {{n}}}"#, json!({"a": "\"3\"", "b": 3})),
        ("{{call}}", json!({"tool": "t", "args": {}})),
        ("{{user}}", vars["user"].clone()),
        (
            r"[{% for x in numbers %}{{x}}{% if not loop.last %},{% endif %}{% endfor %}]",
            json!([3, 1, 2]),
        ),
        (r#"{"a": 1}"#, json!({"a": 1})),
    ] {
        assert_eq!(render(text), Ok(expected), "{text}");
    }
    for text in ["{{name", "", "hello {{name}}", "{\"a\": {{missing}}}"] {
        assert!(render(text).is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_survives_json(value in any::<String>(), other in any::<i64>()) {
        let vars = json!({"v": value, "n": other});
        let vars = vars.as_object().cloned().unwrap_or_default();
        let templates = Nunjucks::default();
        prop_assert_eq!(templates.render_json(r#"{"a":"{{v}}"}"#, &vars), Ok(json!({"a": value})));
        let mixed = templates.render_json(r#"{"a":"{{v}}","b":"-{{v}}-","n":{{n}}}"#, &vars);
        prop_assert_eq!(mixed, Ok(json!({"a": value, "b": format!("-{value}-"), "n": other})));
        prop_assert_eq!(templates.render("{{v}}", &vars), Ok(value));
    }

    #[test]
    fn any_template_is_survived(text in "[{}%#a-c |.'\"\\n=!-]{0,40}") {
        let _ = Nunjucks::default().render(&text, &vars());
        let _ = Nunjucks::default().render_json(&text, &vars());
    }
}
