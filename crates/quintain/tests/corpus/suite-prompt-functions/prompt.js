module.exports = ({ vars, provider }) => `Hello ${vars.who} from ${provider.label || provider.id}`;
module.exports.second = async ({ vars }) => [{ role: 'user', content: `Hi ${vars.who} {{who}}` }];
module.exports.third = ({ vars, config }) => ({ prompt: `${config.word} ${vars.who}`, config: {} });
