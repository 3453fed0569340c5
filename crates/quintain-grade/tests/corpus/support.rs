//! Tickets, wikis, search and people.

use quintain_evidence::trace::Trace;
use serde_json::json;

use super::conversation;

pub(super) fn all() -> Vec<Trace> {
    vec![
        conversation("tickets by state")
            .user("How many tickets does team Atlas have?")
            .call("desk/list_tickets", json!({"team": "Atlas", "limit": 100}), json!([
                {"key": "ATL-12", "state": "open", "age_days": 3}, {"key": "ATL-15", "state": "open", "age_days": 9}, {"key": "ATL-19", "state": "blocked", "age_days": 21}, {"key": "ATL-20", "state": "done", "age_days": 4},
            ]))
            .answer("Team Atlas has 4 tickets: 2 open (ATL-12, ATL-15), 1 blocked (ATL-19, 21 days old) and 1 done (ATL-20).")
            .done(),
        conversation("new ticket")
            .user("File a bug: the export of invoice INV-7741 fails with error 500")
            .call("desk/create_ticket", json!({"title": "Export of INV-7741 fails", "body": "HTTP 500", "invoice": "INV-7741"}), json!({"key": "BUG-3310", "url": "https://desk.example/browse/BUG-3310"}))
            .answer("I created [BUG-3310](https://desk.example/browse/BUG-3310) for the failing export of INV-7741 (error 500).")
            .done(),
        conversation("people")
            .user("What is the phone number of Jana Roth?")
            .call_json("hr/find_person", json!({"name": "Jana Roth"}), json!({"name": "Jana Roth", "employee_id": 10_442, "phone": "+49 171 5550 1234", "office": "B-217"}))
            .answer("Jana Roth (employee 10442, office B-217) has the number +49 171 55501234.")
            .done(),
        conversation("wiki")
            .user("How long do we keep logs?")
            .call_json("wiki/search", json!({"query": "log retention", "limit": 3}), json!([{"page_id": 88_213, "title": "Log retention", "url": "https://wiki.example/pages/88213"}]))
            .call_text("wiki/get_page", json!({"page_id": 88_213}), "Log retention\n\nApplication logs are kept for thirty days, audit logs for 2 years. Deletion runs at 03:00 UTC. Errors in deletion are reported to ops.")
            .answer("Application logs are kept for 30 days and audit logs for 2 years; deletion runs at 3 AM UTC. Source: https://wiki.example/pages/88213")
            .done(),
        conversation("web search")
            .user("Who won the chess world championship in 1972?")
            .call_text("web/search", json!({"query": "chess world championship 1972"}), "1. World Chess Championship 1972 - https://en.example.org/wiki/WCC_1972\nBobby Fischer beat Boris Spassky 12.5-8.5 in Reykjavik; the match lasted from July 11 to August 31, 1972.")
            .answer("Bobby Fischer won the match of 1972 against Boris Spassky, 12½ to 8½ (12.5–8.5). It lasted from 11 July to 31 August 1972.\n\nSource: https://en.example.org/wiki/WCC_1972")
            .done(),
        conversation("draft only")
            .user("Draft a mail to Eva about order 7751, do not send it")
            .call("shop/get_order", json!({"order": 7751}), json!({"order": 7751, "item": "Lamp", "ships": "2026-05-08"}))
            .answer("Here is a draft; I have not sent it:\n\nSubject: Your order 7751\n\nHi Eva,\nI have shipped your lamp, it leaves on May 8.\n\n---\nShall I send it?")
            .done(),
        conversation("sync to another server")
            .user("Copy the contacts of Initech from the CRM to the newsletter list")
            .call("crm/list_contacts", json!({"company": "Initech"}), json!([{"name": "Bill Lum", "email": "bill.lum@initech.com"}, {"name": "Tom Sy", "email": "tom.sy@initech.com"}]))
            .call("newsletter/add_subscribers", json!({"subscribers": [{"email": "bill.lum@initech.com"}, {"email": "tom.sy@initech.com"}]}), json!({"added": 2}))
            .answer("I added both contacts of Initech to the newsletter: bill.lum@initech.com and tom.sy@initech.com.")
            .done(),
        conversation("hint of a server")
            .user("Export all orders of May 2026")
            .call("shop/start_export", json!({"from": "2026-05-01", "to": "2026-05-31"}), json!({"export_id": "EXP-4410", "message": "Export started. Call get_export with export_id EXP-4410 to check its state."}))
            .call("shop/get_export", json!({"export_id": "EXP-4410"}), json!({"export_id": "EXP-4410", "state": "ready", "rows": 1932, "file": "orders-may.csv"}))
            .answer("The export EXP-4410 is ready: orders-may.csv with 1,932 rows.")
            .done(),
        conversation("conversation")
            .user("Show device D-0042")
            .call("iot/get_device", json!({"device_id": "D-0042"}), json!({"id": "D-0042", "battery": 0.87, "firmware": "3.12.4", "last_seen": "2026-05-03T11:58:21Z"}))
            .answer("Device D-0042 has firmware 3.12.4 and 87 % battery; it was last seen on May 3, 2026 at 11:58 UTC.")
            .user("And update it to 3.13.0")
            .call("iot/update_firmware", json!({"device_id": "D-0042", "version": "3.13.0"}), json!({"task": "fw-7719", "eta_s": 420}))
            .answer("I started the update to 3.13.0 (task fw-7719); it takes about 7 minutes.")
            .done(),
    ]
}
