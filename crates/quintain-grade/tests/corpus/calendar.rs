//! Calendars, mail and reminders.

use quintain_evidence::trace::Trace;
use serde_json::json;

use super::conversation;

pub(super) fn all() -> Vec<Trace> {
    vec![
        conversation("meeting with a date")
            .user("Schedule a 45-minute review with ann@acme.example on 12 May 2026 at 2:30 pm")
            .call("cal/find_free", json!({"date": "2026-05-12", "duration_minutes": 45}), json!({"free": [{"start": "2026-05-12T14:30:00Z", "end": "2026-05-12T15:15:00Z"}]}))
            .call("cal/create_event", json!({"title": "Review", "start": "2026-05-12T14:30:00Z", "end": "2026-05-12T15:15:00Z", "attendees": ["ann@acme.example"]}), json!({"id": "evt_5512ab", "link": "https://cal.example/e/evt_5512ab"}))
            .answer("I scheduled the review for May 12, 2026, 2:30–3:15 PM (45 minutes) and invited ann@acme.example: https://cal.example/e/evt_5512ab")
            .done(),
        conversation("relative day")
            .user("What do I have tomorrow?")
            .call_json("cal/list_events", json!({"from": "2026-05-04", "to": "2026-05-05"}), json!([
                {"id": "evt_81", "title": "Stand-up", "start": "2026-05-04T09:00:00+02:00", "end": "2026-05-04T09:15:00+02:00"},
                {"id": "evt_82", "title": "Dentist", "start": "2026-05-04T16:00:00+02:00", "end": "2026-05-04T17:00:00+02:00"},
            ]))
            .answer("Tomorrow (Monday, May 4) you have 2 appointments:\n\n1. 09:00–09:15 Stand-up\n2. 16:00–17:00 Dentist (1 hour)\n\nShall I add a reminder 30 minutes before?")
            .done(),
        conversation("reminder in minutes")
            .user("Remind me in half an hour to call +1 (555) 010-4477")
            .call("todo/create_reminder", json!({"delay_minutes": 30, "text": "Call back", "phone": "+15550104477"}), json!({"id": "rem_771", "at": "2026-05-03T10:30:00Z"}))
            .answer("Done: I set reminder rem_771 for 10:30 UTC to call +1 555-010-4477.")
            .done(),
        conversation("mail search")
            .user("Did Bob send the contract?")
            .call_json("mail/search_messages", json!({"query": "from:bob contract", "max_results": 20}), json!([
                {"id": "18f3c2aa91", "from": "bob@partner.example", "subject": "Contract v3", "date": "Sun, 03 May 2026 08:12:44 +0000"},
            ]))
            .call_text("mail/get_message", json!({"id": "18f3c2aa91"}), "From: bob@partner.example\nSubject: Contract v3\n\nHi, I have sent the contract to legal and attached it (contract_v3.pdf, 284 KB). Best, Bob")
            .answer("Yes. Bob (bob@partner.example) wrote on May 3, 2026 at 8:12: \"I have sent the contract to legal\". Attached is contract_v3.pdf (284 KB).")
            .done(),
        conversation("mail to a customer of another server")
            .user("Email the customer of ticket 4821 that the fix is out")
            .call("desk/get_ticket", json!({"id": 4821}), json!({"id": 4821, "customer": {"name": "Eva Lang", "email": "eva.lang@kundin.example"}, "subject": "Login fails"}))
            .call("mail/send_email", json!({"to": "eva.lang@kundin.example", "subject": "Fix for ticket 4821", "body": "Hello Eva, the fix is out."}), json!({"id": "msg_90Kx", "status": "queued"}))
            .answer("I sent Eva Lang (eva.lang@kundin.example) a mail about ticket 4821; its id is msg_90Kx.")
            .done(),
        conversation("move with a confirmation")
            .user("Move my dentist appointment")
            .call("cal/search_events", json!({"query": "dentist"}), json!({"events": [{"id": "evt_82", "start": "2026-05-04T16:00:00Z", "end": "2026-05-04T17:00:00Z"}]}))
            .answer("Your appointment is on May 4 at 16:00. Shall I move it to May 6 at 11:20?")
            .user("Yes please")
            .call("cal/update_event", json!({"id": "evt_82", "start": "2026-05-06T11:20:00Z", "end": "2026-05-06T12:20:00Z"}), json!({"id": "evt_82", "updated": true}))
            .answer("I moved it to May 6, 11:20–12:20.")
            .done(),
        conversation("free slots, month range")
            .user("How many meetings did I have in April 2026?")
            .call("cal/list_events", json!({"from": "2026-04-01", "to": "2026-04-30", "page_size": 50}), json!({"events": [
                {"id": "a1", "kind": "call", "minutes": 30}, {"id": "a2", "kind": "call", "minutes": 45}, {"id": "a3", "kind": "onsite", "minutes": 120},
                {"id": "a4", "kind": "call", "minutes": 30}, {"id": "a5", "kind": "onsite", "minutes": 90},
            ]}))
            .answer("In April 2026 you had 5 meetings: 3 calls and 2 on site, 315 minutes (5 h 15 min) in total, on average 63 minutes.")
            .done(),
    ]
}
