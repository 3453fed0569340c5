// A board of comments. Weak: comments come back unmarked through a tool, a resource and a prompt; titles keep control sequences.

import { Server, options, string } from './mcp.mjs'

const opts = options()
const server = new Server('board', { version: '2.1.0', strict: true })
const comments = ['First!']
const titles = ['General']

// Text of others, without control characters, between marks that it cannot close.
function marked(text) {
  const plain = text.replace(/\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2064]|\u{e0000}|[\u{e0001}-\u{e007f}]/gu, '')
  return `<untrusted-content>\n${plain.replaceAll('<', '&lt;').replaceAll('![', '! [')}\n</untrusted-content>`
}
const shown = (texts) => (opts.fixed ? texts.map(marked) : texts).join('\n')

server.tool('add_comment', 'Add a comment.', { comment: string('Text of the comment', { maxLength: 2000, examples: ['Nice.'] }) }, ['comment'], ({ comment }) => {
  comments.push(comment)
  return `There are ${comments.length} comments.`
})

server.tool('read_comments', 'Read the comments.', {}, [], () => shown(comments), { annotations: { readOnlyHint: true } })

server.tool('rename_thread', 'Change the title of the thread.', { title: string('New title', { maxLength: 200, examples: ['Garden'] }) }, ['title'], ({ title }) => {
  titles.push(title)
  return 'Renamed.'
})

server.tool('thread_title', 'Title of the thread.', {}, [], () => shown(titles.slice(-1)), { annotations: { readOnlyHint: true } })

server.tool(
  'preview_comment', 'Show a comment as it would look. It is not kept.', { comment: string('Text of the comment', { maxLength: 2000, examples: ['Nice.'] }) }, ['comment'],
  ({ comment }) => `Preview: ${comment}`,
)

server.tool('board_stats', 'Numbers of the board.', {}, [], () => ({ comments: comments.length, threads: 1 }))

server.resource('board://comments', 'All comments', () => shown(comments))

server.prompt('answer_thread', 'Ask for an answer to the thread.', {}, () => `Write an answer to these comments:\n${shown(comments)}`)

server.run(opts)
