// Loads a model and lets it say N tokens, always the likeliest: the same text every time.
//     node llama.mjs FOLDER_OF_NODE_MODULES MODEL.gguf N
import path from "node:path";
import {pathToFileURL} from "node:url";

const [modules, model, count] = process.argv.slice(2);
const place = path.join(modules, "node-llama-cpp", "dist", "index.js");
const {getLlama} = await import(pathToFileURL(place).href);

const llama = await getLlama({gpu: false, build: "never", skipDownload: true, progressLogs: false, maxThreads: 2});
const loaded = await llama.loadModel({modelPath: model});
const context = await loaded.createContext({contextSize: 512, threads: 2});
const sequence = context.getSequence();
const said = [];
for await (const token of sequence.evaluate(loaded.tokenize("Inferometer"), {temperature: 0})) {
    said.push(token);
    if (said.length >= Number(count)) break;
}
console.log(said.join(" "));
await llama.dispose();
