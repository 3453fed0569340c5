module.exports = (scores, context) => ({
  pass: scores.one > scores.two,
  score: scores.one * 0.75 + scores.two * 0.25,
  reason: `one ${scores.one}, two ${scores.two}`,
});
module.exports.half = () => ({ pass: true, score: 0.5, reason: 'half' });
module.exports.never = () => ({ pass: false, score: 0.9, reason: 'never', namedScores: { added: 0.1 } });
module.exports.broken = () => {
  throw new Error('broken on purpose');
};
module.exports.number = () => 0.5;
module.exports.told = (scores, context) => ({
  pass: true,
  score: context.componentResults.length,
  reason: `threshold ${context.threshold}, ${Object.keys(context).join(' ')}`,
});
