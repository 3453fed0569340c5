//! Databases, analytics, weather and finance.

use quintain_evidence::trace::Trace;
use serde_json::json;

use super::conversation;

pub(super) fn all() -> Vec<Trace> {
    vec![
        conversation("sql totals")
            .user("What was our revenue per region in 2025?")
            .call_text("db/query", json!({"sql": "SELECT region, SUM(amount) FROM orders WHERE year = 2025 GROUP BY region"}), "region | sum\n--- | ---\nNorth | 182340.55\nSouth | 97210.10\nWest | 251007.00\n")
            .answer("Revenue in 2025 by region:\n\n| Region | Revenue |\n|---|---|\n| West | $251,007 |\n| North | $182,340.55 |\n| South | $97,210.10 |\n\nIn total $530,557.65; West has the largest share with 47.3 %.")
            .done(),
        conversation("sql update")
            .user("Set the status of customer 99120 to inactive")
            .call_text("db/execute", json!({"sql": "UPDATE customers SET status = 'inactive' WHERE id = 99120"}), "UPDATE 1")
            .answer("I updated customer 99120: the status is now inactive (1 row changed).")
            .done(),
        conversation("weather")
            .user("How is the weather in Oslo on Saturday?")
            .call("weather/get_forecast", json!({"city": "Oslo", "days": 3}), json!({"daily": [
                {"date": "2026-05-09", "high": 14.6, "low": 5.2, "rain_mm": 3.4, "wind_ms": 7}, {"date": "2026-05-10", "high": 16.1, "low": 6.0, "rain_mm": 0, "wind_ms": 4},
            ]}))
            .answer("On Saturday, May 9, Oslo gets up to 15 °C (59 °F), 5 °C at night, with 3.4 mm of rain and wind of 7 m/s, about 25 km/h.")
            .done(),
        conversation("stock")
            .user("How did ACME do last week?")
            .call_json("fin/get_history", json!({"symbol": "ACME", "from": "2026-04-27", "to": "2026-05-01"}), json!({"prices": [
                {"date": "2026-04-27", "close": 180.2}, {"date": "2026-04-28", "close": 182.75}, {"date": "2026-04-29", "close": 179.9}, {"date": "2026-04-30", "close": 185.4}, {"date": "2026-05-01", "close": 189.1},
            ], "volume": 48_210_334, "market_cap": 3_170_000_000_000_u64}))
            .answer("ACME rose from $180.20 on April 27 to $189.10 on May 1, a gain of $8.90 or 4.9 %. The volume was about 48.2 million shares; the market cap is $3.17 trillion.")
            .done(),
        conversation("metrics in ms")
            .user("Is checkout slow?")
            .call("apm/get_latency", json!({"service": "checkout", "window": "1h"}), json!({"p50_ms": 184, "p95_ms": 1530, "requests": 91_822, "errors": 214, "error_rate": 0.00233}))
            .answer("Checkout has a median of 184 ms and a 95th percentile of 1.53 s. Of 91,822 requests 214 failed (0.23 %).")
            .done(),
        conversation("polling")
            .user("Run report R-771 and give me the result")
            .call("bi/start_report", json!({"report": "R-771"}), json!({"job_id": "job-5521", "state": "queued"}))
            .call("bi/get_job", json!({"job_id": "job-5521"}), json!({"job_id": "job-5521", "state": "running", "progress": 40}))
            .call("bi/get_job", json!({"job_id": "job-5521"}), json!({"job_id": "job-5521", "state": "running", "progress": 85}))
            .call("bi/get_job", json!({"job_id": "job-5521"}), json!({"job_id": "job-5521", "state": "done", "progress": 100, "rows": 8412, "url": "https://bi.example/r/5521.csv"}))
            .answer("Report R-771 is ready: 8,412 rows, https://bi.example/r/5521.csv")
            .done(),
        conversation("pagination")
            .user("How many open invoices does Globex have and what do they sum up to?")
            .call("erp/list_invoices", json!({"customer": "Globex", "status": "open", "page": 1, "page_size": 2}), json!({"items": [{"id": "INV-301", "amount": 1200.5}, {"id": "INV-317", "amount": 87.25}], "next_cursor": "c_a81f"}))
            .call("erp/list_invoices", json!({"customer": "Globex", "status": "open", "cursor": "c_a81f", "page_size": 2}), json!({"items": [{"id": "INV-340", "amount": 450.0}], "next_cursor": null}))
            .answer("Globex has 3 open invoices:\n\n- INV-301: $1,200.50\n- INV-317: $87.25\n- INV-340: $450.00\n\nTogether that is $1,737.75.")
            .done(),
        conversation("units")
            .user("How long is the route from Ulm to Bonn and how long does it take?")
            .call("maps/geocode", json!({"place": "Ulm"}), json!({"lat": 48.4011, "lon": 9.9876}))
            .call("maps/geocode", json!({"place": "Bonn"}), json!({"lat": 50.7374, "lon": 7.0982}))
            .call("maps/get_route", json!({"from": {"lat": 48.4011, "lon": 9.9876}, "to": {"lat": 50.7374, "lon": 7.0982}}), json!({"distance": 412_730, "duration": 14_940}))
            .answer("The route is 412.7 km (256 miles) long and takes 4 h 9 min (4:09).")
            .done(),
        conversation("blocks")
            .user("List our servers with their memory")
            .call_blocks("infra/list_servers", json!({}), &[
                json!({"name": "web-01", "memory_gb": 16, "ip": "10.0.4.17"}), json!({"name": "web-02", "memory_gb": 16, "ip": "10.0.4.18"}), json!({"name": "db-01", "memory_gb": 128, "ip": "10.0.5.3"}),
            ])
            .answer("You have 3 servers:\n1. web-01 (10.0.4.17): 16 GB\n2. web-02 (10.0.4.18): 16 GB\n3. db-01 (10.0.5.3): 128 GB\n\nThat is 160 GB in total.")
            .done(),
        conversation("schema default and enum")
            .tool("weather", "get_air", json!({"station": {"enum": ["ST-4401", "ST-4402"]}, "hours": {"type": "integer", "default": 48}}))
            .user("How good is the air?")
            .call("weather/get_air", json!({"station": "ST-4402", "hours": 48}), json!({"pm25": 12.4, "pm10": 21.0, "index": 37}))
            .answer("The air is good: index 37, PM2.5 12.4 and PM10 21 µg/m³.")
            .done(),
    ]
}
