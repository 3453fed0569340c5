// Documents below a root. Weak: path.resolve, startsWith, decoding after the check; also in prompts, resources and completion.

import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Server, ToolError, options, seed, string } from './mcp.mjs'

const opts = options()
const root = opts.root
const server = new Server('documents', { version: '2.2.0', strict: true, instructions: `All documents are below ${root}.` })
seed(root, { 'intro.md': '# Intro\n', 'guides/setup.md': '# Setup\n', 'guides/usage.md': '# Usage\n' })

// The real path below the root. A file that does not exist yet is judged by its folder.
function inside(name) {
  const full = path.resolve(root, name)
  const entry = fs.lstatSync(full, { throwIfNoEntry: false })
  const real = entry ? fs.realpathSync(full) : path.join(fs.realpathSync(path.dirname(full)), path.basename(full))
  if (real !== root && !real.startsWith(root + path.sep)) throw new ToolError(`Access denied: ${name}`)
  return real
}

function content(file) {
  try {
    return fs.readFileSync(file, 'utf8').slice(0, 100000)
  } catch {
    throw new ToolError('No such document')
  }
}

function save(file, text) {
  try {
    fs.writeFileSync(file, text)
    return 'Saved.'
  } catch {
    throw new ToolError('The document cannot be saved')
  }
}

const PATH = string('Path of the document, relative to the root', { minLength: 1, examples: ['intro.md'] })

server.tool('list_documents', 'List the documents.', {}, [], () => ({
  documents: fs.readdirSync(root, { recursive: true }).filter((name) => name.endsWith('.md')).sort(),
}))

server.tool('read_document', 'Read a document.', { path: PATH }, ['path'], ({ path: name }) =>
  content(opts.fixed ? inside(name) : path.resolve(root, name)))

server.tool(
  'read_by_uri', 'Read a document by its file URI, which must be below the root.',
  { uri: string('URI of the document', { format: 'uri', pattern: '^file://', examples: [`file://${root}/intro.md`] }) }, ['uri'],
  ({ uri }) => {
    if (opts.fixed) return content(inside(fileURLToPath(uri)))
    if (!uri.startsWith(`file://${root}`)) throw new ToolError('Access denied')
    return content(fileURLToPath(uri))
  },
)

server.tool(
  'create_document', 'Create a document from a template.',
  { name: string('Name of the document', { minLength: 1, examples: ['draft.md'] }), template: string('Template', { enum: ['letter', 'report'] }) },
  ['name', 'template'],
  ({ name, template }) => save(opts.fixed ? inside(name) : path.join(root, name), `# New ${template}\n`),
)

server.tool(
  'move_document', 'Move a document.',
  { source: PATH, destination: string('New path', { minLength: 1, examples: ['moved.md'] }) }, ['source', 'destination'],
  ({ source, destination }) => {
    const to = opts.fixed ? inside(destination) : path.resolve(root, destination)
    save(to, content(inside(source)))
    fs.rmSync(inside(source))
    return 'Moved.'
  },
)

server.tool('word_count', 'Count the words of a document.', { path: PATH }, ['path'], ({ path: name }) => ({
  path: name,
  words: content(inside(name)).split(/\s+/).filter(Boolean).length,
}))

server.tool(
  'check_name', 'Tell whether a name is allowed for a document.', { name: string('Name', { examples: ['new.md'] }) }, ['name'],
  ({ name }) => {
    if (/[/\\]|\.\./.test(name)) throw new ToolError(`ENOENT: no such file or directory, open '${name}'`)
    return `${name} is allowed.`
  },
)

server.template('docs://', 'path', 'A document by its URL-encoded path', (name) => {
  if (opts.fixed) return content(inside(decodeURIComponent(name)))
  if (name.includes('..') || name.startsWith('/')) throw new ToolError('Access denied')
  return content(path.resolve(root, decodeURIComponent(name)))
})

server.prompt('summarize', 'Ask for a summary of a document.', { path: 'Path of the document' }, ({ path: name }) =>
  `Summarize this document:\n\n${content(opts.fixed ? inside(name) : path.join(root, name))}`)

server.completion = (name, value) => {
  if (name !== 'path') return []
  const folder = value.includes('/') ? value.slice(0, value.lastIndexOf('/') + 1) : ''
  const names = fs.readdirSync(opts.fixed ? inside(folder || '.') : path.join(root, folder))
  return names.map((entry) => folder + entry).filter((entry) => entry.startsWith(value))
}

server.run(opts)
