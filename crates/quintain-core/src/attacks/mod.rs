//! Every built-in attack, one family per file.

mod argument_injection;
mod code_injection;
mod command_injection;
mod dos_growth;
mod nosql_injection;
mod pairs;
mod purpose;
mod reach;
mod sql_injection;
mod template_injection;
mod traces;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use crate::attack::Attack;

static ALL: &[&dyn Attack] = &[
    &argument_injection::ArgumentInjection,
    &code_injection::CodeInjection,
    &command_injection::CommandInjection,
    &dos_growth::DosGrowth,
    &nosql_injection::NosqlInjection,
    &sql_injection::SqlInjection,
    &template_injection::TemplateInjection,
];

pub fn all() -> &'static [&'static dyn Attack] {
    ALL
}

/// The attack of that id or alias.
pub fn find(name: &str) -> Option<&'static dyn Attack> {
    ALL.iter().copied().find(|attack| attack.meta().answers_to(name))
}
