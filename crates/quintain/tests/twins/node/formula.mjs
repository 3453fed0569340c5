// Sheets and pages. Weak: new Function, vm and template literals evaluate what callers send. Arithmetic alone is the contract of one tool.

import vm from 'node:vm'
import { Server, ToolError, obj, options, string } from './mcp.mjs'

const opts = options()
const server = new Server('sheets', { version: '4.0.0', strict: true })
const CELLS = { A1: 12, A2: 30, B1: 7 }
const ROWS = [{ name: 'lamp', price: 30 }, { name: 'chair', price: 80 }]

// Numbers and cells joined by + - * / and parentheses.
function arithmetic(text) {
  const tokens = text.match(/\d+(?:\.\d+)?|[A-Z]\d|[-+*/()]|\S/g) ?? []
  let at = 0
  const atom = () => {
    const token = tokens[at++]
    if (token === '(') {
      const value = sum()
      if (tokens[at++] !== ')') throw new ToolError('A parenthesis is open')
      return value
    }
    const value = Object.hasOwn(CELLS, token ?? '') ? CELLS[token] : Number(token)
    if (!Number.isFinite(value)) throw new ToolError(`Cannot calculate: ${text}`)
    return value
  }
  const level = (next, signs) => () => {
    let value = next()
    while (signs[tokens[at]]) value = signs[tokens[at++]](value, next())
    return value
  }
  const term = level(atom, { '*': (a, b) => a * b, '/': (a, b) => a / b })
  const sum = level(term, { '+': (a, b) => a + b, '-': (a, b) => a - b })
  const value = sum()
  if (at < tokens.length) throw new ToolError(`Cannot calculate: ${text}`)
  return value
}

const attempt = (action) => {
  try {
    return action()
  } catch (error) {
    throw error instanceof ToolError ? error : new ToolError('It cannot be evaluated')
  }
}

// Puts values in place of what the pattern finds.
const fill = (text, pattern, values) => text.replace(pattern, (_, name) => {
  if (!Object.hasOwn(values, name.trim())) throw new ToolError(`Unknown name: ${name.trim()}`)
  return values[name.trim()]
})

server.tool(
  'evaluate_formula', 'Calculate a formula of numbers, the cells A1, A2, B1 and + - * / ( ).',
  { formula: string('Formula', { maxLength: 200, examples: ['A1 + 2 * B1'] }) }, ['formula'],
  ({ formula }) => attempt(() => {
    if (opts.fixed) return { value: arithmetic(formula) }
    return { value: new Function(...Object.keys(CELLS), `return ${formula}`)(...Object.values(CELLS)) }
  }),
)

server.tool(
  'pluck_column', 'The values of one column: name or price.', { column: string('Name of the column', { maxLength: 200, examples: ['price'] }) }, ['column'],
  ({ column }) => attempt(() => {
    if (!opts.fixed) return { values: ROWS.map((row) => vm.runInNewContext(column, { ...row }, { timeout: 500 })) }
    if (!['name', 'price'].includes(column)) throw new ToolError(`No such column: ${column}`)
    return { values: ROWS.map((row) => row[column]) }
  }),
)

server.tool(
  'render_title', 'Fill a title such as "Report of ${month}".',
  {
    title: string('Title; ${month} and ${year} are known', { maxLength: 200, examples: ['Report of ${month}'] }),
    values: obj({ month: string('Month', { examples: ['May'] }), year: string('Year', { examples: ['2024'] }) }, ['month', 'year']),
  },
  ['title', 'values'],
  ({ title, values }) => attempt(() => {
    if (opts.fixed) return fill(title, /\$\{([^{}]*)\}/g, values)
    return new Function('month', 'year', `return \`${title}\``)(values.month, values.year)
  }),
)

server.tool(
  'render_page', 'Fill the blocks of a page; <%= user %> stands for the user.',
  { blocks: { type: 'array', minItems: 1, maxItems: 10, items: string('Block of the page', { maxLength: 500 }), examples: [['Hello <%= user %>']] } }, ['blocks'],
  ({ blocks }) => attempt(() => blocks.map((block) => {
    if (opts.fixed) return fill(block, /<%=([^%]*)%>/g, { user: 'Ada' })
    return block.replace(/<%=([^%]*)%>/g, (_, code) => new Function('user', `return ${code}`)('Ada'))
  }).join('\n')),
)

server.tool(
  'check_formula', 'Tell whether a formula could be calculated. It is not.', { formula: string('Formula', { examples: ['A1 + 1'] }) }, ['formula'],
  ({ formula }) => {
    if (/[^0-9A-Z+\-*/(). ]/.test(formula)) throw new ToolError(`SyntaxError: Unexpected token in "${formula}"`)
    return `"${formula}" could be calculated.`
  },
)

server.tool('quote_template', 'Show a template as a quotation.', { template: string('Template', { examples: ['Hello ${name}'] }) }, ['template'], ({ template }) => `> ${template}`)

server.run(opts)
