//! Leaves the tables for unwinding out of published binaries. A panic ends the process in its hook (`exit.rs`) without a
//! backtrace, so nothing reads them; they are a tenth of the program. No option of the compiler does this: the standard
//! library is compiled with them, and link-time optimisation then keeps those of every function.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=unwind.ld");
    // Only the profile `dist` has this level.
    let is_published = var("OPT_LEVEL").is_ok_and(|level| level == "z");
    let is = |name: &str, wanted: &str| var(name).is_ok_and(|value| value == wanted);
    if is_published && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr,-T,{folder}/unwind.ld");
    }
}
