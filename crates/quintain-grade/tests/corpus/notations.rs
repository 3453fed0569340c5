//! The same values in other notations, and sentences that are not claims.

use quintain_evidence::trace::Trace;
use serde_json::json;

use super::conversation;

pub(super) fn all() -> Vec<Trace> {
    vec![
        conversation("issue in a URL")
            .user("Close https://git.example/acme/api/issues/482 as a duplicate of #455")
            .call("git/get_issue", json!({"owner": "acme", "repo": "api", "issue_number": 482}), json!({"number": 482, "state": "open", "title": "Quotes"}))
            .call("git/close_issue", json!({"owner": "acme", "repo": "api", "issue_number": 482, "duplicate_of": 455}), json!({"number": 482, "state": "closed"}))
            .answer("I closed issue #482 as a duplicate of #455.")
            .done(),
        conversation("quarter")
            .user("Sales of Q2 2026, please")
            .call("bi/get_sales", json!({"from": "2026-04-01", "to": "2026-06-30"}), json!({"months": [{"month": "2026-04", "sales": 81_200}, {"month": "2026-05", "sales": 79_950}, {"month": "2026-06", "sales": 90_310}]}))
            .answer("### 1. Overview\n\nSales in Q2 2026 were 251,460 in total, on average 83,820 a month.\n\n### 2. Months\n\n- April: 81.2k\n- May: 79.95k\n- June: 90.31k, 13 % more than in May")
            .done(),
        conversation("time zones")
            .user("When does the launch start in Berlin?")
            .call_json("space/get_launch", json!({"name": "Ariane"}), json!({"window_start": "2026-07-09T18:20:00Z", "window_end": "2026-07-09T20:05:00Z", "pad": "ELA-4"}))
            .answer("The window opens on July 9, 2026 at 20:20 CEST (18:20 UTC) and closes at 22:05 CEST, so it lasts 1 h 45 min. Pad: ELA-4.")
            .done(),
        conversation("identifiers in other letter case")
            .user("Revoke key 3F2504E0-4F89-11D3-9A0C-0305E82C3301")
            .call("keys/get_key", json!({"key_id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"}), json!({"id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "created": "2024-11-30", "uses": 17_204}))
            .call("keys/revoke_key", json!({"key_id": "3f2504e0-4f89-11d3-9a0c-0305e82c3301"}), json!({"revoked": true}))
            .answer("I revoked the key 3f2504e0-4f89-11d3-9a0c-0305e82c3301. It was created on 30 November 2024 and was used 17,204 times.")
            .done(),
        conversation("passives and negations")
            .user("What happened to invoice INV-6610?")
            .call("billing/get_invoice", json!({"invoice_id": "INV-6610"}), json!({"id": "INV-6610", "created": "2026-04-14", "created_by": "Ann", "sent": "2026-04-15", "paid": null, "amount": 780}))
            .answer("Invoice INV-6610 over $780 was created by Ann on April 14, 2026 and has been sent to the customer on April 15. It is not paid yet, and I have not sent a reminder. I can send one with a late fee of $25 if you like. Do you want me to set a limit of 14 days?")
            .done(),
        conversation("composed answer")
            .user("Compare the sizes of our three backups")
            .call("backup/list_backups", json!({}), json!([{"name": "mon.tar", "bytes": 5_368_709_120_u64}, {"name": "tue.tar", "bytes": 5_905_580_032_u64}, {"name": "wed.tar", "bytes": 4_294_967_296_u64}]))
            .answer("I've created a table of the three backups:\n\n| Backup | Size (GiB) |\n|---|---|\n| mon.tar | 5.0 |\n| tue.tar | 5.5 |\n| wed.tar | 4.0 |\n\nI have added the sizes in GiB; the largest is tue.tar.")
            .done(),
        conversation("swiss price and shares")
            .user("Pay a third of CHF 1'250.50 from account CH-4471 to account CH-9902")
            .call("bank/get_account", json!({"account": "CH-4471"}), json!({"id": "CH-4471", "balance": 8210.35, "currency": "CHF"}))
            .answer("The balance of CH-4471 is CHF 8'210.35. Shall I transfer CHF 416.83 to CH-9902?")
            .user("Yes")
            .call("bank/transfer", json!({"from": "CH-4471", "to": "CH-9902", "amount": 416.83}), json!({"id": "TX-70012", "balance": 7793.52}))
            .answer("I transferred CHF 416.83; the new balance is CHF 7'793.52 (TX-70012).")
            .done(),
        conversation("radius and ratings")
            .user("Any good ramen within 2 km of my hotel, Hotel Fuji?")
            .call("maps/find_place", json!({"query": "Hotel Fuji"}), json!({"lat": 35.689_512, "lng": 139.691_704, "place_id": "ChIJ51cu8IcbXWAR"}))
            .call("maps/search_nearby", json!({"lat": 35.6895, "lng": 139.6917, "radius": 2000, "keyword": "ramen"}), json!({"results": [
                {"name": "Menya", "rating": 4.7, "reviews": 2211, "distance": 640}, {"name": "Ichi", "rating": 4.4, "reviews": 987, "distance": 1320}, {"name": "Nana", "rating": 3.9, "reviews": 54, "distance": 1890},
            ]}))
            .answer("Two places stand out:\n\n1. **Menya**: 4.7/5 from 2,211 reviews, 640 m away (about an 8-minute walk)\n2. **Ichi**: 4.4/5 from nearly 1,000 reviews, 1.3 km away\n\nTip: arrive 15 minutes early, it is usually full.")
            .done(),
        conversation("duration of a video")
            .user("How long is video dQw4w9WgXcQ and how many views does it have?")
            .call("video/get_video", json!({"video_id": "dQw4w9WgXcQ"}), json!({"duration": "PT3H32M", "views": 1_712_345_678_u64, "likes": 18_200_450, "published": "2009-10-25T06:57:33Z"}))
            .answer("It is 3 hours 32 minutes long and has 1.71 billion views and 18.2 million likes. It was published on October 25, 2009.")
            .done(),
        conversation("new file in a named folder")
            .user("Put a to-do list for the move into ~/notes")
            .call_text("fs/list_directory", json!({"path": "~/notes"}), "ideas.md\nbooks.md")
            .call_text("fs/write_file", json!({"path": "~/notes/todo-move.md", "content": "- [ ] boxes\n- [ ] van"}), "ok")
            .answer("I saved a to-do list with 2 points as ~/notes/todo-move.md.")
            .done(),
        conversation("request by HTTP")
            .user("Subscribe eva@kundin.example to plan 7 through our API at https://api.acme.example/v2/subscriptions")
            .call_json("http/fetch", json!({"method": "POST", "url": "https://api.acme.example/v2/subscriptions", "body": {"email": "eva@kundin.example", "plan": 7}}), json!({"subscriptions": "created", "id": 90_771}))
            .answer("I have created the subscription 90771 for eva@kundin.example on plan 7.")
            .done(),
        conversation("sensor log")
            .user("Was cold room KR-3 too warm on 2 May 2026?")
            .call_text("iot/get_log", json!({"sensor": "KR-3", "day": "2026-05-02"}), "06:00 3.8\n09:00 4.1\n12:00 6.9\n15:00 5.2\n18:00 4.0\nlimit 6.0")
            .answer("Yes, once: at 12:00 it had 6.9 °C, 0.9 °C above the limit of 6 °C. The other four readings were fine (3.8 to 5.2 °C).")
            .done(),
        conversation("pages of a document")
            .user("Summarise contract.pdf")
            .call_json("docs/read_pdf", json!({"file": "contract.pdf", "pages": "1-3"}), json!({"pages": 12, "text": "§ 4 The term is 24 months. § 7 Either side may terminate with three months' notice. § 9 The fee is EUR 1.950,00 per month."}))
            .answer("contract.pdf has 12 pages. The main points:\n\n* Term: 24 months (§ 4)\n* Notice: 3 months (§ 7)\n* Fee: €1,950 per month (§ 9), i.e. €46,800 in total")
            .done(),
        conversation("dosage")
            .user("How much of the medicine for 18 kg at 15 mg per kg?")
            .call_text("med/get_drug", json!({"name": "paracetamol"}), "Oral suspension 120 mg / 5 ml. Maximum 60 mg/kg per day.")
            .answer("At 15 mg/kg and 18 kg that is 270 mg each. The suspension has 120 mg per 5 ml. The maximum is 60 mg/kg, i.e. 1,080 mg per day.")
            .done(),
        conversation("status in prose")
            .user("Is pod web-7f9c ok?")
            .call_text("k8s/get_pod", json!({"name": "web-7f9c"}), "web-7f9c  1/1  Running  restarts=14  age=26d  cpu=230m  memory=512Mi  node=node-03")
            .answer("I have looked it up: pod web-7f9c is running on node-03. It restarted 14 times in 26 days and uses 512 MiB of memory and 230m CPU.")
            .done(),
        conversation("two steps with the same object")
            .user("Rename board 8812 to Roadmap and archive the card \"Old\" on it")
            .call("boards/get_board", json!({"board_id": "8812"}), json!({"id": 8812, "version": 3, "cards": [{"id": 501, "title": "Old"}, {"id": 502, "title": "New"}]}))
            .call("boards/rename_board", json!({"board_id": "8812", "name": "Roadmap", "version": 3}), json!({"id": 8812, "version": 4}))
            .call("boards/archive_card", json!({"board_id": "8812", "card_id": 501, "version": 4}), json!({"id": 8812, "version": 5}))
            .answer("I renamed board 8812 to Roadmap and archived the card \"Old\"; one card is left.")
            .done(),
        conversation("shares of a poll")
            .user("How did the poll go?")
            .call("poll/get_results", json!({}), json!({"yes": 128, "no": 64, "abstained": 8}))
            .answer("200 people voted: 128 yes (64 %), 64 no (32 %) and 8 abstained (4 %). Yes won by 64 votes.")
            .done(),
        conversation("percent change")
            .user("Compare visits in March and April")
            .call("web/get_visits", json!({"month": "2026-03"}), json!({"visits": 18_250, "bounce": 0.41}))
            .call("web/get_visits", json!({"month": "2026-04"}), json!({"visits": 21_900, "bounce": 0.385}))
            .answer("Visits rose from 18,250 to 21,900, an increase of 3,650 (+20 %). The bounce rate fell from 41 % to 38.5 %, i.e. by 2.5 percentage points.")
            .done(),
        conversation("attempts")
            .user("Restart the printer PR-22")
            .call_failed("print/restart", json!({"printer": "PR-22"}), "timeout after 30 s")
            .call_failed("print/restart", json!({"printer": "PR-22"}), "timeout after 30 s")
            .answer("I tried to restart PR-22 twice, but both attempts ended with a timeout after 30 seconds. I couldn't restart it, so nothing was changed. You could unplug it for 10 seconds.")
            .done(),
    ]
}
