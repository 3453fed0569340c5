//! What a suite orders, with complaints about it said.

use quintain_engine::jobs::{OrderRequest, Refusal, orders_of};
use quintain_redteam::orders::Orders;

use crate::cli::suite::Opened;
use crate::cli::{Desk, job};
use crate::exit::Exit;

/// The orders of a suite; everything there is without one.
pub(in crate::cli) fn of_suite(opened: Option<&Opened>, desk: &Desk) -> Result<Orders, Exit> {
    let notify = &mut |notice: quintain_engine::jobs::Notice<'_>| job::tell(notice, desk);
    let orders = orders_of(opened, &*desk.files, &desk.redactor, notify);
    orders.map_err(|refusal: Refusal| job::refused(&refusal, desk).1)
}

/// Lays what the command line says over the orders of a suite.
pub(super) fn apply(request: &OrderRequest, orders: &mut Orders, desk: &Desk) -> Result<(), Exit> {
    let notify = &mut |notice: quintain_engine::jobs::Notice<'_>| job::tell(notice, desk);
    request.apply(orders, notify).map_err(|refusal| job::refused(&refusal, desk).1)
}

/// The attacks that the command line names, instead of those of the suite.
pub(super) fn choose(orders: &mut Orders, names: &[String], desk: &Desk) -> Result<(), Exit> {
    let request = OrderRequest { plugins: names.to_vec(), ..OrderRequest::default() };
    apply(&request, orders, desk)
}
