// Orders. Weak: nothing is validated, errors carry the stack, records and settings are shown whole.

import { Server, ToolError, integer, obj, options, string } from './mcp.mjs'

const opts = options()
const server = new Server('orders', { version: '3.0.3', strict: opts.fixed })
if (!opts.fixed) server.crashed = (error) => ({ content: [{ type: 'text', text: error.stack }], isError: true })

// Appends the check digit of a card.
function luhn(digits) {
  const total = [...digits].reverse().reduce((sum, d, i) => sum + (i % 2 ? Number(d) : Number(d) > 4 ? d * 2 - 9 : d * 2), 0)
  return digits + ((10 - (total % 10)) % 10)
}

// A token that looks like one, from no real service; the same for each start.
let state = 7
function token(prefix, length) {
  let text = prefix
  while (text.length < prefix.length + length) {
    state = (state * 1103515245 + 12345) % 2147483648
    text += 'ABCDEFGHJKLMNPQRSTUVWXYZ234567'[(state >> 16) % 30]
  }
  return text
}

const ORDERS = new Map([
  ['O-1', { buyer: { name: 'Ada Lind', email: 'ada.lind@mail.example', card: luhn('453201511283036') }, lines: [{ item: 'lamp', count: 2 }] }],
  ['O-2', { buyer: { name: 'Ben Marr', email: 'ben.marr@mail.example', card: luhn('530125073294118') }, lines: [{ item: 'chair', count: 1 }] }],
])
const ACCESS = token('AKIA', 16)
const ORDER = string('Id of the order, from list_orders', { pattern: '^O-[0-9]+$', examples: ['O-1'] })

server.tool('list_orders', 'List the orders.', {}, [], () => ({ orders: [...ORDERS.keys()] }))

server.tool('order_total', 'How many things an order has.', { orderId: ORDER }, ['orderId'], ({ orderId }) => {
  if (opts.fixed && !ORDERS.has(orderId)) throw new ToolError('No such order')
  return { total: ORDERS.get(orderId).lines.reduce((sum, line) => sum + line.count, 0) }
})

server.tool('order_buyer', 'Who ordered.', { orderId: ORDER }, ['orderId'], ({ orderId }) => {
  const order = ORDERS.get(orderId)
  if (!order) throw new ToolError('No such order')
  return opts.fixed ? { name: order.buyer.name, card: `**** ${order.buyer.card.slice(-4)}` } : order.buyer
})

server.tool(
  'change_line', 'Change a line of an order.',
  { orderId: ORDER, line: obj({ item: string('Item', { enum: ['lamp', 'chair'] }), count: integer('How many', { minimum: 1, maximum: 99 }) }, ['item', 'count']) },
  ['orderId', 'line'],
  ({ orderId, line }) => ({ orderId, changed: true, count: line?.count }),
)

server.tool('storage_status', 'Status of the storage of invoices.', {}, [], () => ({
  bucket: 'invoices', reachable: true, ...(opts.fixed ? {} : { access_key_id: ACCESS }),
}))

server.tool(
  'track_parcel', 'Where a parcel is.', { parcel: string('Number of the parcel', { pattern: '^[0-9]{8,20}$', examples: ['4024007111111118'] }) }, ['parcel'],
  ({ parcel }) => {
    if (typeof parcel !== 'string' || !/^[0-9]{8,20}$/.test(parcel)) throw new ToolError(`Error: not a parcel: ${parcel}\n    at parcel (input:1:1)`)
    return { parcel, checksum: 'd41d8cd98f00b204e9800998ecf8427e', place: 'on its way' }
  },
)

server.resource('config://orders', 'Configuration', () => `region=eu\naccess_key_id=${opts.fixed ? '(set)' : ACCESS}\n`)

server.run(opts)
