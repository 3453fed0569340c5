module.exports = (x) => [];
