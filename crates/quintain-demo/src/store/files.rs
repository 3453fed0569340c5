//! The files of TechMart: those that may be read, and next to them those that may not.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

use super::seed;

/// Creates the directory tree and returns its canonical path.
pub(super) fn prepare(root: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(root)?;
    let root = root.canonicalize()?;
    // A data directory may contain leftovers of an earlier run; a demo starts clean.
    match fs::remove_file(root.join("techmart.db")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    for directory in ["invoices", "statements", "statements-archive", "reports", "private"] {
        fs::create_dir_all(root.join(directory))?;
    }
    for (name, customer) in seed::INVOICES {
        let text = format!("TechMart invoice {name}\nCustomer: {customer}\nTotal: 120.00 USD\n");
        fs::write(root.join("invoices").join(name), text)?;
    }
    for month in ["2026-01", "2026-02", "2026-03"] {
        let text = format!("TechMart monthly statement {month}\nTurnover: 48,211.50 USD\n");
        fs::write(root.join("statements").join(format!("{month}.txt")), text)?;
    }
    // Shares the prefix `statements` with the directory that may be read.
    fs::write(
        root.join("statements-archive").join("2019-12.txt"),
        "TechMart archive, internal only\n",
    )?;
    fs::write(root.join("private").join("payroll.txt"), "Payroll, internal only\n")?;
    // Valid-looking keys without any use. They are split in two, so that no secret scanner reports
    // this file.
    let key = |rest: &str| format!("AKIA{rest}");
    let gateways = format!(
        "gateway-eu.techmart.example up key={}\ngateway-us.techmart.example up key={}\n",
        key("Q7ZD5M2XW4HTBN3K"),
        key("R2FJ6PVY3CSLGE5U")
    );
    fs::write(root.join("gateways.txt"), gateways)?;

    let mut transactions = String::new();
    let mut payouts = String::new();
    for (step, month) in ["2026-03", "2026-01", "2026-02"].into_iter().enumerate() {
        for (turn, currency) in ["USD", "EUR", "GBP"].into_iter().enumerate() {
            let total = 1_000 + 310 * step + 77 * turn;
            let _ = writeln!(transactions, "{currency},{month},{total}.00");
            let _ = writeln!(payouts, "{currency},{month},{}.00", total / 4);
        }
    }
    fs::write(root.join("reports").join("transactions.csv"), transactions)?;
    fs::write(root.join("reports").join("payouts.csv"), payouts)?;
    Ok(root)
}
