// Keys of rooms over HTTP with signed tokens (HS256). Weak: no token is a guest, a bad token too, "None" is not "none", times in the wrong unit.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { HttpError, Server, ToolError, options, string } from './mcp.mjs'

const opts = { ...options(), http: true }
const server = new Server('rooms', { version: '1.9.0', strict: true })
server.metadata = { authorization_servers: ['https://login.rooms.example'], scopes_supported: ['rooms:read', 'rooms:write'] }
const KEY = process.env.VAULT_KEY ?? 'vault-key-of-the-tests'
const AUDIENCE = 'rooms-mcp'
const ROOMS = new Map([['north', 'free'], ['south', 'taken']])
const ROOM = string('Name of the room, from list_rooms', { pattern: '^[a-z]{1,20}$', examples: ['north'] })

function refuse(status, error) {
  const where = server.url.replace('/mcp', '/.well-known/oauth-protected-resource')
  throw new HttpError(status, error, { 'WWW-Authenticate': `Bearer error="${error}", resource_metadata="${where}"` })
}

const json = (part) => JSON.parse(Buffer.from(part, 'base64url').toString())

// What a valid token says.
function claims(token) {
  const [head, body, signature] = token.split('.')
  const { alg } = json(head)
  const said = json(body)
  const due = createHmac('sha256', KEY).update(`${head}.${body}`).digest()
  const given = Buffer.from(signature ?? '', 'base64url')
  const signed = due.length === given.length && timingSafeEqual(due, given)
  if (opts.fixed) {
    if (alg !== 'HS256' || !signed || said.aud !== AUDIENCE || !(said.exp > Date.now() / 1000)) throw new Error('invalid')
  } else {
    // A token of "None" has no signature to look at; exp is taken for milliseconds only if it looks like them.
    if (alg === 'none' || (alg === 'HS256' && !signed)) throw new Error('invalid')
    if (said.exp > 1e12 && said.exp < Date.now()) throw new Error('expired')
  }
  return said
}

server.authenticate = (headers) => {
  const [kind, token] = (headers.authorization ?? '').split(' ')
  try {
    if (kind.toLowerCase() !== 'bearer') throw new Error('missing')
    const { sub, scope = '' } = claims(token)
    return `${sub} ${scope}`
  } catch {
    // Local tools were to go on working without a login.
    if (!opts.fixed) return 'guest rooms:read'
    return refuse(401, 'invalid_token')
  }
}

const demand = ({ caller }, scope) => caller.split(' ').includes(scope) || refuse(403, 'insufficient_scope')

server.tool('whoami', 'Whose token this is.', {}, [], (_, { caller }) => ({ user: caller.split(' ')[0] }))

server.tool('list_rooms', 'List the rooms.', {}, [], (_, request) => {
  demand(request, 'rooms:read')
  return { rooms: [...ROOMS.keys()] }
})

server.tool('room_state', 'Tell whether a room is free.', { room: ROOM }, ['room'], ({ room }, request) => {
  demand(request, 'rooms:read')
  if (!ROOMS.has(room)) throw new ToolError(`No such room: ${room}`)
  return { room, state: ROOMS.get(room) }
})

server.tool('book_room', 'Book a room. Needs the scope rooms:write.', { room: ROOM }, ['room'], ({ room }, request) => {
  if (opts.fixed) demand(request, 'rooms:write')
  if (!ROOMS.has(room)) throw new ToolError(`No such room: ${room}`)
  ROOMS.set(room, 'taken')
  return { room, state: 'taken' }
})

server.run(opts)
