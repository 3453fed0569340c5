module.exports = (result, content, context) => `file ${content}`;
module.exports.second = (result, content, context) => ({ output: context.toolArgs, metadata: { a: 1 } });
