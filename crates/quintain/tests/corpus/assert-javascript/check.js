module.exports = (output, context) => output === context.vars.text;
module.exports.long = (output) => output.length > 10;
module.exports.score = (output) => output.length / 10;
module.exports.graded = async (output, context) => ({
  pass: output.includes(context.config.word),
  score: 0.8,
  reason: `looked for ${context.config.word}`,
});
module.exports.broken = () => {
  throw new Error('broken on purpose');
};
module.exports.text = () => 'yes';
