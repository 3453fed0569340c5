//! The fixed, public test credentials of the demo. None of them is a secret elsewhere.

/// The default identity: an ordinary customer.
pub const CUSTOMER: &str = "cust_1001";
/// A second customer, to test whether B can read A's data.
pub const OTHER_CUSTOMER: &str = "cust_1002";
/// An employee with the role `admin`.
pub const ADMIN: &str = "emp_9001";

pub const CUSTOMER_TOKEN: &str = "demo-bearer-customer-1001";
pub const OTHER_CUSTOMER_TOKEN: &str = "demo-bearer-customer-1002";
pub const ADMIN_TOKEN: &str = "demo-bearer-admin-9001";
/// A bearer token of [`CUSTOMER`] that expired long ago.
pub const EXPIRED_TOKEN: &str = "demo-bearer-expired-1001";
/// A bearer token of [`CUSTOMER`] that was issued for another resource.
pub const ELSEWHERE_TOKEN: &str = "demo-bearer-elsewhere-1001";
/// A bearer token of [`CUSTOMER`] that may only read.
pub const READER_TOKEN: &str = "demo-bearer-reader-1001";

pub const CUSTOMER_API_KEY: &str = "demo-key-customer-1001";
pub const OTHER_CUSTOMER_API_KEY: &str = "demo-key-customer-1002";
pub const ADMIN_API_KEY: &str = "demo-key-admin-9001";

/// User name and password, for basic auth and for the OAuth password grant.
pub const CUSTOMER_LOGIN: (&str, &str) = ("ada", "demo-password-1001");
pub const OTHER_CUSTOMER_LOGIN: (&str, &str) = ("blaise", "demo-password-1002");
pub const ADMIN_LOGIN: (&str, &str) = ("grace", "demo-password-9001");

/// Client id and secret of an OAuth client that acts as [`CUSTOMER`].
pub const CUSTOMER_CLIENT: (&str, &str) = ("demo-client-shop", "demo-secret-shop");
/// Client id and secret of an OAuth client that acts as [`ADMIN`].
pub const ADMIN_CLIENT: (&str, &str) = ("demo-client-backoffice", "demo-secret-backoffice");

/// Bearer tokens and their users.
pub(crate) const TOKENS: &[(&str, &str)] =
    &[(CUSTOMER_TOKEN, CUSTOMER), (OTHER_CUSTOMER_TOKEN, OTHER_CUSTOMER), (ADMIN_TOKEN, ADMIN)];

/// API keys and their users.
pub(crate) const API_KEYS: &[(&str, &str)] = &[
    (CUSTOMER_API_KEY, CUSTOMER),
    (OTHER_CUSTOMER_API_KEY, OTHER_CUSTOMER),
    (ADMIN_API_KEY, ADMIN),
];

/// Logins and their users.
pub(crate) const LOGINS: &[((&str, &str), &str)] =
    &[(CUSTOMER_LOGIN, CUSTOMER), (OTHER_CUSTOMER_LOGIN, OTHER_CUSTOMER), (ADMIN_LOGIN, ADMIN)];

/// OAuth clients and the users they act as.
pub(crate) const CLIENTS: &[((&str, &str), &str)] =
    &[(CUSTOMER_CLIENT, CUSTOMER), (ADMIN_CLIENT, ADMIN)];

/// Looks up a single credential in one of the tables above.
pub(crate) fn user_of(table: &[(&str, &'static str)], credential: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == credential).map(|(_, user)| *user)
}

/// Looks up a pair of name and secret in one of the tables above.
pub(crate) fn user_of_pair(
    table: &[((&str, &str), &'static str)],
    name: &str,
    secret: &str,
) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == (name, secret)).map(|(_, user)| *user)
}
