// Reads a speedscope file with speedscope's own importer and says what it found.
//
//     node speedscope.cjs RELEASE_FOLDER IN.json OUT.json
//
// The npm package ships one bundle for browsers: importer, exporter and user
// interface in one closed function, names minified. So the bundle is run with a
// window that swallows everything, two functions are let out of the closure on
// the way in, and what the user interface does without a screen is of no
// interest. The functions are found by texts next to them that a minifier keeps.
'use strict'
const fs = require('fs')
const path = require('path')
const vm = require('vm')

const [folder, input, output] = process.argv.slice(2)
const bundle = fs.readdirSync(folder).find(name => /^speedscope.*\.js$/.test(name))
const code = fs.readFileSync(path.join(folder, bundle), 'utf8')
const start = '(()=>{'

function nameOf(what, pattern) {
  const found = code.match(pattern)
  if (!found || !code.includes(start)) {
    console.log(`no ${what} in ${bundle}: its shape has changed`)
    process.exit(77)
  }
  return found[1]
}

const read = nameOf('importer', /Importing as speedscope json file"\),([\w$]+)\(/)
const write = nameOf('exporter', /\{let \w+=([\w$]+)\(\w+\),\w+=new Blob\(\[JSON\.stringify\(/)

function nothing() {
  const get = (_, key) => (key === Symbol.toPrimitive ? () => 0 : key === Symbol.iterator ? undefined : nothing())
  return new Proxy(function () {}, {get, apply: nothing, construct: nothing, set: () => true})
}

const window = {
  URL, URLSearchParams, TextDecoder, TextEncoder, Blob, performance,
  console: {log() {}, warn() {}, error() {}},
  document: nothing(), fetch: nothing(), Image: nothing(), Worker: nothing(), FileReader: nothing(),
  HTMLElement: class {}, history: {}, navigator: {userAgent: '', platform: '', language: 'en'},
  location: {hash: '', search: '', href: 'http://localhost/', protocol: 'http:'},
  localStorage: {getItem: () => null, setItem() {}},
  matchMedia: () => ({matches: false, addListener() {}, addEventListener() {}}),
  addEventListener() {}, setTimeout() {}, requestAnimationFrame() {},
}
window.window = window.self = window.globalThis = window
vm.createContext(window)
try {
  vm.runInContext(code.replace(start, `${start}globalThis.peer={read:x=>${read}(x),write:x=>${write}(x)};`), window)
} catch {
  // The user interface has given up; the importer was there before it.
}

const group = window.peer.read(JSON.parse(fs.readFileSync(input, 'utf8')))
fs.writeFileSync(output, JSON.stringify(window.peer.write(group)))
console.log(JSON.stringify(group.profiles.map(p => ({
  name: p.getName(), unit: p.getWeightUnit(), total: p.getTotalWeight(), busy: p.getTotalNonIdleWeight(),
}))))
