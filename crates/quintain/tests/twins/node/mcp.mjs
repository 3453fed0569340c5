// A small MCP server layer for the Node twins: stdio and streamable HTTP, protocol 2025-06-18 and 2025-11-25.
//
// It speaks the protocol correctly and survives malformed input. It checks arguments against the schemas only with
// `strict: true`, so that what a twin lets through is the doing of the twin.

import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

const VERSIONS = ['2025-06-18', '2025-11-25']
const MAX_BODY = 4 << 20

// Becomes a result with `isError`.
export class ToolError extends Error {}

export class RpcError extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}

export class HttpError extends Error {
  constructor(status, message, headers = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

// The command line that all twins share; `more` are further option names.
export function options(...more) {
  const text = { type: 'string' }
  const { values } = parseArgs({
    options: {
      fixed: { type: 'boolean', default: false },
      root: text,
      http: { type: 'boolean', default: false },
      port: { type: 'string', default: '0' },
      ...Object.fromEntries(more.map((name) => [name, text])),
    },
  })
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
  // The given root, or a temporary one that is deleted at the end.
  let root = values.root
  return Object.defineProperty(values, 'root', {
    enumerable: false,
    get() {
      if (!root) {
        root = fs.mkdtempSync(path.join(os.tmpdir(), 'twin-'))
        process.on('exit', () => fs.rmSync(root, { recursive: true, force: true }))
      }
      return fs.realpathSync(root)
    },
  })
}

// Writes sample files below the root unless they exist.
export function seed(root, files) {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, name)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    if (!fs.existsSync(file)) fs.writeFileSync(file, content)
  }
}

export const string = (description, more = {}) => ({ type: 'string', description, ...more })
export const integer = (description, more = {}) => ({ type: 'integer', description, ...more })
export function obj(properties, required = [], more = {}) {
  const schema = { type: 'object', properties, additionalProperties: false, ...more }
  if (required.length) schema.required = required
  return schema
}

const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v)
const TYPES = {
  string: (v) => typeof v === 'string',
  integer: (v) => Number.isInteger(v),
  number: (v) => Number.isFinite(v),
  boolean: (v) => typeof v === 'boolean',
  array: (v) => Array.isArray(v),
  object: isObject,
  null: (v) => v === null,
}

const FORMATS = { uri: /^[A-Za-z][A-Za-z0-9+.-]*:\S*$/, date: /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/ }

// What is wrong with a value: the part of JSON Schema that the twins use.
export function faults(schema, value, at = '') {
  if (schema.type && !TYPES[schema.type](value)) return [`${at || '/'} must be of type ${schema.type}`]
  const found = []
  if (schema.enum && !schema.enum.includes(value)) found.push(`${at} must be one of ${schema.enum.join(', ')}`)
  if (typeof value === 'string') {
    if (schema.pattern && !new RegExp(schema.pattern, 'u').test(value)) found.push(`${at} must match ${schema.pattern}`)
    if (schema.format && !FORMATS[schema.format].test(value)) found.push(`${at} must be of the format ${schema.format}`)
    if (value.length < (schema.minLength ?? 0) || value.length > (schema.maxLength ?? 1 << 20)) found.push(`${at} has the wrong length`)
  } else if (typeof value === 'number') {
    if (value < (schema.minimum ?? value) || value > (schema.maximum ?? value)) found.push(`${at} is out of range`)
  } else if (Array.isArray(value)) {
    if (schema.format && !FORMATS[schema.format].test(value)) found.push(`${at} must be of the format ${schema.format}`)
    if (value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? 1 << 20)) found.push(`${at} has the wrong number of items`)
    value.forEach((item, index) => found.push(...faults(schema.items ?? {}, item, `${at}/${index}`)))
  } else if (isObject(value)) {
    const known = schema.properties ?? {}
    for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) found.push(`${at}/${name} is required`)
    for (const [name, item] of Object.entries(value)) {
      if (Object.hasOwn(known, name)) found.push(...faults(known[name], item, `${at}/${name}`))
      else if (schema.additionalProperties === false) found.push(`${at} has an unknown property`)
      else if (isObject(schema.additionalProperties)) found.push(...faults(schema.additionalProperties, item, `${at}/${name}`))
    }
  }
  return found
}

// One frame as JSON.
export function decode(data) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(data))
  } catch {
    throw new RpcError(-32700, 'Parse error')
  }
}

// The result of a handler as the result of tools/call.
function content(result) {
  if (isObject(result) && 'content' in result) return result
  if (typeof result === 'string') return { content: [{ type: 'text', text: result }] }
  const shown = { content: [{ type: 'text', text: JSON.stringify(result, null, 1) ?? '' }] }
  if (isObject(result)) shown.structuredContent = result
  return shown
}

export const failure = (text) => ({ content: [{ type: 'text', text }], isError: true })

export class Server {
  checkHost = true
  checkOrigin = true
  bindSession = true
  enforceVisible = true
  tools = new Map()
  resources = new Map()
  templates = new Map()
  prompts = new Map()
  sessions = new Map()
  completion = null
  metadata = null // of the protected resource (RFC 9728)

  constructor(name, { version = '1.0.0', strict = false, instructions } = {}) {
    this.info = { name, version }
    this.strict = strict
    this.instructions = instructions
  }

  // Who calls. `request` has `headers`, and `caller`: what this returned for the request.
  authenticate(headers, query) {
    return null
  }

  // What a twin declares.

  tool(name, description, properties, required, handler, { visible = () => true, schema, ...more } = {}) {
    const shown = { name, description, inputSchema: schema ?? obj(properties, required), ...more }
    this.tools.set(name, { shown, handler, visible })
  }

  resource(uri, name, handler, more = {}) {
    this.resources.set(uri, { shown: { uri, name, mimeType: 'text/plain', ...more }, handler })
  }

  // A template `prefix{+variable}`: the handler gets what follows the prefix, as sent.
  template(prefix, variable, name, handler, more = {}) {
    this.templates.set(prefix, { shown: { uriTemplate: `${prefix}{+${variable}}`, name, mimeType: 'text/plain', ...more }, handler })
  }

  prompt(name, description, parameters, handler) {
    const shown = Object.entries(parameters).map(([n, d]) => ({ name: n, description: d, required: true }))
    this.prompts.set(name, { shown: { name, description, arguments: shown }, handler })
  }

  // The protocol: the reply to one frame, or null.

  async answer(data, request) {
    let id = null
    try {
      const message = decode(data)
      if (!isObject(message) || message.jsonrpc !== '2.0') throw new RpcError(-32600, 'Invalid Request')
      const { method, params = {} } = message
      if (!('id' in message) || (method === undefined && ('result' in message || 'error' in message))) return null
      if (typeof message.id !== 'string' && !Number.isInteger(message.id)) {
        throw new RpcError(-32600, 'Invalid Request: id must be a string or an integer')
      }
      id = message.id
      if (typeof method !== 'string') throw new RpcError(-32600, 'Invalid Request')
      if (!isObject(params)) throw new RpcError(-32602, 'params must be an object')
      return { jsonrpc: '2.0', id, result: await this.dispatch(method, params, request) }
    } catch (error) {
      if (error instanceof HttpError) throw error
      const code = error instanceof RpcError ? error.code : -32603
      return { jsonrpc: '2.0', id, error: { code, message: code === -32603 ? 'Internal error' : error.message } }
    }
  }

  dispatch(method, params, request) {
    const shown = (map) => [...map.values()].map((entry) => entry.shown)
    switch (method) {
      case 'initialize': return this.initialize(params)
      case 'ping': return {}
      case 'tools/list':
        return { tools: [...this.tools.values()].filter((t) => t.visible(request)).map((t) => t.shown) }
      case 'tools/call': return this.call(params, request)
      case 'resources/list': return { resources: shown(this.resources) }
      case 'resources/templates/list': return { resourceTemplates: shown(this.templates) }
      case 'resources/read': return this.read(params, request)
      case 'prompts/list': return { prompts: shown(this.prompts) }
      case 'prompts/get': return this.getPrompt(params, request)
      case 'completion/complete': return this.complete(params, request)
      default: throw new RpcError(-32601, 'Method not found')
    }
  }

  initialize(params) {
    const capabilities = { tools: {} }
    if (this.resources.size || this.templates.size) capabilities.resources = {}
    if (this.prompts.size) capabilities.prompts = {}
    if (this.completion) capabilities.completions = {}
    return {
      protocolVersion: VERSIONS.includes(params.protocolVersion) ? params.protocolVersion : VERSIONS.at(-1),
      capabilities,
      serverInfo: this.info,
      ...(this.instructions ? { instructions: this.instructions } : {}),
    }
  }

  async call(params, request) {
    const { name, arguments: given = {} } = params
    if (typeof name !== 'string' || !isObject(given)) throw new RpcError(-32602, 'name must be a string and arguments an object')
    const tool = this.tools.get(name)
    if (!tool || (this.enforceVisible && !tool.visible(request))) return this.unknownTool(name)
    if (this.strict) {
      const found = faults(tool.shown.inputSchema, given)
      if (found.length) return failure(`Invalid arguments: ${found.slice(0, 5).join('; ')}`)
    }
    try {
      return content(await tool.handler(given, request))
    } catch (error) {
      if (error instanceof RpcError || error instanceof HttpError) throw error
      return error instanceof ToolError ? failure(error.message) : this.crashed(error)
    }
  }

  unknownTool() {
    throw new RpcError(-32602, 'Unknown tool')
  }

  crashed() {
    return failure('Internal error')
  }

  async read({ uri }, request) {
    if (typeof uri !== 'string') throw new RpcError(-32602, 'uri must be a string')
    const prefix = [...this.templates.keys()].find((p) => uri.startsWith(p))
    const found = this.resources.get(uri) ?? this.templates.get(prefix)
    if (!found) throw new RpcError(-32002, 'Resource not found')
    try {
      const text = await found.handler(this.resources.has(uri) ? request : uri.slice(prefix.length), request)
      return { contents: [{ uri, mimeType: found.shown.mimeType, text }] }
    } catch (error) {
      throw new RpcError(-32002, error instanceof ToolError ? error.message : 'Resource not found')
    }
  }

  async getPrompt({ name, arguments: given = {} }, request) {
    const prompt = this.prompts.get(name)
    if (!prompt) throw new RpcError(-32602, 'Unknown prompt')
    if (!isObject(given) || !prompt.shown.arguments.every((a) => typeof given[a.name] === 'string')) {
      throw new RpcError(-32602, 'Missing prompt argument')
    }
    try {
      const text = await prompt.handler(given, request)
      return { messages: [{ role: 'user', content: { type: 'text', text } }] }
    } catch (error) {
      throw new RpcError(-32602, error instanceof ToolError ? error.message : 'Invalid prompt argument')
    }
  }

  async complete({ argument }) {
    if (!this.completion || !isObject(argument) || typeof argument.value !== 'string') throw new RpcError(-32602, 'Nothing to complete')
    let values = []
    try {
      values = await this.completion(argument.name, argument.value)
    } catch {}
    return { completion: { values: values.slice(0, 100), total: values.length, hasMore: values.length > 100 } }
  }

  // Transports.

  run(opts) {
    if (opts.http) this.serve(Number(opts.port))
    else this.stdio()
  }

  async stdio() {
    const request = { headers: {}, caller: this.authenticate({}, new URLSearchParams()) }
    let pending = []
    for await (const chunk of process.stdin) {
      let rest = chunk
      for (let end; (end = rest.indexOf(10)) >= 0; rest = rest.subarray(end + 1)) {
        await this.reply(Buffer.concat([...pending, rest.subarray(0, end)]), request)
        pending = []
      }
      if (rest.length) pending.push(rest)
    }
    process.exit(0)
  }

  async reply(line, request) {
    if (!line.toString('latin1').trim()) return
    const reply = await this.answer(line, request)
    if (reply) process.stdout.write(JSON.stringify(reply) + '\n')
  }

  serve(port) {
    const listener = http.createServer((req, res) => {
      this.exchange(req, listener.address().port).then(
        ({ status, body, headers }) => send(res, status, body, headers),
        (error) => send(res, error.status ?? 500, { error: error.status ? error.message : 'internal error' }, error.headers),
      )
    })
    listener.listen(port, '127.0.0.1', () => {
      this.url = `http://127.0.0.1:${listener.address().port}/mcp`
      process.stderr.write(`listening on ${this.url}\n`)
    })
  }

  // What every request passes: path, Host, Origin, credentials, session.
  async exchange(req, port) {
    const target = new URL(req.url, 'http://127.0.0.1')
    const body = await readBody(req)
    if (this.metadata && target.pathname.startsWith('/.well-known/oauth-protected-resource')) {
      return { status: 200, body: { resource: this.url, ...this.metadata } }
    }
    if (target.pathname !== '/mcp') throw new HttpError(404, 'not found')
    const own = [`127.0.0.1:${port}`, `localhost:${port}`]
    if (this.checkHost && !own.includes(req.headers.host)) throw new HttpError(403, 'forbidden host')
    if (!this.originAllowed(req.headers.origin, own)) throw new HttpError(403, 'forbidden origin')
    const request = { headers: req.headers, caller: this.authenticate(req.headers, target.searchParams) }
    if (req.method === 'DELETE') {
      this.sessions.delete(this.session(req, request))
      return { status: 200 }
    }
    if (req.method !== 'POST') throw new HttpError(405, 'no stream', { Allow: 'POST, DELETE' })
    let message = null
    try {
      message = decode(body)
    } catch {}
    const headers = {}
    if (message?.method === 'initialize') {
      headers['Mcp-Session-Id'] = randomBytes(18).toString('base64url')
      this.sessions.set(headers['Mcp-Session-Id'], request.caller)
    } else if (message !== null) {
      request.session = this.session(req, request)
    }
    const reply = await this.answer(body, request)
    return reply ? { status: message === null ? 400 : 200, body: reply, headers } : { status: 202 }
  }

  originAllowed(origin, own) {
    return !this.checkOrigin || origin === undefined || own.some((o) => origin === `http://${o}`)
  }

  session(req, request) {
    const given = req.headers['mcp-session-id']
    if (given === undefined) throw new HttpError(400, 'Mcp-Session-Id is required')
    if (!this.sessions.has(given) || (this.bindSession && this.sessions.get(given) !== request.caller)) {
      throw new HttpError(404, 'no such session')
    }
    return given
  }
}

async function readBody(req) {
  const parts = []
  let size = 0
  for await (const part of req) {
    size += part.length
    if (size > MAX_BODY) throw new HttpError(413, 'body too large', { Connection: 'close' })
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function send(res, status, body, headers = {}) {
  const data = body === undefined ? '' : JSON.stringify(body)
  if (body !== undefined) headers = { ...headers, 'Content-Type': 'application/json' }
  res.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(data) })
  res.end(data)
}
