//! The orders of a suite; prints errors in them.

use quintain_engine::jobs::{OrderRequest, Refusal, orders_of};
use quintain_redteam::orders::Orders;

use crate::cli::suite::Opened;
use crate::cli::{Desk, job};
use crate::exit::Exit;

/// The orders of a suite; the defaults without a suite.
pub(in crate::cli) fn of_suite(opened: Option<&Opened>, desk: &Desk) -> Result<Orders, Exit> {
    let notify = &mut |notice: quintain_engine::jobs::Notice<'_>| job::tell(notice, desk);
    let orders = orders_of(opened, &*desk.files, &desk.redactor, notify);
    orders.map_err(|refusal: Refusal| job::refused(&refusal, desk).1)
}

/// Overrides the orders of a suite with the command line.
pub(super) fn apply(request: &OrderRequest, orders: &mut Orders, desk: &Desk) -> Result<(), Exit> {
    let notify = &mut |notice: quintain_engine::jobs::Notice<'_>| job::tell(notice, desk);
    request.apply(orders, notify).map_err(|refusal| job::refused(&refusal, desk).1)
}

/// Replaces the attacks of the suite by those on the command line.
pub(super) fn choose(orders: &mut Orders, names: &[String], desk: &Desk) -> Result<(), Exit> {
    let request = OrderRequest { plugins: names.to_vec(), ..OrderRequest::default() };
    apply(&request, orders, desk)
}
