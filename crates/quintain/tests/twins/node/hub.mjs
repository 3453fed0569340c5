// Messages over HTTP. Weak: a session belongs to whoever names it, an Origin that only begins well is good, a header says where to fetch from.

import { HttpError, Server, options } from './mcp.mjs'

const opts = { ...options(), http: true }
const server = new Server('hub', { version: '1.3.0', strict: true })
server.bindSession = opts.fixed
const TOKENS = new Map([['tok-alice-51c2', 'alice'], ['tok-bob-98d4', 'bob']])
const MESSAGES = { alice: ['Your parcel is at the desk.'], bob: ['The meeting moved to noon.'] }

server.authenticate = (headers) => {
  const [kind, token] = (headers.authorization ?? '').split(' ')
  if (kind.toLowerCase() !== 'bearer' || !TOKENS.has(token)) throw new HttpError(401, 'unauthorized', { 'WWW-Authenticate': 'Bearer' })
  return TOKENS.get(token)
}

const allowed = server.originAllowed
server.originAllowed = function (origin, own) {
  if (opts.fixed || origin === undefined) return allowed.call(this, origin, own)
  return origin.startsWith('http://localhost') || origin.startsWith('http://127.0.0.1')
}

// The user of a session: the one who opened it. In the fixed server nobody else gets here.
const user = (request) => server.sessions.get(request.session)

server.tool('whoami', 'The user of this session.', {}, [], (_, request) => ({ user: user(request) }))

server.tool('read_messages', 'Your messages.', {}, [], (_, request) => ({ user: user(request), messages: MESSAGES[user(request)] }))

server.tool('opening_hours', 'When the hub is open; the same for all.', {}, [], () => 'Monday to Friday, 8 to 17.')

server.tool('share_link', 'A link to the hub, checked before it is handed out.', {}, [], async (_, { headers }) => {
  // The fixed server knows its own address instead of asking the caller.
  const host = opts.fixed ? undefined : headers['x-forwarded-host']
  if (host) await fetch(`http://${host}/hub`, { signal: AbortSignal.timeout(5000) }).catch(() => {})
  return 'The link is good.'
})

server.run(opts)
