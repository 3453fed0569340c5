module.exports = (output, context) => output + "[[1 1. a [Attributed]~0a2. b [Attributed~5d]]";
