module.exports = (output, context) => output.toUpperCase();
module.exports.twice = (output) => output + output;
