// Checks of texts. Weak: nested quantifiers, and a list that is searched for every item.

import { pbkdf2Sync } from 'node:crypto'
import { Server, options, string } from './mcp.mjs'

const opts = options()
const server = new Server('matcher', { version: '1.1.2', strict: true })
const TITLE = opts.fixed ? /^[A-Za-z]+(?: [A-Za-z]+)*$/ : /^([A-Za-z]+\s?)*$/

server.tool(
  'check_title', 'Tell whether a title has only words.', { title: string('Title', { ...(opts.fixed ? { maxLength: 200 } : {}), examples: ['Two rivers'] }) }, ['title'],
  ({ title }) => ({ valid: TITLE.test(title) }),
)

server.tool(
  'unique_lines', 'Count the different lines of a text; capitals do not count.', { text: string('Text', { examples: ['a\nb\na'] }) }, ['text'],
  ({ text }) => {
    if (opts.fixed) return { lines: new Set(text.toLowerCase().split('\n')).size }
    const seen = []
    for (const line of text.split('\n')) if (!seen.some((other) => other.toLowerCase() === line.toLowerCase())) seen.push(line)
    return { lines: seen.length }
  },
)

server.tool('sort_words', 'Sort the words of a text.', { text: string('Text', { examples: ['b a'] }) }, ['text'], ({ text }) => ({
  words: text.split(/\s/).filter(Boolean).sort().slice(0, 20),
}))

server.tool('fingerprint', 'Fingerprint of a text. Slow on purpose, whatever the text.', { text: string('Text', { examples: ['abc'] }) }, ['text'], ({ text }) =>
  pbkdf2Sync(text, 'twins', 100000, 32, 'sha256').toString('hex'))

server.run(opts)
