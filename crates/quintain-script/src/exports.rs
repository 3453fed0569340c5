//! Finds the function of a file. As in promptfoo, the default export counts as the module, and
//! CommonJS exports are a default export.

use rquickjs::function::This;
use rquickjs::{Ctx, Error, Function, Object, Value as Js};

/// Maximum number of other exports that an error message lists.
const LISTED: usize = 20;

/// Runs the function around a CommonJS file and returns its exports.
pub(crate) fn common<'js>(
    ctx: &Ctx<'js>,
    run: &Function<'js>,
    file: &str,
) -> Result<Object<'js>, Error> {
    let (module, exports) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
    module.set("exports", exports.clone())?;
    module.set("filename", file)?;
    let require: Js<'_> = ctx.globals().get("require")?;
    run.call::<_, ()>((This(exports.clone()), exports, require, module.clone(), file, "."))?;
    let namespace = Object::new(ctx.clone())?;
    namespace.set("default", module.get::<_, Js<'_>>("exports")?)?;
    Ok(namespace)
}

/// The function of that name, or the default one without a name.
pub(crate) fn pick<'js>(
    namespace: &Object<'js>,
    name: Option<&str>,
) -> Result<Option<Function<'js>>, Error> {
    let main = main(namespace)?;
    if let Some(name) = name {
        let own = function(main.as_object(), name)?;
        return if own.is_some() { Ok(own) } else { function(Some(namespace), name) };
    }
    if let Some(main) = main.as_function() {
        return Ok(Some(main.clone()));
    }
    let default = function(main.as_object(), "default")?;
    if default.is_some() { Ok(default) } else { function(main.as_object(), "func") }
}

/// The names of all exported functions.
pub(crate) fn names(namespace: &Object<'_>) -> Result<Vec<String>, Error> {
    let main = main(namespace)?;
    let mut names = Vec::new();
    for place in [Some(namespace), main.as_object()].into_iter().flatten() {
        for key in place.keys::<String>().take(LISTED) {
            let key = key?;
            if !names.contains(&key) && function(Some(place), &key)?.is_some() {
                names.push(key);
            }
        }
    }
    Ok(names)
}

/// The default export, also one inside another, as compilers write them; otherwise the module.
fn main<'js>(namespace: &Object<'js>) -> Result<Js<'js>, Error> {
    let default: Js<'_> = namespace.get("default")?;
    let inner: Option<Js<'_>> =
        default.as_object().map(|object| object.get("default")).transpose()?;
    let given = |value: &Js<'_>| value.is_object() || value.is_function();
    Ok(match inner.filter(given) {
        Some(inner) => inner,
        None if given(&default) => default,
        None => namespace.clone().into_value(),
    })
}

fn function<'js>(place: Option<&Object<'js>>, name: &str) -> Result<Option<Function<'js>>, Error> {
    let Some(place) = place else { return Ok(None) };
    Ok(place.get::<_, Js<'_>>(name)?.into_function())
}
