module.exports = (name, prompt, vars) => ({ output: `${name} for ${vars.name}` });
