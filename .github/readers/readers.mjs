// Counts what the tools of others take of an API document, and fails where it is less than before:
//   node readers.mjs document.json folder [tool...]
// `make readers` gives it the /openapi-3.1.json of a server. The folder gets what the tools write and say.
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import {spawn, spawnSync} from 'node:child_process'
import Ajv from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

const [file, folder, ...only] = process.argv.slice(2).map((value, i) => (i < 2 ? path.resolve(value) : value))
const here = import.meta.dirname
const doc = JSON.parse(fs.readFileSync(file, 'utf8'))
const schemas = Object.entries(doc.components.schemas)

// null beside a reference, in the form of 3.1 or of 3.0
const isNull = schema => schema?.type === 'null' || (schema?.enum?.length === 1 && schema.enum[0] === null)

// The properties that refer to another schema or are null: [schema, property, the schema referred to].
const references = schemas.flatMap(([name, schema]) =>
  Object.entries((schema.anyOf ? {} : schema.properties) ?? {}) // openapi-typescript knows no type of what has an anyOf beside
    .filter(([, p]) => (p.oneOf ?? p.anyOf)?.length === 2 && isNull((p.oneOf ?? p.anyOf)[1]))
    .map(([property, p]) => [name, property, (p.oneOf ?? p.anyOf)[0].$ref.split('/').pop()]),
)

const resolved = node => (node?.$ref ? node.$ref.slice(2).split('/').reduce((at, key) => at[key.replaceAll('~1', '/').replaceAll('~0', '~')], doc) : node)

// made returns a new folder for a tool.
function made(name) {
  const dir = path.join(folder, name)
  fs.rmSync(dir, {recursive: true, force: true})
  fs.mkdirSync(dir, {recursive: true})
  return dir
}

// run runs a command of a tool in a folder. What it says is kept there.
function run(dir, command, ...args) {
  const done = spawnSync(path.join(here, 'node_modules/.bin', command), args, {cwd: dir, encoding: 'utf8', maxBuffer: 1 << 28})
  fs.appendFileSync(path.join(dir, 'log'), done.stdout + done.stderr)
  return done
}

// compiles returns the errors of the TypeScript compiler.
function compiles(dir) {
  fs.symlinkSync(path.join(here, 'node_modules'), path.join(dir, 'node_modules'))
  return run(dir, 'tsc', '-p', dir, '--pretty', 'false', '--noEmit').stdout.split('\n').filter(line => line.includes('error TS'))
}

// nulls counts the references whose type is exactly what they refer to, or null.
function nulls(dir, imports, type) {
  fs.writeFileSync(path.join(dir, 'nulls.ts'), `${imports}
type Any<T> = 0 extends 1 & T ? true : false
type Bare<T> = Exclude<T, null | undefined>
type OrNull<T, To> = Any<T> extends true ? 'any' : null extends T ? ([Bare<T>, To] extends [To, Bare<T>] ? true : 'another type') : 'never null'
${references.map(([s, p, to]) => `export const ${s}_${p}: OrNull<${type(s)}['${p}'], ${type(to)}> = true`).join('\n')}
`)
  const options = {strict: true, target: 'es2022', module: 'esnext', moduleResolution: 'bundler', skipLibCheck: true, lib: ['es2023', 'dom', 'dom.iterable'], types: []}
  fs.writeFileSync(path.join(dir, 'tsconfig.json'), JSON.stringify({compilerOptions: options, include: ['**/*.ts']}))
  const errors = compiles(dir)
  const mine = errors.filter(line => line.startsWith('nulls.ts'))
  return [count('references that are their type or null', references.length - mine.length, references.length), count('files without an error', errors.length > mine.length ? 0 : 1, 1)]
}

// count is one line of the table. Missing is how many of all a tool does not take for a reason of its own.
const count = (what, got, all, missing = 0) => ({what, got, all, missing})

const tools = {
  // Prism, as a proxy, finds the answers of a GET that are wrong, and takes the one that is right. Twelve it does not look at: their objects
  // lead back to themselves, and it loses the reference (`#/__bundled__/oneOf_1`).
  async prism() {
    const dir = made('prism')
    let answer = {status: 200, body: {}}
    const upstream = http.createServer((request, response) => {
      response.writeHead(answer.status, {'content-type': 'application/json'})
      response.end(JSON.stringify(answer.body))
    })
    await new Promise(ready => upstream.listen(0, '127.0.0.1', ready))
    const log = fs.openSync(path.join(dir, 'log'), 'w')
    const proxy = spawn(process.execPath, [path.join(here, 'node_modules/.bin/prism'), 'proxy', file, `http://127.0.0.1:${upstream.address().port}`, '-p', '4010', '-h', '127.0.0.1'], {stdio: ['ignore', log, log]})
    process.on('exit', () => proxy.kill())
    const ask = url => new Promise((resolve, reject) => {
      http.get({host: '127.0.0.1', port: 4010, path: url, headers: {authorization: 'Bearer sk_test'}}, response => {
        response.resume()
        if (response.statusCode >= 500) reject(new Error(`prism answers ${response.statusCode} to ${url}`)) // it has lost what is behind it
        response.on('end', () => resolve(JSON.parse(response.headers['sl-violations'] ?? '[]')))
      }).on('error', reject)
    })
    const begun = Date.now()
    while (await ask('/').then(() => false, error => error.code === 'ECONNREFUSED')) {
      if (proxy.exitCode !== null || Date.now() - begun > 600_000) throw new Error('prism does not start')
      await new Promise(later => setTimeout(later, 200))
    }
    let answers = 0, found = 0, taken = 0, empty = 0, expands = 0
    for (const [at, item] of Object.entries(doc.paths)) {
      const ok = Object.entries(item.get?.responses ?? {}).find(([status, r]) => status[0] === '2' && r.content?.['application/json'])
      if (!ok) continue
      const body = ok[1].content['application/json']
      const parameters = [...(item.parameters ?? []), ...(item.get.parameters ?? [])].map(resolved)
      const value = p => encodeURIComponent(p?.example ?? resolved(p?.schema)?.example ?? resolved(p?.schema)?.enum?.[0] ?? 'x_1')
      const query = parameters.filter(p => p.in === 'query' && p.required).map(p => `${p.name}=${value(p)}`)
      const expand = parameters.find(p => p.in === 'query' && p.name === 'expand')
      if (expand) query.push('expand=')
      const url = at.replace(/{(\w+)}/g, (_, name) => value(parameters.find(p => p.name === name))) + (query.length ? `?${query.join('&')}` : '')
      const violations = async (sent, where) => {
        answer = {status: Number(ok[0]), body: sent}
        return (await ask(url)).filter(v => where.every((part, i) => v.location[i] === part))
      }
      answers++
      const inBody = ['response', 'body']
      if ((await violations(7, inBody)).length > 0) found++
      else fs.appendFileSync(path.join(dir, 'missed'), `GET ${at} may answer 7\n`)
      const right = await violations(body.example, inBody)
      if (right.length === 0) taken++
      else fs.appendFileSync(path.join(dir, 'missed'), `GET ${at} may not answer its example: ${JSON.stringify(right)}\n`)
      if (!expand) continue
      expands++
      if ((await violations(body.example, ['request', 'query', 'expand'])).length === 0) empty++
    }
    proxy.kill()
    upstream.close()
    return [count('wrong answers found', found, answers, 12), count('right answers taken', taken, answers), count('empty expand taken', empty, expands)]
  },

  'openapi-typescript'() {
    const dir = made('openapi-typescript')
    if (run(dir, 'openapi-typescript', file, '-o', 'schema.ts').status !== 0) return [count('documents read', 0, 1)]
    return nulls(dir, "import type {components} from './schema'", name => `components['schemas']['${name}']`)
  },

  'hey-api'() {
    const dir = made('hey-api')
    if (run(dir, 'openapi-ts', '-i', file, '-o', 'made', '-p', '@hey-api/typescript').status !== 0) return [count('documents read', 0, 1)]
    const names = fs.readFileSync(path.join(dir, 'made/types.gen.ts'), 'utf8').matchAll(/^export type (\w+)/gm)
    const named = Object.fromEntries([...names].map(([, name]) => [name.toLowerCase(), name])) // TaxID is TaxId there
    return nulls(dir, "import type * as made from './made/types.gen'", name => `made.${named[name.toLowerCase()]}`)
  },

  orval() {
    const dir = made('orval')
    if (run(dir, 'orval', '--input', file, '--output', 'api.ts', '--mode', 'split', '--client', 'fetch').status !== 0) return [count('documents read', 0, 1)]
    return nulls(dir, "import type * as made from './api.schemas'", name => `made.${name}`)
  },

  'openapi-mcp-generator'() {
    const dir = made('openapi-mcp-generator')
    const done = run(dir, 'openapi-mcp-generator', '-i', file, '-o', path.join(dir, 'made'), '--force', '-b', 'http://127.0.0.1:8080/v1')
    if (done.status !== 0 || !fs.existsSync(path.join(dir, 'made/tsconfig.json'))) return [count('documents read', 0, 1)]
    return [count('programs that compile', compiles(path.join(dir, 'made')).length === 0 ? 1 : 0, 1)]
  },

  // ajv in its strict mode, without the rule that a required field is described beside: it is, in the schema around.
  ajv() {
    const ajv = new Ajv({strict: true, strictRequired: false})
    formats(ajv)
    ajv.addVocabulary(['example'])
    const words = node => typeof node === 'object' && node !== null ? Object.entries(node).flatMap(([key, child]) => [...(key.startsWith('x-') ? [key] : []), ...words(child)]) : []
    ajv.addVocabulary([...new Set(words(doc.components.schemas))])
    ajv.addVocabulary(['components'])
    ajv.addSchema({$id: 'document', components: {schemas: doc.components.schemas}})
    const fits = (at, value) => { try { return ajv.compile({$ref: `document#/components/schemas/${at}`})(value) } catch { return undefined } }
    return [
      count('references that take null', references.filter(([s, p]) => fits(`${s}/properties/${p}`, null) === true).length, references.length),
      count('references that refuse what is wrong', references.filter(([s, p]) => fits(`${s}/properties/${p}`, 7) === false).length, references.length),
      count('schemas that compile', schemas.filter(([name]) => fits(name, 7) !== undefined).length, schemas.length),
    ]
  },

  spectral() {
    const dir = made('spectral')
    fs.writeFileSync(path.join(dir, 'rules.yaml'), 'extends: ["spectral:oas"]\n')
    const said = run(dir, 'spectral', 'lint', '-r', 'rules.yaml', '-f', 'json', '-q', file).stdout
    // In an example it takes fields that are called default or example for schemas.
    const errors = JSON.parse(said.slice(said.indexOf('['))).filter(e => e.severity === 0 && !(e.code === 'oas3-valid-schema-example' && e.path.includes('example')))
    return [count('documents without an error', errors.length === 0 ? 1 : 0, 1)]
  },
}

let less = 0
for (const name of only.length > 0 ? only : Object.keys(tools)) {
  const counts = await Promise.resolve().then(tools[name]).catch(error => [count(String(error), 0, 1)])
  for (const {what, got, all, missing} of counts) {
    const fine = all > 0 && got >= all - missing
    if (!fine) less++
    console.log(`${fine ? 'ok  ' : 'LESS'} ${name}: ${got} of ${all} ${what}`)
  }
}
process.exit(less > 0 ? 1 : 0)
