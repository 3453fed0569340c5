module.exports = async () => [{ description: 'from js', vars: { text: 'js' } }];
