// SQLite for the Node twins. Node has none built in before 22, so each statement goes through the sqlite3 module of Python.

import { spawnSync } from 'node:child_process'

const BRIDGE = `
import json, sqlite3, sys
ask = json.load(sys.stdin)
db = sqlite3.connect(ask["file"], isolation_level=None)
try:
    if ask["script"]:
        db.executescript(ask["sql"])
        rows = []
    else:
        rows = db.execute(ask["sql"], ask["values"]).fetchall()
    print(json.dumps({"rows": rows}))
except (sqlite3.Error, sqlite3.Warning) as error:
    print(json.dumps({"error": str(error)}))
`

export class SqlError extends Error {}

export class Database {
  constructor(file) {
    this.file = file
  }

  rows(sql, ...values) {
    return this.ask({ sql, values, script: false })
  }

  // Several statements, without values.
  script(sql) {
    this.ask({ sql, values: [], script: true })
  }

  ask(request) {
    const done = spawnSync('python3', ['-c', BRIDGE], { input: JSON.stringify({ ...request, file: this.file }), encoding: 'utf8' })
    const { rows, error } = JSON.parse(done.stdout)
    if (error) throw new SqlError(error)
    return rows
  }
}
