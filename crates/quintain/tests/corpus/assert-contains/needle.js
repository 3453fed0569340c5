module.exports = (output, context) => 'needle';
module.exports.second = (output, context) => `${context.vars.text.length}`;
module.exports.third = () => true;
module.exports.fourth = () => ({ pass: true, score: 1, reason: 'fine' });
