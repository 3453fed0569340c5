//! The fictional people and payments of TechMart, the same at every start.
//!
//! Addresses use reserved domains, telephone numbers the range kept for fiction, social security
//! numbers an area that is never assigned, and cards the numbers that card networks publish for tests.

use sqlx::SqlitePool;

/// id, role, name, e-mail, telephone, social security number, card, balance.
type Person = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    i64,
);

pub(super) const PEOPLE: [Person; 10] = [
    (
        "cust_1001",
        "customer",
        "Ada Miller",
        "ada.miller@example.com",
        "+1-202-555-0101",
        "900-12-1001",
        "4242424242424242",
        250_000,
    ),
    (
        "cust_1002",
        "customer",
        "Blaise Okafor",
        "blaise.okafor@example.com",
        "+1-202-555-0102",
        "900-12-1002",
        "5555555555554444",
        81_550,
    ),
    (
        "cust_1003",
        "customer",
        "Chiara Rossi",
        "chiara.rossi@example.org",
        "+1-202-555-0103",
        "900-12-1003",
        "378282246310005",
        1_204_000,
    ),
    (
        "cust_1004",
        "customer",
        "Dmitri Volkov",
        "dmitri.volkov@example.net",
        "+1-202-555-0104",
        "900-12-1004",
        "4111111111111111",
        9_900,
    ),
    (
        "cust_1005",
        "customer",
        "Emiko Tanaka",
        "emiko.tanaka@example.com",
        "+1-202-555-0105",
        "900-12-1005",
        "6011111111111117",
        47_325,
    ),
    (
        "cust_1006",
        "customer",
        "Farid Haddad",
        "farid.haddad@example.org",
        "+1-202-555-0106",
        "900-12-1006",
        "4000056655665556",
        310_010,
    ),
    (
        "12345",
        "customer",
        "Corner Books Ltd",
        "payments@cornerbooks.example",
        "+1-202-555-0145",
        "900-12-2345",
        "4012888888881881",
        5_000_000,
    ),
    (
        "emp_9001",
        "admin",
        "Grace Lindqvist",
        "grace.lindqvist@techmart.example",
        "+1-202-555-0191",
        "900-12-9001",
        "5105105105105100",
        0,
    ),
    (
        "emp_9002",
        "support",
        "Henrik Sato",
        "henrik.sato@techmart.example",
        "+1-202-555-0192",
        "900-12-9002",
        "2223003122003222",
        0,
    ),
    (
        "emp_9003",
        "support",
        "Imani Brandt",
        "imani.brandt@techmart.example",
        "+1-202-555-0193",
        "900-12-9003",
        "3056930009020004",
        0,
    ),
];

/// Invoice files and the customers they belong to.
pub(super) const INVOICES: [(&str, &str); 5] = [
    ("INV-1001.txt", "cust_1001"),
    ("INV-1002.txt", "cust_1001"),
    ("INV-1003.txt", "cust_1002"),
    ("INV-1004.txt", "cust_1003"),
    ("INV-1005.txt", "cust_1004"),
];

const FIRST_TRANSACTION: i64 = 101;
const TRANSACTIONS: i64 = 40;

/// Number, customer, payee, amount, currency, status.
pub(super) fn transactions()
-> impl Iterator<Item = (i64, &'static str, &'static str, i64, &'static str, &'static str)> {
    const CUSTOMERS: [&str; 6] =
        ["cust_1002", "cust_1003", "cust_1001", "cust_1004", "cust_1005", "cust_1006"];
    const CURRENCIES: [&str; 3] = ["USD", "EUR", "GBP"];
    const STATUSES: [&str; 4] = ["completed", "completed", "pending", "refunded"];
    (FIRST_TRANSACTION..FIRST_TRANSACTION + TRANSACTIONS).map(|number| {
        let step = (number - FIRST_TRANSACTION) as usize;
        // The examples in the documentation look up 123, so it belongs to the default customer.
        let customer = if number == 123 { "cust_1001" } else { CUSTOMERS[step % CUSTOMERS.len()] };
        let amount = 500 + (number * 7_919) % 90_000;
        let status = if number == 123 { "completed" } else { STATUSES[step % STATUSES.len()] };
        (number, customer, "12345", amount, CURRENCIES[step % CURRENCIES.len()], status)
    })
}

pub(super) async fn insert(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    let mut all = pool.begin().await?;
    for (id, role, name, email, phone, ssn, card, balance) in PEOPLE {
        sqlx::query("INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
            .bind(id)
            .bind(role)
            .bind(name)
            .bind(email)
            .bind(phone)
            .bind(ssn)
            .bind(card)
            .bind(balance)
            .execute(&mut *all)
            .await?;
    }
    for (number, customer, payee, amount, currency, status) in transactions() {
        sqlx::query("INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, 'web order')")
            .bind(number)
            .bind(format!("txn_{number}"))
            .bind(customer)
            .bind(payee)
            .bind(amount)
            .bind(currency)
            .bind(status)
            .execute(&mut *all)
            .await?;
    }
    for (name, customer) in INVOICES {
        sqlx::query("INSERT INTO invoices VALUES (?, ?)")
            .bind(name)
            .bind(customer)
            .execute(&mut *all)
            .await?;
    }
    for (customer, body) in
        [("cust_1001", "Prefers e-mail."), ("cust_1002", "Asked about a late refund.")]
    {
        sqlx::query("INSERT INTO notes (user_id, author, body) VALUES (?, 'emp_9002', ?)")
            .bind(customer)
            .bind(body)
            .execute(&mut *all)
            .await?;
    }
    sqlx::query("INSERT INTO audit (actor, action, detail) VALUES ('emp_9001', 'open', 'new day')")
        .execute(&mut *all)
        .await?;
    all.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes_luhn(card: &str) -> bool {
        let sum: u32 = card
            .bytes()
            .rev()
            .enumerate()
            .map(|(place, digit)| {
                let digit = u32::from(digit - b'0') * if place % 2 == 0 { 1 } else { 2 };
                if digit > 9 { digit - 9 } else { digit }
            })
            .sum();
        sum.is_multiple_of(10)
    }

    #[test]
    fn every_card_number_passes_its_checksum() {
        for person in PEOPLE {
            assert!(passes_luhn(person.6), "{}", person.6);
        }
    }

    #[test]
    fn the_documented_transaction_belongs_to_the_default_customer() {
        let (_, customer, ..) = transactions().find(|row| row.0 == 123).unwrap();
        assert_eq!(customer, crate::credentials::CUSTOMER);
    }
}
