//! Flights, hotels, restaurants and maps.

use quintain_evidence::trace::Trace;
use serde_json::json;

use super::conversation;

pub(super) fn all() -> Vec<Trace> {
    vec![
        conversation("flight")
            .user("Find me a flight from Berlin to Lisbon on June 5th 2026, two adults, under 400 euros")
            .call("air/search_flights", json!({"from": "BER", "to": "LIS", "date": "2026-06-05", "adults": 2, "max_price": 400}), json!({"offers": [
                {"offer_id": "OF-91F2", "flight": "TP537", "price": 189.4, "departs": "2026-06-05T06:55:00+02:00", "arrives": "2026-06-05T09:30:00+01:00", "duration": "PT3H35M"},
                {"offer_id": "OF-77A0", "flight": "FR1142", "price": 142.8, "departs": "2026-06-05T20:10:00+02:00", "arrives": "2026-06-05T22:50:00+01:00", "duration": "PT3H40M"},
            ]}))
            .answer("I found 2 flights on 5 June 2026:\n\n| Flight | Departure | Arrival | Price per person |\n|---|---|---|---|\n| TP537 | 06:55 | 09:30 | €189.40 |\n| FR1142 | 20:10 | 22:50 | €142.80 |\n\nFor two adults FR1142 costs €285.60 in total. Would you like me to book it?")
            .user("Yes, the evening one")
            .call("air/book_flight", json!({"offer_id": "OF-77A0", "adults": 2}), json!({"booking": "QX7L2P", "total": 285.6}))
            .answer("I booked FR1142 for two adults: booking QX7L2P, €285.60.")
            .done(),
        conversation("hotel nights")
            .user("Book a double room at the Hotel Aurora from 3 May 2026 for 3 nights")
            .call("stay/find_rooms", json!({"hotel": "Hotel Aurora", "check_in": "2026-05-03", "check_out": "2026-05-06", "guests": 2}), json!([{"room_id": "RM-118", "rate": 89.0, "type": "double"}]))
            .call("stay/book_room", json!({"room_id": "RM-118", "check_in": "2026-05-03", "check_out": "2026-05-06", "amount": 267.0}), json!({"confirmation": "HA-55120"}))
            .answer("I booked room RM-118 from May 3 to May 6, 2026: 3 nights at €89 each, €267 in total. Confirmation HA-55120.")
            .done(),
        conversation("restaurant")
            .user("Table for four at Luigi's tonight at 8 pm")
            .call("dine/check_table", json!({"restaurant": "Luigi's", "time": "2026-05-03T20:00:00", "party_size": 4}), json!({"available": true, "table": "T-14"}))
            .call("dine/reserve_table", json!({"restaurant": "Luigi's", "time": "2026-05-03T20:00:00", "party_size": 4, "table": "T-14"}), json!({"reservation": "LU-3391"}))
            .answer("I reserved table T-14 for 4 at Luigi's, tonight at 8 PM. The reservation number is LU-3391.")
            .done(),
        conversation("train")
            .user("When is the next train from Kassel to Mainz?")
            .call_text("rail/departures", json!({"from": "Kassel", "to": "Mainz"}), "ICE 575 dep 10:23 arr 12:41 platform 4 price 59,90 EUR\nRE 98 dep 10:52 arr 14:10 platform 7 price 32,40 EUR")
            .answer("The next one is ICE 575 at 10:23 from platform 4; it arrives at 12:41 (2 h 18 min) and costs €59.90. RE 98 at 10:52 is €27.50 cheaper.")
            .done(),
        conversation("visa page")
            .user("Do I need a visa for Japan? See https://travel.example/japan")
            .call_text("web/fetch", json!({"url": "https://travel.example/japan"}), "Citizens of 71 countries may stay up to 90 days without a visa. Please contact the embassy for other cases. You must carry your passport. Call 03-5555-0199 for help.")
            .answer("Citizens of 71 countries may stay up to 90 days without a visa. You can usually extend the stay, but plan about 2 weeks for that.")
            .done(),
        conversation("no results")
            .user("Are there hostels in Zell below 20 euros?")
            .call("stay/search_hostels", json!({"place": "Zell", "max_price": 20}), json!({"results": []}))
            .call("stay/search_hostels", json!({"place": "Zell"}), json!({"results": [{"name": "Moselblick", "price": 27.5, "distance_m": 850}]}))
            .answer("There is nothing below 20 euros. The only hostel is Moselblick for €27.50, 0.85 km from the centre. I have not booked it.")
            .done(),
        conversation("parcel")
            .user("Track 00340434161094042557")
            .call("post/track", json!({"number": "00340434161094042557"}), json!({"events": [{"at": "2026-05-01T18:22:00", "place": "Leipzig"}, {"at": "2026-05-02T06:40:00", "place": "Depot 45"}], "delivery": {"from": "2026-05-02T10:00:00", "to": "2026-05-02T12:30:00"}}))
            .answer("Your parcel left Leipzig on May 1 at 18:22 and reached depot 45 on May 2 at 6:40 AM. Delivery: May 2, 10:00 to 12:30.")
            .done(),
    ]
}
