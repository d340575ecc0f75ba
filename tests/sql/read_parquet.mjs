// read_parquet.mjs NODE_MODULES FILE…: rows, columns and the sum of the column `value`, as hyparquet reads them.
import { pathToFileURL } from 'node:url'
import path from 'node:path'

const [modules, ...files] = process.argv.slice(2)
const load = (name) => import(pathToFileURL(path.resolve(modules, name)).href)
const { asyncBufferFromFile } = await load('hyparquet/src/node.js')
const { parquetMetadataAsync, parquetReadObjects } = await load('hyparquet/src/index.js')
const { compressors } = await load('hyparquet-compressors/src/index.js')
const out = []
for (const name of files) {
  const file = await asyncBufferFromFile(name)
  const metadata = await parquetMetadataAsync(file)
  const rows = await parquetReadObjects({ file, compressors })
  const columns = metadata.schema.slice(1).map((column) => column.name)
  out.push({ rows: rows.length, columns, sum: rows.reduce((sum, row) => sum + Number(row.value ?? 0), 0) })
}
console.log(JSON.stringify(out))
