// Looks into git repositories below a root. Weak: the path is compared as text.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { Server, ToolError, options, seed, string } from './mcp.mjs'

const opts = options()
const server = new Server('history', { version: '1.3.1', strict: true })
const own = path.join(opts.root, 'project')
const who = (part) => ({ [`GIT_${part}_NAME`]: 'Ada', [`GIT_${part}_EMAIL`]: 'ada@repo.example' })
const env = { PATH: process.env.PATH, HOME: opts.root, GIT_CONFIG_NOSYSTEM: '1', GIT_PAGER: 'cat', ...who('AUTHOR'), ...who('COMMITTER') }

function git(cwd, ...words) {
  try {
    const given = ['-c', 'safe.directory=*', ...words]
    return execFileSync('git', given, { cwd, env, timeout: 10000, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || '(nothing)'
  } catch {
    throw new ToolError('There is no repository')
  }
}

if (!fs.existsSync(own)) {
  seed(opts.root, { 'project/readme.txt': 'hello\n' })
  git(own, 'init', '-q', '-b', 'main')
  git(own, 'add', '.')
  git(own, 'commit', '-q', '-m', 'Start')
}

function folder(name) {
  const full = path.isAbsolute(name) ? name : path.join(opts.root, name)
  const real = fs.existsSync(full) ? fs.realpathSync(full) : ''
  if (opts.fixed ? !real.startsWith(opts.root + path.sep) : !full.startsWith(opts.root)) throw new ToolError('Access denied')
  return full
}

const REPO = { repo_path: string('Path of the repository', { minLength: 1, examples: [own] }) }

server.tool('commit_history', 'The last commits of a repository.', REPO, ['repo_path'], ({ repo_path: name }) => git(folder(name), 'log', '--format=%h %s', '-n', '5'))

server.run(opts)
