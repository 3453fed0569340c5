export default class Provider {
  constructor(options) {
    this.end = options.config.end;
  }

  id() {
    return 'mine';
  }

  async callApi(prompt, context) {
    if (prompt.includes('fail')) throw new Error('will not ' + context.vars.word);
    return { output: prompt + this.end };
  }
}
