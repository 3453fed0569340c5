module.exports = () => ({output: "x"});
