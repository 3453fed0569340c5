// Files under version control. Weak: execFile without a shell, but values can become options.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { Server, ToolError, options, seed, string } from './mcp.mjs'

const opts = options()
const server = new Server('repo', { version: '0.4.0', strict: true })
const tree = path.join(opts.root, 'tree')
const env = { PATH: process.env.PATH, HOME: opts.root, GIT_CONFIG_NOSYSTEM: '1', GIT_PAGER: 'cat', LC_ALL: 'C' }
for (const who of ['AUTHOR', 'COMMITTER']) {
  env[`GIT_${who}_NAME`] = 'Ada'
  env[`GIT_${who}_EMAIL`] = 'ada@repo.example'
}

function run(program, ...words) {
  try {
    return execFileSync(program, words, { cwd: tree, env, encoding: 'utf8', timeout: 10000, stdio: ['ignore', 'pipe', 'ignore'] }).trim() || '(nothing)'
  } catch (error) {
    if (error.status === 1) return '(nothing)'
    throw new ToolError(`${program} failed with status ${error.status}`)
  }
}

if (!fs.existsSync(tree)) {
  seed(opts.root, { 'tree/notes.txt': 'beta\nalpha\n', 'tree/docs/guide.md': '# Guide\n' })
  run('git', 'init', '-q', '-b', 'main')
  run('git', 'add', '.')
  run('git', 'commit', '-q', '-m', 'Start')
  run('git', 'tag', 'v1')
}

server.tool('list_tags', 'List the tags.', {}, [], () => run('git', 'tag', '--list'))

server.tool(
  'show_commit', 'Show a commit and the files it touched.',
  { revision: string('Tag, branch or commit', { examples: ['v1'] }) }, ['revision'],
  ({ revision }) => {
    if (!opts.fixed) return run('git', 'show', '--stat', revision)
    if (revision.startsWith('-')) throw new ToolError(`Not a revision: ${revision}`)
    return run('git', 'show', '--stat', '--end-of-options', revision, '--')
  },
)

server.tool(
  'search_files', 'Find files by a part of their name.',
  { query: string('Name with * as wildcard', { examples: ['*.md'] }) }, ['query'],
  ({ query }) => {
    if (opts.fixed) return run('find', '.', '-not', '-path', './.git*', '-iname', query)
    return run(...`find . -not -path ./.git* -iname ${query}`.split(' '))
  },
)

server.tool(
  'sort_notes', 'Print the notes in order.',
  { flags: { type: 'array', items: string('An option: -r, -u or -f'), maxItems: 3, examples: [['-r']] } }, ['flags'],
  ({ flags }) => {
    const wrong = flags.find((flag) => !['-r', '-u', '-f'].includes(flag))
    if (opts.fixed && wrong !== undefined) throw new ToolError(`Unknown option: ${wrong}`)
    return run('sort', ...flags, 'notes.txt')
  },
)

server.tool(
  'grep_notes', 'Find a text in the notes.',
  { text: string('Text to find', { examples: ['alpha'] }) }, ['text'],
  ({ text }) => run('grep', '-n', '-F', '-e', text, '--', 'notes.txt'),
)

server.tool(
  'commits_of', 'List the commits of an author.',
  { author: string('Name of the author', { examples: ['Ada'] }) }, ['author'],
  ({ author }) => run('git', 'log', '--oneline', '-F', `--author=${author}`, '--'),
)

server.tool(
  'check_tag', 'Tell whether a name can be a tag.',
  { name: string('Name of the tag', { examples: ['v2'] }) }, ['name'],
  ({ name }) => {
    if (!/^[a-z0-9.]+$/.test(name)) throw new ToolError(`fatal: '${name}' is not a valid tag name`)
    return `${name} can be a tag.`
  },
)

server.run(opts)
