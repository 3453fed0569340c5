export default (output) => output === 'hello';
