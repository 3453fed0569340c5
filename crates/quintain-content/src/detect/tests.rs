//! What each detector must find, and what none may.

use std::time::{Duration, Instant};

use super::*;

/// What is found with at least medium confidence.
fn found(text: &str) -> Vec<(&'static str, &str)> {
    let sure = scan(text, all()).into_iter().filter(|hit| hit.confidence >= Confidence::Medium);
    sure.map(|hit| (hit.kind, hit.text(text))).collect()
}

#[test]
fn names_are_unique_and_docs_complete() {
    let mut names = std::collections::BTreeSet::new();
    for detector in all() {
        let meta = detector.meta();
        assert!(names.insert(meta.id), "{} is there twice", meta.id);
        assert!(meta.docs.starts_with("# What it does\n"), "{}", meta.id);
        assert!(!meta.summary.ends_with('.'), "{}", meta.id);
        assert!(find(meta.id).is_some());
    }
}

/// Texts with what must be found in them.
const PII: &[(&str, &str, &str)] = &[
    ("Write to ann.lee+x@mail.acme.co.uk.", "email", "ann.lee+x@mail.acme.co.uk"),
    ("{\"to\":\"bob@acme.io\"}", "email", "bob@acme.io"),
    ("Call +44 20 7946 0958 now", "phone", "+44 20 7946 0958"),
    ("+14155552671", "phone", "+14155552671"),
    ("Phone: (415) 867-5309", "phone", "(415) 867-5309"),
    ("Tel. 030 901820", "phone", "030 901820"),
    ("IBAN DE89 3704 0044 0532 0130 00 BIC X", "iban", "DE89 3704 0044 0532 0130 00"),
    ("pay GB29NWBK60161331926819, please", "iban", "GB29NWBK60161331926819"),
    ("card 4539578763621486", "payment-card", "4539578763621486"),
    ("5425-2334-3010-9903", "payment-card", "5425-2334-3010-9903"),
    ("His SSN is 536-22-8726.", "us-ssn", "536-22-8726"),
    ("ssn: 536228726", "us-ssn", "536228726"),
    ("Passport No: C01234567", "passport", "C01234567"),
    ("passport number 123456789", "passport", "123456789"),
    ("Driver's license: D123-4567-8901", "driver-licence", "D123-4567-8901"),
    ("client 93.184.216.34 connected", "ip-address", "93.184.216.34"),
    ("from 8.8.8.8", "ip-address", "8.8.8.8"),
    ("2a00:1450:4001:82b::200e", "ip-address", "2a00:1450:4001:82b::200e"),
    ("Born on 12 March 1980 in Rome", "date-of-birth", "12 March 1980"),
    ("\"date_of_birth\": \"1980-03-12\"", "date-of-birth", "1980-03-12"),
    (
        "lives at 12 Oak Tree Road, Springfield, IL 62704, USA",
        "postal-address",
        "12 Oak Tree Road, Springfield, IL 62704",
    ),
    ("Lindenstraße 5, 10969 Berlin", "postal-address", "Lindenstraße 5, 10969 Berlin"),
    ("NINO: AB123456C", "uk-nino", "AB123456C"),
    ("AB 12 34 56 C", "uk-nino", "AB 12 34 56 C"),
    ("Steuer-ID 86095742719", "de-tax-id", "86095742719"),
    ("DNI 12345678Z", "es-dni", "12345678Z"),
    ("NIE X1234567L", "es-dni", "X1234567L"),
    ("BSN 111222333", "nl-bsn", "111222333"),
    ("Aadhaar 9999 4105 7058", "in-aadhaar", "9999 4105 7058"),
];

#[test]
fn personal_data_is_found() {
    for (text, kind, what) in PII {
        assert!(found(text).contains(&(*kind, *what)), "{kind} in {text}: {:?}", found(text));
    }
}

/// Secrets are put together here, so that nobody takes this file for a leak.
fn random(length: usize) -> String {
    "kX9vQ2mL7pR4tZ8wB3nH6yC1".chars().cycle().take(length).collect()
}

fn secrets() -> Vec<(String, &'static str)> {
    let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
    vec![
        (format!("id = {}{}", "AKIA", "QYLPMN5HZ3R7WVXT"), "aws-key"),
        (format!("{}_{}", "ghp", random(36)), "github-token"),
        (format!("{}_pat_{}_{}", "github", random(22), random(59)), "github-token"),
        (format!("{}-{}", "glpat", random(20)), "gitlab-token"),
        (format!("{}-{}-{}", "xoxb", 2_912_345_678_u64, random(24)), "slack-token"),
        (format!("{}_live_{}", "sk", random(24)), "stripe-key"),
        (format!("{}{}", "AIza", random(35)), "google-key"),
        (format!("{}-proj-{}", "sk", random(48)), "model-key"),
        (format!("{}-ant-api03-{}", "sk", random(90)), "model-key"),
        (format!("{}_{}", "npm", random(36)), "npm-token"),
        (format!("{}-AgEIcHlwaS5vcmc{}", "pypi", random(70)), "pypi-token"),
        (format!("Bearer {header}.eyJzdWIiOiI0MiJ9.{}", random(43)), "jwt"),
        (format!("-----BEGIN RSA {} KEY-----\nMIIE{}\n", "PRIVATE", random(60)), "private-key"),
        (format!("-----BEGIN {} KEY-----\\nMIIE{}\\n", "PRIVATE", random(60)), "private-key"),
        ("postgres://app:s3cr3tPw9@db.acme.io/x".to_owned(), "url-credentials"),
        ("https://ann:kX9vQ2mL@acme.io".to_owned(), "url-credentials"),
        (format!("API_KEY = \"{}\"", random(32)), "assigned-secret"),
        ("Server=db;User Id=sa;Password=Tr0ub4dor&3;".to_owned(), "assigned-secret"),
        ("{\"password\": \"hunter2!x\"}".to_owned(), "assigned-secret"),
        (format!("aws_secret_access_key={}", random(40)), "assigned-secret"),
    ]
}

#[test]
fn every_detector_has_an_example() {
    let secrets = secrets();
    let mut kinds =
        PII.iter().map(|example| example.1).chain(secrets.iter().map(|(_, kind)| *kind));
    let kinds: std::collections::BTreeSet<&str> = kinds.by_ref().collect();
    for detector in all() {
        assert!(kinds.contains(detector.meta().id), "{} is not tried", detector.meta().id);
    }
}

#[test]
fn secrets_are_found() {
    for (text, kind) in secrets() {
        let kinds: Vec<&str> = found(&text).iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [kind], "{text}");
        let text = format!("x\n{text}\n");
        let hits = scan(&text, all());
        let masked = hits[0].masked(&text);
        assert!(!masked.contains(hits[0].text(&text)), "{masked}");
        assert!(masked.len() < 40, "{masked}");
    }
}

#[test]
fn harmless_text_is_not_found() {
    for text in [
        "550e8400-e29b-41d4-a716-446655440000",
        "d41d8cd98f00b204e9800998ecf8427e",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "commit 3f08718a5e8a80fb918603aa3d91cf55a71f0000",
        "order 4000123456789012, invoice 2024-0001234567",
        "order number 1234567890123456",
        "1.2.3.4 is version 1.2.3.4",
        "version 10.0.19041.1, chrome 120.0.6099.109, v12.10.11.100",
        "2024-01-31T12:34:56.789+02:00",
        "1700000000, 1700000000000, 1700000000000000",
        "20240131T235959Z 20240131123456",
        "12:34:56 aa:bb:cc:dd:ee:ff std::vec::Vec a::b",
        "git@github.com:org/repo.git icon@2x.png react@18.2.0 @scope/name",
        "https://example.com:8080/path http://localhost:3000/@user",
        "+1 point, 1e+12345678, a+12345678, -12345678",
        "total 1,234,567.89 EUR, 3.14159265358979",
        "ISBN 978-3-16-148410-0",
        "0000-00-00 000-00-0000 666-12-3456 900-12-3456",
        "password: <your-password> password=${DB_PASSWORD} token: {{ token }}",
        "password = os.environ['PASSWORD'] api_key=process.env.API_KEY secret: null",
        "The password: required|string|min_length and the token: something",
        "Password reset. Your secret: kindness, your key: persistence",
        "max_tokens: 4096, key: value, primary key = id, token: abcdefgh",
        "sk-fading-circle-spinner-component sk-learn",
        "AKIAIOSFODNN7EXAMPLE ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "postgres://user:password@localhost/db postgres://${USER}:${PASS}@host/db",
        "-----BEGIN PRIVATE KEY----- is the first line, -----BEGIN CERTIFICATE-----",
        "card 4242 4242 4242 4242, 4111-1111-1111-1111",
        "mail user@example.com, a@b.test, noreply@acme.io",
        "192.168.1.10 10.0.0.1 127.0.0.1 172.16.0.5 203.0.113.7 ::1 fe80::1 2001:db8::1",
        "555-0100 is not real, call 555-0123",
        "passport to success, driver licence required, born in 1980, birthday party",
        "12 Main Street is nice; the road 5 goes on",
        "AB123456C 86095742719 111222333 999941057058",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 eyJub3QiOiJhIGp3dCJ9",
        "lat 52.520008, lng 13.404954; id=123456789; 123-456",
        "DE12345678901234567890 AB12 CDEF",
        "3.0.0.1.2 and 300.1.2.3",
        "call 2024-01-31 or phone 31.01.2024",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn overlapping_hits_are_one() {
    let text = format!("token={}_{}", "ghp", random(36));
    assert_eq!(found(&text).len(), 1);
}

#[test]
fn hostile_text_takes_time_in_proportion() {
    let units = [
        "a",
        "1",
        "@",
        "a@a.",
        "eyJ-",
        "eyJa.eyJa.",
        "://a:",
        "x://a:b@c",
        "password=",
        "-----BEGIN ",
        "1 ",
        "1.",
        "+1",
        "DE89 ",
        "sk-",
        "a:",
        "\u{fffd}",
        "é1-",
        "-----BEGIN PRIVATE KEY-----\n",
        "12 Main Main ",
        "born 1 ",
        "\"key\": \"",
        "4539578763621486 ",
        "ab:cd:",
        "passport ",
    ];
    for unit in units {
        // In proportion this takes a fraction of a second, by the square of the length minutes.
        let text = unit.repeat(100_000 / unit.len());
        let started = Instant::now();
        assert!(scan(&text, all()).len() <= MAX_HITS * all().len());
        let took = started.elapsed();
        assert!(took < Duration::from_secs(10), "{unit:?} took {took:?}");
    }
}
