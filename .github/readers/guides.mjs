// Type-checks the TypeScript of the guides, and runs the receiver of webhooks that they show:
//   node guides.mjs folder
// The folder gets the files. `make readers` runs it.
import fs from 'node:fs'
import path from 'node:path'
import {createHmac} from 'node:crypto'
import {spawn, spawnSync} from 'node:child_process'
import ts from 'typescript'

const folder = path.resolve(process.argv[2])
const here = import.meta.dirname
const guides = path.join(here, '../../server/reference/guide')
const port = '4012'

const files = fs.readdirSync(guides).filter(name => name.endsWith('.md')).flatMap(name => {
  const text = fs.readFileSync(path.join(guides, name), 'utf8')
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code], i) => {
    const file = path.join(folder, `${name.slice(0, -3)}-${i}.mts`)
    fs.writeFileSync(file, code.replace(/\b3000\b/g, port))
    return file
  })
})
if (files.length === 0) throw new Error('the guides show no TypeScript')

const checked = spawnSync(path.join(here, 'node_modules/.bin/tsc'),
  ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node', '--typeRoots', path.join(here, 'node_modules/@types'), ...files], {encoding: 'utf8'})
if (checked.status !== 0) throw new Error('the TypeScript of the guides is wrong:\n' + checked.stdout + checked.stderr)

const source = files.find(file => fs.readFileSync(file, 'utf8').startsWith('// receiver.ts\n'))
const program = path.join(folder, 'receiver.mjs')
fs.writeFileSync(program, ts.transpileModule(fs.readFileSync(source, 'utf8'), {compilerOptions: {target: 'es2022', module: 'esnext'}}).outputText)

const secret = 'whsec_' + Buffer.alloc(32, 7).toString('base64')
const receiver = spawn(process.execPath, [program], {env: {...process.env, WEBHOOK_SECRET: secret}, stdio: ['ignore', 'pipe', 'inherit']})
let said = ''
receiver.stdout.on('data', text => (said += text))

const post = (body, signature) => fetch(`http://127.0.0.1:${port}/hooks`, {method: 'POST', body, headers: {'X-Service-Hmac-SHA256': signature}})

async function until(what) {
  for (let i = 0; i < 600; i++) {
    const got = await what()
    if (got) return got
    await new Promise(next => setTimeout(next, 100))
  }
  throw new Error('the receiver did not answer within a minute')
}

try {
  const body = JSON.stringify({id: 'whev_1', type: 'order.paid', data: {object: 'order', total_amount: 1900, currency: 'usd'}})
  const signature = createHmac('sha256', secret).update(body).digest('base64')
  const forged = await until(() => post(body, 'forged').catch(() => null))
  const other = JSON.stringify({id: 'whev_0', type: 'customer.created', data: {object: 'customer'}})
  const passed = await post(other, createHmac('sha256', secret).update(other).digest('base64'))
  const first = await post(body, signature)
  const second = await post(body, signature)
  const statuses = [forged.status, passed.status, first.status, second.status].join()
  if (statuses !== '401,204,204,204') throw new Error('the receiver answers ' + statuses)
  await until(() => said !== '')
  if (said !== 'order.paid 1900 usd\n') throw new Error('the receiver says ' + JSON.stringify(said))
} finally {
  receiver.kill()
}
console.log(`guides: ${files.length} in TypeScript, and the receiver hears of a sale`)
