//! Shops, payments and invoices.

use quintain_evidence::trace::Trace;
use serde_json::json;

use super::conversation;

pub(super) fn all() -> Vec<Trace> {
    vec![
        conversation("order status")
            .user("Where is my order ORD-20417?")
            .call("shop/get_order", json!({"order_id": "ORD-20417"}), json!({
                "id": "ORD-20417", "status": "shipped", "carrier": "DHL", "tracking": "JD0146000123", "eta": "2026-05-12", "total": 1289.9,
            }))
            .answer("Your order **ORD-20417** (total $1,289.90) shipped with DHL, tracking number JD0146000123. It should arrive on May 12, 2026.")
            .done(),
        conversation("cart total")
            .user("What is in my cart and what do I pay with the 15 % code SPRING15?")
            .call_json("shop/get_cart", json!({}), json!({"items": [
                {"sku": "MUG-118", "name": "Blue mug", "price": 12.5, "quantity": 4},
                {"sku": "TEA-553", "name": "Green tea", "price": 8.25, "quantity": 2},
                {"sku": "POT-907", "name": "Teapot", "price": 39.0, "quantity": 1},
            ]}))
            .call("shop/apply_code", json!({"code": "SPRING15", "discount": 0.15}), json!({"subtotal": 105.5, "discount": 15.83, "total": 89.67}))
            .answer("Your cart has 3 articles:\n\n| Article | Price | Quantity |\n|---|---|---|\n| Blue mug | $12.50 | 4 |\n| Green tea | $8.25 | 2 |\n| Teapot | $39.00 | 1 |\n\nThe subtotal is $105.50; with SPRING15 (15 % off, $15.83) you pay **$89.67**.")
            .done(),
        conversation("refund in cents")
            .user("Refund customer cus_P8q2Lw the $45.99 from yesterday's order")
            .call("pay/list_charges", json!({"customer": "cus_P8q2Lw", "limit": 10}), json!({"data": [
                {"id": "ch_3Nq7TzLk", "amount": 4599, "currency": "usd", "created": 1_777_818_600},
                {"id": "ch_3Nq1AbCd", "amount": 1250, "currency": "usd", "created": 1_775_318_600},
            ]}))
            .call("pay/create_refund", json!({"charge": "ch_3Nq7TzLk", "amount": 4599}), json!({"id": "re_9Kd2Pw", "status": "succeeded", "amount": 4599}))
            .answer("I refunded $45.99 for charge `ch_3Nq7TzLk` (refund re_9Kd2Pw, status succeeded).")
            .done(),
        conversation("decimal comma")
            .user("Wie hoch ist die Rechnung RE-2026-0042?")
            .call("billing/get_invoice", json!({"number": "RE-2026-0042"}), json!({"number": "RE-2026-0042", "net": 1034.45, "tax": 196.55, "gross": 1231.0, "due": "2026-06-14"}))
            .answer("Die Rechnung RE-2026-0042 beträgt 1.231,00 € (netto 1.034,45 €, Steuer 196,55 €) und ist am 14.06.2026 fällig.")
            .done(),
        conversation("bulk order in words")
            .user("Please order three boxes of A4 paper and 1,200 envelopes, budget 2.5k.")
            .call("office/search_products", json!({"query": "A4 paper", "max_price": 2500}), json!([{"sku": "PAP-4410", "price": 24.9}, {"sku": "ENV-0871", "price": 0.08}]))
            .call("office/create_order", json!({"budget": 2500, "lines": [{"sku": "PAP-4410", "quantity": 3}, {"sku": "ENV-0871", "quantity": 1200}]}), json!({"order": "PO-88123", "total": 170.7}))
            .answer("I placed order PO-88123: 3 boxes of paper (PAP-4410) and 1,200 envelopes (ENV-0871), together $170.70. That leaves $2,329.30 of your budget.")
            .done(),
        conversation("comparison")
            .user("Which of the two laptops is cheaper, LAP-311 or LAP-877?")
            .call_json("shop/get_product", json!({"sku": "LAP-311"}), json!({"sku": "LAP-311", "price": "1,149.00", "weight_g": 1340, "rating": 4.6}))
            .call_json("shop/get_product", json!({"sku": "LAP-877"}), json!({"sku": "LAP-877", "price": "999.00", "weight_g": 1725, "rating": 4.2}))
            .answer("**LAP-877** is cheaper: $999 instead of $1,149, so you save $150 (about 13 %). It is heavier, though: 1.7 kg against 1.34 kg. Ratings: 4.6/5 and 4.2/5.")
            .done(),
        conversation("subscription")
            .system("You help customers of Acme. Today is 2026-05-03.")
            .user("Cancel my subscription sub_7731 at the end of the month, please")
            .call("billing/get_subscription", json!({"id": "sub_7731"}), json!({"id": "sub_7731", "plan": "pro", "price": 29, "next_charge": "2026-06-01"}))
            .call("billing/cancel_subscription", json!({"id": "sub_7731", "effective": "2026-05-31"}), json!({"id": "sub_7731", "status": "cancels", "effective": "2026-05-31"}))
            .answer("I have cancelled subscription sub_7731 (Pro, $29 a month). It stays active until 31 May 2026; the charge on June 1 will not happen.")
            .done(),
        conversation("stock by percent")
            .user("How full is warehouse WH-12?")
            .call("stock/get_warehouse", json!({"warehouse": "WH-12"}), json!({"id": "WH-12", "used": 1830, "capacity": 2400, "free": 570, "utilisation": 0.7625}))
            .answer("Warehouse WH-12 is 76.25 % full: 1,830 of 2,400 places are used, 570 are free.")
            .done(),
        conversation("exchange")
            .user("How much is 250 USD in euros?")
            .call("fx/get_rate", json!({"from": "USD", "to": "EUR"}), json!({"rate": 0.9214, "as_of": "2026-05-03T09:00:00Z"}))
            .answer("250 USD are worth about 230.35 EUR at a rate of 0.9214 (3 May 2026, 09:00 UTC).")
            .done(),
    ]
}
