module.exports = () => ({ made: "by default" });
module.exports.get = () => "by get";
