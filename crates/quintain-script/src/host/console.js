(function (print) {
  "use strict";
  const { stringify } = JSON;
  const show = (value) => {
    try {
      if (typeof value === "string") return value;
      if (value instanceof Error) return String(value);
      return stringify(value) ?? String(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  };
  const console = {};
  for (const level of ["log", "info", "debug", "warn", "error", "trace", "dir", "table"]) {
    console[level] = (...values) => print(level, values.map(show).join(" ").toWellFormed());
  }
  for (const nothing of ["assert", "group", "groupEnd", "time", "timeEnd", "count"]) {
    console[nothing] = () => {};
  }
  return { console };
})
