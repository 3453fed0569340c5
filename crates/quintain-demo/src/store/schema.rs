//! The tables of TechMart. Amounts are integers in the smallest unit of their currency.

use sqlx::SqlitePool;

pub(super) async fn create(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(
        "CREATE TABLE users (
            id      TEXT PRIMARY KEY,
            role    TEXT NOT NULL,
            name    TEXT NOT NULL,
            email   TEXT NOT NULL,
            phone   TEXT NOT NULL,
            ssn     TEXT NOT NULL,
            card    TEXT NOT NULL,
            balance INTEGER NOT NULL
        );
        CREATE TABLE transactions (
            number     INTEGER PRIMARY KEY,
            id         TEXT NOT NULL UNIQUE,
            user_id    TEXT NOT NULL,
            payee      TEXT NOT NULL,
            amount     INTEGER NOT NULL,
            currency   TEXT NOT NULL,
            status     TEXT NOT NULL,
            memo       TEXT NOT NULL DEFAULT ''
        );
        CREATE INDEX transactions_of_user ON transactions (user_id);
        CREATE TABLE invoices (
            name    TEXT PRIMARY KEY,
            user_id TEXT NOT NULL
        );
        CREATE TABLE notes (
            number  INTEGER PRIMARY KEY,
            user_id TEXT NOT NULL,
            author  TEXT NOT NULL,
            body    TEXT NOT NULL
        );
        CREATE TABLE audit (
            number INTEGER PRIMARY KEY,
            actor  TEXT NOT NULL,
            action TEXT NOT NULL,
            detail TEXT NOT NULL
        );",
    )
    .execute(pool)
    .await
    .map(drop)
}
