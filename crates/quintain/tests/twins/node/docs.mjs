// Documents over HTTP, a bearer token for each user. Weak: ids without owners, hidden tools, roles that nobody asks for, a shared cache.

import { createHash } from 'node:crypto'
import { HttpError, RpcError, Server, ToolError, options, string } from './mcp.mjs'

const opts = { ...options(), http: true }
const server = new Server('docs', { version: '7.0.0', strict: true })
server.enforceVisible = opts.fixed

const USERS = new Map([
  ['tok-alice-51c2', { name: 'alice', role: 'editor' }],
  ['tok-bob-98d4', { name: 'bob', role: 'reader' }],
  ['tok-root-77aa', { name: 'root', role: 'admin' }],
])
const DOCS = new Map()
for (const [owner, title] of [['alice', 'Salary plan'], ['alice', 'Garden plan'], ['bob', 'Holiday plan'], ['root', 'Server plan']]) {
  const id = `doc_${createHash('sha256').update(`${owner}/${title}`).digest('hex').slice(0, 12)}`
  DOCS.set(id, { id, owner, title, state: 'draft' })
}
const DOC_ID = string('Id of a document, from list_documents', { pattern: '^doc_[0-9a-f]{12}$' })
const cache = new Map()

server.authenticate = (headers) => {
  const [kind, token] = (headers.authorization ?? '').split(' ')
  const user = USERS.get(token)
  if (kind.toLowerCase() !== 'bearer' || !user) throw new HttpError(401, 'unauthorized', { 'WWW-Authenticate': 'Bearer' })
  return user
}

server.unknownTool = (name) => {
  throw new RpcError(-32602, opts.fixed ? 'Unknown tool' : `Unknown tool ${name}, there are: ${[...server.tools.keys()].join(', ')}`)
}

function own(id, caller) {
  const found = DOCS.get(id)
  if (found?.owner !== caller.name) throw new ToolError(`No such document: ${id}`)
  return found
}

function find(id, caller) {
  if (opts.fixed) return own(id, caller)
  if (!DOCS.has(id)) throw new ToolError(`No such document: ${id}`)
  return DOCS.get(id)
}

function demand(caller, ...roles) {
  if (!roles.includes(caller.role)) throw new ToolError(`Forbidden: this needs the role ${roles[0]}`)
}

server.tool('list_documents', 'List your documents.', {}, [], (_, { caller }) => ({
  documents: [...DOCS.values()].filter((d) => d.owner === caller.name).map(({ id, title }) => ({ id, title })),
}))

server.tool('get_document', 'Show one of your documents.', { id: DOC_ID }, ['id'], ({ id }, { caller }) => find(id, caller))

server.tool(
  'archive_documents', 'Archive some of your documents.',
  { ids: { type: 'array', items: DOC_ID, minItems: 1, maxItems: 10 } }, ['ids'],
  ({ ids }, { caller }) => {
    for (const id of ids) find(id, caller).state = 'archived'
    return { archived: ids.map((id) => ({ id, owner: DOCS.get(id).owner })) }
  },
)

server.tool('document_title', 'Title of one of your documents.', { id: DOC_ID }, ['id'], ({ id }, { caller }) => own(id, caller).title)

server.tool('my_summary', 'How many documents you have.', {}, [], (_, { caller }) => {
  const key = opts.fixed ? `summary ${caller.name}` : 'summary'
  if (!cache.has(key)) cache.set(key, { user: caller.name, documents: [...DOCS.values()].filter((d) => d.owner === caller.name).length })
  return cache.get(key)
})

server.tool('find_documents', 'Find your documents by words of their titles.', { words: string('Words', { maxLength: 60, examples: ['plan'] }) }, ['words'], ({ words }, { caller }) => {
  cache.set(opts.fixed ? `words ${caller.name}` : 'words', words)
  return { found: [...DOCS.values()].filter((d) => d.owner === caller.name && d.title.includes(words)).length }
})

server.tool('my_last_words', 'The words that you looked for last.', {}, [], (_, { caller }) => ({
  words: cache.get(opts.fixed ? `words ${caller.name}` : 'words') ?? '',
}))

server.tool(
  'set_banner', 'Choose the banner that all users see. For editors.', { banner: string('Banner', { enum: ['plain', 'festive'] }) }, ['banner'],
  ({ banner }, { caller }) => {
    if (opts.fixed) demand(caller, 'editor', 'admin')
    return { banner }
  },
)

server.tool('rebuild_index', 'Rebuild the index of all documents. For administrators.', {}, [], (_, { caller }) => {
  if (opts.fixed) demand(caller, 'admin')
  return { indexed: DOCS.size }
})

server.tool('check_quota', 'Show the quota of all users. For administrators.', {}, [], (_, { caller }) => {
  demand(caller, 'admin')
  return { quota: 100 }
})

server.tool('list_all_documents', 'List the documents of all users. For administrators.', {}, [], () => ({ documents: [...DOCS.values()] }), {
  visible: ({ caller }) => caller.role === 'admin',
})

server.tool('style_guide', 'The style guide; the same for all users.', {}, [], () => 'Write short sentences.')

server.run(opts)
