module.exports = (scores, context) => ({pass: true, score: scores.tone * 2, reason: 'double'});
