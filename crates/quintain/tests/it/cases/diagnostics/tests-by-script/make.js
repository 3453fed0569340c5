module.exports = () => [{vars: {a: "javascript"}}];
module.exports.wrong = () => [{vasr: {a: 1}}];
module.exports.number = () => 7;
module.exports.throws = () => { throw new Error("no tests today"); };
