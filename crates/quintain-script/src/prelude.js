// What scripts find besides the language. Evaluated once in every new context; what it returns is
// for the engine and not reachable from scripts.
(function (print) {
  "use strict";
  const { stringify } = JSON;
  const promise = Promise;
  const resolve = Promise.resolve;
  const unavailable = (what) => {
    const error = new Error(what + " is not available to scripts");
    error.code = "UNAVAILABLE";
    error.what = what;
    return error;
  };
  const require = (name) => {
    throw unavailable("require('" + name + "')");
  };
  const show = (value) => {
    try {
      if (typeof value === "string") return value;
      if (value instanceof Error) return String(value);
      return stringify(value) ?? String(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  };
  const say = (level) => (...values) => print(level, values.map(show).join(" ").toWellFormed());
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

  const console = {};
  for (const level of ["log", "info", "debug", "warn", "error", "trace", "dir", "table"]) {
    console[level] = say(level);
  }
  for (const nothing of ["assert", "group", "groupEnd", "time", "timeEnd", "count"]) {
    console[nothing] = () => {};
  }
  define("console", console);

  const process = {
    env: {},
    argv: [],
    platform: "quintain",
    cwd: () => { throw unavailable("process.cwd()"); },
    exit: () => { throw unavailable("process.exit()"); },
    mainModule: { require, exports: {}, id: ".", filename: "", loaded: true, children: [], paths: [] },
  };
  define("process", process);
  define("global", globalThis);
  define("require", require);

  // Time is virtual: nobody waits, the clock jumps to the next timer.
  let timers = [];
  let now = 0;
  let serial = 0;
  const start = (repeat) => (callback, delay, ...values) => {
    if (typeof callback !== "function") throw new TypeError("the callback must be a function");
    const wait = Math.max(1, Number(delay) || 0);
    const id = ++serial;
    timers.push({ id, due: now + wait, every: repeat ? wait : 0, callback, values });
    return id;
  };
  const stop = (id) => { timers = timers.filter((timer) => timer.id !== id); };
  define("setTimeout", start(false));
  define("setInterval", start(true));
  define("setImmediate", (callback, ...values) => setTimeout(callback, 0, ...values));
  for (const name of ["clearTimeout", "clearInterval", "clearImmediate"]) define(name, stop);

  // 0: there is no timer, 1: one has run, 2: the next is due behind the limit.
  const tick = (limit) => {
    if (timers.length === 0) return 0;
    let next = timers[0];
    for (const timer of timers) if (timer.due < next.due) next = timer;
    if (next.due > limit) return 2;
    now = next.due;
    if (next.every) {
      next.due += next.every;
      timers.push(timers.splice(timers.indexOf(next), 1)[0]);
    } else stop(next.id);
    next.callback(...next.values);
    return 1;
  };

  const isFunction = (value) => typeof value === "function";
  // As promptfoo looks for it: the default export, however deep, or else the module itself.
  const pick = (module, name) => {
    const main = module.default?.default || module.default || module;
    const places = [main, module, module.default];
    if (name !== undefined) {
      return places.map((place) => place?.[name]).find(isFunction);
    }
    return [main, main?.default, main?.func].find(isFunction);
  };
  const names = (module) => {
    const main = module.default?.default || module.default || module;
    const found = new Set([...Object.keys(module), ...Object.keys(Object(main))]);
    return [...found].filter((name) => isFunction(module[name] ?? main[name])).slice(0, 20);
  };
  const common = (run, file) => {
    const module = { exports: {}, id: file, filename: file, loaded: false };
    run.call(module.exports, module.exports, require, module, file, ".");
    return { default: module.exports };
  };
  const awaits = (value) =>
    value !== null && typeof value === "object" && isFunction(value.then);
  return { tick, pick, names, common, awaits, resolve: (value) => resolve.call(promise, value) };
})
