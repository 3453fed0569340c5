module.exports = class {
  id() { return 'own'; }
  async callApi(prompt) { return {output: {pass: true, score: 0.35}}; }
};
