//! File systems and version control.

use quintain_evidence::trace::Trace;
use serde_json::json;

use super::conversation;

pub(super) fn all() -> Vec<Trace> {
    vec![
        conversation("joined path")
            .user("What does the report of March in /srv/reports say about churn?")
            .call_text("fs/list_directory", json!({"path": "/srv/reports"}), "[FILE] 2026-02.md\n[FILE] 2026-03.md\n[DIR] archive")
            .call_text("fs/read_file", json!({"path": "/srv/reports/2026-03.md"}), "# March\n\nChurn fell from 4.8 % to 3.9 %.\nNew customers: 1,204.\n")
            .answer("According to `2026-03.md`, churn fell from 4.8 % to 3.9 % in March, by 0.9 points. There were 1,204 new customers.")
            .done(),
        conversation("write a summary")
            .user("Summarise /data/survey.csv and save the summary as /data/summary.md")
            .call_text("fs/read_file", json!({"path": "/data/survey.csv"}), "name,score\nAnn,7\nBob,9\nCem,5\nDia,8\n")
            .call_text("fs/write_file", json!({"path": "/data/summary.md", "content": "# Survey\n\n4 answers, mean 7.25"}), "Wrote 34 bytes to /data/summary.md")
            .answer("I read the 4 answers (mean score 7.25, best 9, sum 29) and saved the summary to /data/summary.md.")
            .done(),
        conversation("disk usage")
            .user("Which files in ~/videos are largest?")
            .call_json("fs/list_files", json!({"path": "~/videos", "sort": "size"}), json!([
                {"name": "trip.mp4", "size": 4_485_198_112_u64}, {"name": "talk.mkv", "size": 734_003_200}, {"name": "cat.mov", "size": 52_428_800},
            ]))
            .answer("The largest is trip.mp4 with 4.5 GB, followed by talk.mkv (734 MB, or 700 MiB) and cat.mov (52.4 MB). Together they take 5.27 GB.")
            .done(),
        conversation("commits")
            .user("Who changed the parser last in acme/api?")
            .call("git/list_commits", json!({"repo": "acme/api", "path": "src/parser", "per_page": 5}), json!([
                {"sha": "9f2c4e7ab81d0c3355aa17de90b6c2f4d8e01234", "author": "Mira Holt", "date": "2026-04-28T17:41:09Z", "message": "Fix nested quotes (#482)"},
                {"sha": "1b7d90ce52aa4410f6e8b3c9d2a7f05518c4ee90", "author": "Jon Park", "date": "2026-04-20T08:02:51Z", "message": "Split the lexer (#471)"},
            ]))
            .call("git/get_commit", json!({"repo": "acme/api", "sha": "9f2c4e7ab81d0c3355aa17de90b6c2f4d8e01234"}), json!({"files": [{"filename": "src/parser/quotes.rs", "additions": 41, "deletions": 12}], "stats": {"additions": 41, "deletions": 12}}))
            .answer("Mira Holt changed it last: commit `9f2c4e7` of April 28, 2026, \"Fix nested quotes (#482)\", +41 −12 lines in `quotes.rs`. Before that came 1b7d90c by Jon Park (#471).")
            .done(),
        conversation("update with sha")
            .user("In acme/api set the version in version.txt to 2.4.1")
            .call("git/get_file", json!({"repo": "acme/api", "path": "version.txt"}), json!({"path": "version.txt", "sha": "77aa01bc9e", "content": "2.4.0\n"}))
            .call("git/update_file", json!({"repo": "acme/api", "path": "version.txt", "sha": "77aa01bc9e", "content": "2.4.1\n", "message": "Bump to 2.4.1"}), json!({"path": "version.txt", "sha": "c03d55f1a2", "commit": "e81b7720cc"}))
            .answer("I updated version.txt from 2.4.0 to 2.4.1 in commit `e81b772`.")
            .done(),
        conversation("pull request")
            .user("Open a pull request from fix/quotes to main in acme/api")
            .call("git/create_pull_request", json!({"repo": "acme/api", "head": "fix/quotes", "base": "main", "title": "Fix quotes"}), json!({"number": 512, "html_url": "https://git.example/acme/api/pull/512"}))
            .answer("I opened pull request #512: https://git.example/acme/api/pull/512")
            .done(),
        conversation("search in code")
            .user("Where do we call parse_date?")
            .call_text("code/search", json!({"pattern": "parse_date\\("}), "src/invoice.rs:118: let day = parse_date(text)?;\nsrc/import/csv.rs:64: parse_date(cell)\ntests/dates.rs:12: parse_date(\"2026-01-31\")\n")
            .answer("`parse_date` is called in 3 places:\n\n- src/invoice.rs, line 118\n- src/import/csv.rs, line 64\n- tests/dates.rs, line 12")
            .done(),
        conversation("windows path")
            .user(r"Copy C:\Users\mia\notes.txt to D:\backup")
            .call_text("fs/copy_file", json!({"source": r"C:\Users\mia\notes.txt", "destination": r"D:\backup\notes.txt"}), "1 file copied, 2048 bytes")
            .answer(r"I copied notes.txt (2 KB) to D:\backup\notes.txt.")
            .done(),
        conversation("retry after an error")
            .user("Show me the last 20 lines of /var/log/app/error.log")
            .call_failed("fs/read_file", json!({"path": "/var/log/app/error.log", "tail": 20}), "EACCES: permission denied")
            .call_text("shell/run", json!({"command": "sudo tail -n 20 /var/log/app/error.log"}), "2026-05-03 07:14:09 ERROR timeout after 3000 ms (request 8f14e45f)\n2026-05-03 07:14:12 ERROR timeout after 3000 ms (request c9f0f895)")
            .answer("Reading the file failed (permission denied), so I ran `tail` with sudo. It shows 2 timeouts after 3 seconds at 07:14, for the requests 8f14e45f and c9f0f895.")
            .done(),
    ]
}
