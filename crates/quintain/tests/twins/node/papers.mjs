// Reads documents below a root. Weak: path.join, and no look at where that leads.

import fs from 'node:fs'
import path from 'node:path'
import { Server, ToolError, options, string } from './mcp.mjs'

const opts = options()
const server = new Server('papers', { version: '0.4.1', strict: true })

function opened(name) {
  const full = path.resolve(opts.root, name)
  try {
    const real = fs.realpathSync(full)
    if (opts.fixed && !real.startsWith(opts.root + path.sep)) throw new ToolError('Access denied')
    return fs.readFileSync(real, 'latin1').slice(0, 1 << 20)
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError('There is no such document')
  }
}

const pathOf = (kind) => ({ path: string(`Path of the ${kind}`, { minLength: 1 }) })

server.tool('pdf_to_text', 'Text of a PDF file.', pathOf('PDF file'), ['path'], ({ path: name }) => {
  const data = opened(name)
  if (!data.startsWith('%PDF-')) throw new ToolError('This is no PDF file')
  return [...data.matchAll(/\(([^)]*)\) Tj/g)].map((found) => found[1]).join('\n')
})

server.tool('notebook_to_text', 'Texts of a Jupyter notebook (.ipynb).', pathOf('Jupyter notebook'), ['path'], ({ path: name }) => {
  const data = opened(name)
  try {
    return JSON.parse(data).cells.map((cell) => [].concat(cell.source).join('')).join('\n')
  } catch {
    throw new ToolError('This is no notebook')
  }
})

server.run(opts)
