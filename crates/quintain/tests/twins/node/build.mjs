// A build service. Weak: exec with template strings; a deny list of characters; a tool without a schema.

import { execFileSync, execSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { Server, ToolError, obj, options, seed, string } from './mcp.mjs'

const opts = options()
const server = new Server('build', { version: '3.1.0', strict: true })
seed(opts.root, { 'targets.txt': 'docs\nimage\nlibrary\n' })

const settings = { cwd: opts.root, encoding: 'utf8', timeout: 10000, stdio: ['ignore', 'pipe', 'ignore'] }
function run(program, words) {
  try {
    return (words ? execFileSync(program, words, settings) : execSync(program, settings)).trim()
  } catch (error) {
    return String(error.stdout ?? '').trim()
  }
}

const TARGETS = fs.readFileSync(path.join(opts.root, 'targets.txt'), 'utf8').trim().split('\n')
const TAG = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

server.tool('list_targets', 'List what can be built.', {}, [], () => ({ targets: TARGETS }))

server.tool(
  'show_target', 'Show the targets whose name has a text.',
  { target: string('Name of the target, or a part of it', { examples: ['docs'] }) }, ['target'],
  ({ target }) => {
    if (opts.fixed) return run('grep', ['-F', '-e', target, 'targets.txt']) || 'No such target.'
    // Separators of commands are removed, substitutions are not.
    return run(`grep -F -e "${target.replace(/[;&|<>]/g, '')}" targets.txt`) || 'No such target.'
  },
)

server.tool(
  'build_targets', 'Build several targets, in order.',
  { targets: { type: 'array', items: string('Name of a target'), minItems: 1, maxItems: 10, examples: [['docs']] } }, ['targets'],
  ({ targets }) => {
    if (opts.fixed) {
      const unknown = targets.find((t) => !TARGETS.includes(t))
      if (unknown !== undefined) throw new ToolError(`Unknown target: ${unknown}`)
    }
    return run(`for t in ${targets.join(' ')}; do echo "built $t"; done`)
  },
)

server.tool(
  'publish', 'Publish a target that was built.',
  {
    target: string('Name of the target', { enum: TARGETS }),
    options: obj({ tag: string('Tag of the release', { examples: ['v1.2.0'] }), dryRun: { type: 'boolean' } }, ['tag']),
  },
  ['target', 'options'],
  ({ target, options: { tag } }) => {
    if (opts.fixed && !TAG.test(tag)) throw new ToolError(`Not a tag: ${tag}`)
    run(`echo ${target} '${tag}' >> published.log`)
    return 'Published.'
  },
)

server.tool(
  'warm_cache', 'Fill the cache of a target with some variables set.',
  {
    target: string('Name of the target', { enum: TARGETS }),
    env: { type: 'object', description: 'Variables: MODE, JOBS', additionalProperties: { type: 'string' }, examples: [{ MODE: 'fast' }] },
  },
  ['target', 'env'],
  ({ target, env }) => {
    if (opts.fixed) {
      const allowed = Object.entries(env).filter(([name]) => ['MODE', 'JOBS'].includes(name))
      execFileSync('true', [target], { ...settings, env: { PATH: process.env.PATH, ...Object.fromEntries(allowed) } })
    } else {
      run(`${Object.entries(env).map(([n, v]) => `export ${n}="${v}";`).join(' ')} true ${target}`)
    }
    return 'Warm.'
  },
)

// Older clients call this one; its schema was never written down.
const JOBS = ['nightly', 'weekly']
server.tool('run_job', 'Run a scheduled job now.', {}, [], (given) => {
  for (const name of ['job', 'label']) {
    if (typeof given[name] !== 'string') throw new ToolError(`Missing parameter: ${name} (string)`)
  }
  if (!JOBS.includes(given.job)) throw new ToolError(`Unknown job. Known jobs: ${JOBS.join(', ')}`)
  if (opts.fixed) return run('echo', ['job', given.job, 'label', given.label])
  return run(`echo job ${given.job} label ${given.label}`)
}, { schema: { type: 'object' } })

server.tool(
  'format_name', 'Print a name as it will appear in the log.',
  { name: string('Name to print', { examples: ['library'] }) }, ['name'],
  ({ name }) => run('printf', ['[build] %s\n', name]),
)

server.tool(
  'explain_failure', 'Explain why a command of a build failed.',
  { command: string('Command line that failed', { examples: ['make docs'] }) }, ['command'],
  ({ command }) => {
    if (/[;&|`$]/.test(command)) throw new ToolError(`sh: 1: syntax error near: ${command}`)
    return `The command "${command}" is not known to fail.`
  },
)

server.run(opts)
