// Books on SQLite and readers in a store of documents. Weak: SQL from template strings, operators and $where from callers.

import path from 'node:path'
import { Server, ToolError, integer, obj, options, string } from './mcp.mjs'
import { Database, SqlError } from './sqlite.mjs'

const opts = options()
const server = new Server('library', { version: '2.5.0', strict: true })
const db = new Database(path.join(opts.root, 'library.db'))
db.script(`
  CREATE TABLE IF NOT EXISTS books (isbn TEXT PRIMARY KEY, title TEXT, year INTEGER, reserved INTEGER);
  INSERT OR IGNORE INTO books VALUES ('111', 'Rivers', 1990, 0), ('222', 'Mountains', 2004, 0), ('333', 'River Birds', 2011, 0), ('444', 'Drafts', 2020, 1);
  CREATE TABLE IF NOT EXISTS shelves (id INTEGER PRIMARY KEY, label TEXT);
  INSERT OR IGNORE INTO shelves VALUES (1, 'North'), (2, 'South');
`)

function rows(sql, ...values) {
  try {
    return db.rows(sql, ...values)
  } catch (error) {
    if (error instanceof SqlError) throw new ToolError('The request failed')
    throw error
  }
}

server.tool('search_books', 'Find books by a part of their title.', { title: string('Part of the title', { examples: ['River'] }) }, ['title'], ({ title }) => {
  const found = opts.fixed
    ? rows('SELECT isbn, title FROM books WHERE reserved = 0 AND title LIKE ?', `%${title}%`)
    : rows(`SELECT isbn, title FROM books WHERE reserved = 0 AND title LIKE '%${title}%'`)
  return { books: found.map(([isbn, name]) => ({ isbn, title: name })) }
})

server.tool(
  'list_books', 'List the books in some order.',
  { sort: obj({ by: string('Column: title or year', { examples: ['year'] }), descending: { type: 'boolean' } }, ['by']) }, ['sort'],
  ({ sort }) => {
    if (opts.fixed && !['title', 'year'].includes(sort.by)) throw new ToolError(`Cannot sort by ${sort.by}`)
    return { titles: rows(`SELECT title FROM books WHERE reserved = 0 ORDER BY ${sort.by}${sort.descending ? ' DESC' : ''}`).flat() }
  },
)

server.tool('book_exists', 'Tell whether the library has a book.', { isbn: string('ISBN', { examples: ['111'] }) }, ['isbn'], ({ isbn }) => {
  try {
    const found = opts.fixed ? db.rows('SELECT 1 FROM books WHERE isbn = ?', isbn) : db.rows(`SELECT 1 FROM books WHERE isbn = '${isbn}'`)
    return { exists: found.length > 0 }
  } catch {
    return { exists: false }
  }
})

server.tool('count_since', 'Count the books since a year.', { year: string('Year', { examples: ['2000'] }) }, ['year'], ({ year }) => {
  if (opts.fixed && !/^\d{4}$/.test(year)) throw new ToolError(`Not a year: ${year}`)
  return { count: rows(`SELECT COUNT(*) FROM books WHERE reserved = 0 AND year >= ${year}`)[0][0] }
})

server.tool(
  'label_shelf', 'Change the label of a shelf.',
  { shelf: integer('Number of the shelf', { minimum: 1, maximum: 2 }), label: string('New label', { maxLength: 200, examples: ['West'] }) }, ['shelf', 'label'],
  ({ shelf, label }) => {
    if (opts.fixed) rows('UPDATE shelves SET label = ? WHERE id = ?', label, shelf)
    else {
      try {
        db.script(`UPDATE shelves SET label = '${label}' WHERE id = ${shelf};`)
      } catch {}
    }
    return 'Done.'
  },
)

// Readers: documents and a matcher with operators.
const READERS = [
  { card: 'R-1', pin: '7315', city: 'Oslo', loans: 2 },
  { card: 'R-2', pin: '5528', city: 'Rome', loans: 0 },
  { card: 'R-3', pin: '1904', city: 'Oslo', loans: 5 },
]
const OPERATORS = { $eq: (a, b) => a === b, $ne: (a, b) => a !== b, $gt: (a, b) => a > b, $lt: (a, b) => a < b, $in: (a, b) => b.includes(a) }

function find(query) {
  return READERS.filter((reader) =>
    Object.entries(query).every(([field, wanted]) => {
      if (field === '$where') return new Function(`return (${wanted})`).call(reader)
      const conditions = typeof wanted === 'object' && wanted !== null ? wanted : { $eq: wanted }
      return Object.entries(conditions).every(([operator, value]) => OPERATORS[operator](reader[field], value))
    }))
}

server.tool(
  'reader_loans', 'How many books a reader has. The pin proves who asks.',
  { card: string('Number of the card', { pattern: '^R-[0-9]+$', examples: ['R-1'] }), pin: { description: 'Pin of the reader', examples: ['7315'] } }, ['card', 'pin'],
  ({ card, pin }) => {
    if (opts.fixed && typeof pin !== 'string') throw new ToolError('The pin must be a string')
    const [reader] = find({ card, pin })
    if (!reader) throw new ToolError('Wrong card or pin')
    return { loans: reader.loans }
  },
)

server.tool(
  'count_readers', 'Count readers by their city.',
  { filter: { type: 'object', description: 'Which readers: city', examples: [{ city: 'Oslo' }] } }, ['filter'],
  ({ filter }) => {
    if (opts.fixed && Object.entries(filter).some(([field, value]) => field !== 'city' || typeof value !== 'string')) {
      throw new ToolError('Only a city can be filtered by')
    }
    return { count: find(filter).length }
  },
)

server.tool('suggest_title', 'Tell whether a title may be suggested.', { title: string('Title', { examples: ['Lakes'] }) }, ['title'], ({ title }) => {
  if (/['";]/.test(title)) throw new ToolError(`SQLITE_ERROR: near "${title}": syntax error`)
  return `"${title}" was suggested.`
})

server.tool('year_books', 'Books of a year.', { year: integer('Year', { minimum: 1000, maximum: 2100, examples: [1990] }) }, ['year'], ({ year }) =>
  ({ titles: rows('SELECT title FROM books WHERE reserved = 0 AND year = ?', year).flat() }))

server.run(opts)
