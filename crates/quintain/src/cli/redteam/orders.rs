//! The orders of a suite; prints errors in them.

use quintain_engine::jobs::{OrderRequest, Refusal, orders_of};
use quintain_engine::models::ModelSettings;
use quintain_redteam::orders::Orders;
use quintain_redteam::suits::Receiver;

use crate::cli::suite::LoadedSuite;
use crate::cli::{App, job};
use crate::exit::Exit;

/// The orders of a suite; the defaults without a suite.
pub(in crate::cli) fn of_suite(opened: Option<&LoadedSuite>, app: &App) -> Result<Orders, Exit> {
    of_suite_for(Receiver::Arguments, opened, app)
}

/// The same for a target of this kind.
pub(super) fn of_suite_for(
    receiver: Receiver,
    opened: Option<&LoadedSuite>,
    app: &App,
) -> Result<Orders, Exit> {
    let notify =
        &mut |notice: quintain_engine::jobs::RequestNotice<'_>| job::show_notice(notice, app);
    let judge = opened.and_then(|opened| ModelSettings::default().or_suite(&opened.suite).judge);
    let orders = orders_of(opened, receiver, &*app.files, &app.redactor, judge.as_ref(), notify);
    orders.map_err(|refusal: Refusal| job::refused(&refusal, app).1)
}

/// Overrides the orders of a suite with the command line.
pub(super) fn apply(request: &OrderRequest, orders: &mut Orders, app: &App) -> Result<(), Exit> {
    let notify =
        &mut |notice: quintain_engine::jobs::RequestNotice<'_>| job::show_notice(notice, app);
    request.apply(orders, notify).map_err(|refusal| job::refused(&refusal, app).1)
}

/// Replaces the attacks of the suite by those on the command line.
pub(super) fn choose(orders: &mut Orders, names: &[String], app: &App) -> Result<(), Exit> {
    let request = OrderRequest { plugins: names.to_vec(), ..OrderRequest::default() };
    apply(&request, orders, app)
}
