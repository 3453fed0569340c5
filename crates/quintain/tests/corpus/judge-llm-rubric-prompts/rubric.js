module.exports = (output, context) => `is like ${output} [[1 {~22pass~22:false,~22score~22:0.1}]]`;
