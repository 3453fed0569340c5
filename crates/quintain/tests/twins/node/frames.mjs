// A server with its own reader of frames. Weak: what it does not expect ends the process.

import { Server, integer, options, string } from './mcp.mjs'

const opts = options()
const server = new Server('frames', { version: '0.5.1', strict: true })

const depth = (value) => (typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0)

if (!opts.fixed) {
  const careful = server.reply
  server.reply = function (line, request) {
    // Invalid JSON, null, a method that is no text, and nesting that exhausts the stack are not foreseen.
    const message = JSON.parse(line.toString())
    const [family] = message.method.split('/')
    if (family === 'tools') process.stderr.write(`${message.method} depth ${depth(message)}\n`)
    return careful.call(this, line, request)
  }
}

server.tool(
  'repeat_word', 'Repeat a word.',
  { word: string('Word', { maxLength: 50, examples: ['hey'] }), times: integer('How often', { minimum: 1, maximum: 20, examples: [2] }) }, ['word', 'times'],
  ({ word, times }) => Array(times).fill(word).join(' '),
)

server.tool('spell_word', 'Spell a word; fails on anything but letters.', { word: string('Word', { maxLength: 50, examples: ['tree'] }) }, ['word'], ({ word }) => {
  if (!/^\p{L}*$/u.test(word)) throw new RangeError('letters only')
  return [...word].join('-')
})

server.run(opts)
