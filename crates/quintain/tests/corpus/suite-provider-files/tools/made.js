module.exports = { getTools: () => [{ type: 'function', function: { name: 'now', parameters: { type: 'object' } } }] };
