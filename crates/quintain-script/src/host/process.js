(function () {
  "use strict";
  const missing = (what) => {
    const error = new Error(what + " is not available to scripts");
    error.code = "UNAVAILABLE";
    error.what = what;
    throw error;
  };
  const require = (name) => missing("require('" + name + "')");
  const process = {
    env: {},
    argv: [],
    platform: "quintain",
    cwd: () => missing("process.cwd()"),
    exit: () => missing("process.exit()"),
    mainModule: { require, exports: {}, id: ".", filename: "", loaded: true, children: [], paths: [] },
  };
  return { process, require };
})
