// Web addresses. Weak: a pattern on the text of the address, redirects that are followed, schemes that are not looked at.

import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import dns from 'node:dns/promises'
import net from 'node:net'
import { fileURLToPath } from 'node:url'
import { Server, ToolError, options, string } from './mcp.mjs'

const opts = options('mirror')
const mirror = opts.mirror ?? 'https://mirror.example'
const server = new Server('links', { version: '0.8.0', strict: true })
// Pages that are kept, so that the server is of use without a network.
const KEPT = new Map([['https://example.com/', '<h1>Example Domain</h1>'], ['https://example.org/guide.md', '# Guide']])
const URL_ = string('Address of a public web page', { format: 'uri', minLength: 1, examples: ['https://example.com/'] })

const notPublic = new net.BlockList()
for (const [ip, bits] of [['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['224.0.0.0', 3]]) {
  notPublic.addSubnet(ip, bits, 'ipv4')
}
for (const [ip, bits] of [['::', 96], ['::ffff:0:0', 96], ['64:ff9b::', 96], ['fc00::', 7], ['fe80::', 10], ['ff00::', 8]]) {
  notPublic.addSubnet(ip, bits, 'ipv6')
}

function web(text) {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!['http:', 'https:'].includes(url?.protocol)) throw new ToolError(`Not a web address: ${text}`)
  return url
}

// One request to a public address; the address that was checked is the one that is connected to. Redirects are not followed.
async function getPublic(text) {
  const url = web(text)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const found = await dns.lookup(host, { all: true }).catch(() => [])
  if (!found.length || found.some((a) => notPublic.check(a.address, a.family === 6 ? 'ipv6' : 'ipv4'))) throw new ToolError('Not a public address')
  return new Promise((resolve, reject) => {
    const client = url.protocol === 'https:' ? https : http
    const lookup = (_, options, done) => (options.all ? done(null, found.slice(0, 1)) : done(null, found[0].address, found[0].family))
    const request = client.get(url, { lookup, timeout: 5000 }, async (response) => {
      let body = ''
      for await (const part of response.setEncoding('utf8')) body += part
      resolve(body.slice(0, 10000))
    })
    request.on('timeout', () => request.destroy()).on('error', () => reject(new ToolError('The page cannot be fetched')))
  })
}

async function get(url, settings = {}) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5000), ...settings })
    return (await response.text()).slice(0, 10000)
  } catch {
    throw new ToolError('The page cannot be fetched')
  }
}

server.tool(
  'fetch_page', 'Fetch a public web page. Addresses of this machine and of private networks are refused.', { url: URL_ }, ['url'],
  ({ url }) => {
    if (KEPT.has(url)) return KEPT.get(url)
    if (opts.fixed) return getPublic(url)
    if (/^https?:\/\/(localhost|127\.|10\.|192\.168\.|169\.254\.|\[)/i.test(url)) throw new ToolError('Private addresses are refused')
    return get(web(url))
  },
)

server.tool(
  'fetch_mirror', `Fetch a file from the mirror ${mirror} and from no other place.`,
  { url: string('Address below the mirror', { format: 'uri', examples: [`${mirror}/index.txt`] }) }, ['url'],
  ({ url }) => {
    if (!url.startsWith(`${mirror}/`)) throw new ToolError(`Not on the mirror: ${url}`)
    return get(url, { redirect: opts.fixed ? 'error' : 'follow' })
  },
)

server.tool(
  'notify_when_done', 'Call a public address when the work is done; it is asked once, in the background.', { callbackUrl: URL_ }, ['callbackUrl'],
  ({ callbackUrl }) => {
    const asked = opts.fixed ? getPublic(callbackUrl) : get(callbackUrl, { method: 'POST', body: '{}' })
    asked.catch(() => {})
    return 'Noted.'
  },
)

server.tool(
  'make_link', 'Make a link to a web page, in HTML.', { url: URL_, label: string('Text of the link', { maxLength: 80, examples: ['Example'] }) }, ['url', 'label'],
  ({ url, label }) => {
    const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
    return `<a href="${escape(opts.fixed ? web(url).href : url)}">${escape(label)}</a>`
  },
)

server.tool(
  'import_document', 'Import a document from the web.', { url: string('Address of the document', { format: 'uri', examples: ['https://example.org/guide.md'] }) }, ['url'],
  ({ url }) => {
    if (KEPT.has(url)) return KEPT.get(url)
    // Left over from the days of local documents.
    if (!opts.fixed && url.startsWith('file:')) return fs.readFileSync(fileURLToPath(url), 'utf8').slice(0, 10000)
    return getPublic(url)
  },
)

server.tool('parse_link', 'Take an address apart. It is not fetched.', { url: URL_ }, ['url'], ({ url }) => {
  if (!URL.canParse(url)) throw new ToolError(`Invalid URL: ${url}`)
  const { protocol, host, pathname } = new URL(url)
  return `${url}: ${protocol} at ${host}, path ${pathname}`
})

server.run(opts)
