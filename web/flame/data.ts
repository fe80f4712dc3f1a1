// data.ts - the profile inside the page, from text to typed arrays
//
// The layout of the bytes is described in docs/formats/flame-data.md. Nothing
// here makes an object per node or per sample: a million stacks are a dozen
// arrays.

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

export interface Measure {
    name: string;
    unit: "count" | "ns" | "bytes" | "other";
    unit_name: string;
    decimals: number;
    exact: boolean; // nothing was sampled
}

/** What the page says about one recording before anybody asks. */
export interface Summary {
    label: string;
    samples: number;
    total: number;
    duration_ns: number | null;
    rate_hz: number | null;
    engine: string | null;
    lost: number | null;  // null: nobody counted
    unresolved: number;
    period: number;
}

export interface Thread { tid: number; name: string; process: number }
export interface Process { pid: number; name: string }

interface Column { name: string; type: "u8" | "u16" | "u32" | "i32" | "f64" | "text"; bytes: number }

interface Header {
    title: string;
    source: string;
    measure: Measure;
    scale: number;
    sides: (Summary & { value: number | null; count: "value" | "period" | "column"; time_unit_ns: number })[];
    threads: Thread[];
    processes: Process[];
    phases: string[];
    requests: string[];
    facts: [string, string][];
    view: string;
    columns: Column[];
}

/** Samples of one recording: row i of each column belongs to sample i, or to a sum of equal ones. */
export interface Side extends Summary {
    node: Uint32Array;
    context: Numbers | null;
    value: Float64Array;
    count: Float64Array | null; // null: a sample counts `value / countUnit`
    countUnit: number;
    time: Float64Array | null; // ns since the first; only where every sample has one
}

export interface Functions {
    name: string[];
    module: string[];
    file: string[];
    line: Numbers;
    kind: Uint8Array;
    system: Uint8Array;
}

export interface Contexts { thread: Numbers; process: Numbers; phase: Numbers; request: Numbers; n: number }

export interface Profile {
    title: string;
    source: string;
    measure: Measure;
    sides: Side[];
    functions: Functions;
    fn: Uint32Array; // node 0 is the root, function 0 is "all"
    parent: Uint32Array;
    depth: Uint32Array;
    contexts: Contexts;
    threads: Thread[];
    processes: Process[];
    phases: string[];
    requests: string[];
    facts: [string, string][];
    view: string;
}

export const KINDS = ["native", "inlined", "kernel", "python", "scope", "gpu"];

const MAGIC = 0x464d4e49; // "INMF", little-endian
const VERSION = 1;

/** The last four bytes of gzip say how much there is inside: room for it is made once. */
async function inflate(packed: Uint8Array): Promise<ArrayBuffer> {
    const stream = new DecompressionStream("gzip"), writer = stream.writable.getWriter();
    const failed = writer.write(packed).then(() => writer.close());
    const out = new Uint8Array(new DataView(packed.buffer, packed.byteOffset + packed.length - 4).getUint32(0, true));
    const reader = stream.readable.getReader();
    let at = 0;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        out.set(piece.value as Uint8Array, at);
        at += (piece.value as Uint8Array).length;
    }
    await failed;
    return out.buffer;
}

/** atob() for browsers without Uint8Array.fromBase64, in pieces so that no string of the whole is made twice. */
function fromBase64InPieces(text: string): Uint8Array {
    const end = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
    const out = new Uint8Array((text.length / 4) * 3 - end);
    const piece = 1 << 18;
    for (let from = 0, at = 0; from < text.length; from += piece) {
        const bytes = atob(text.slice(from, from + piece));
        for (let i = 0; i < bytes.length; i++)
            out[at++] = bytes.charCodeAt(i);
    }
    return out;
}

export function fromBase64(text: string): Uint8Array {
    return Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : fromBase64InPieces(text);
}

class Columns {
    private readonly at = new Map<string, [Column, number]>();

    constructor(private readonly bytes: ArrayBuffer, columns: Column[], from: number) {
        for (const column of columns) {
            this.at.set(column.name, [column, from]);
            from += Math.ceil(column.bytes / 8) * 8;
        }
        if (from > bytes.byteLength)
            throw new Error("the data in this page is cut short");
    }

    numbers(name: string): Numbers | null {
        const found = this.at.get(name);
        if (!found)
            return null;
        const [column, from] = found;
        switch (column.type) {
        case "u8": return new Uint8Array(this.bytes, from, column.bytes);
        case "u16": return new Uint16Array(this.bytes, from, column.bytes / 2);
        case "u32": return new Uint32Array(this.bytes, from, column.bytes / 4);
        case "i32": return new Int32Array(this.bytes, from, column.bytes / 4);
        case "f64": return new Float64Array(this.bytes, from, column.bytes / 8);
        default: throw new Error(`column ${name} holds no numbers`);
        }
    }

    need(name: string): Numbers {
        const found = this.numbers(name);
        if (!found)
            throw new Error(`the data in this page has no column ${name}`);
        return found;
    }

    /** One text per line; names hold no line breaks, they are escaped when written. */
    texts(name: string): string[] {
        const found = this.at.get(name);
        if (!found)
            throw new Error(`the data in this page has no column ${name}`);
        return new TextDecoder().decode(new Uint8Array(this.bytes, found[1], found[0].bytes)).split("\n");
    }
}

/** From "how many levels up before this node hangs on" to the parent of each node, and how deep it is. */
function treeOf(rise: Numbers): { parent: Uint32Array; depth: Uint32Array } {
    const parent = new Uint32Array(rise.length + 1), depth = new Uint32Array(rise.length + 1), path = [0];
    for (let i = 0, level = 0; i < rise.length; i++) {
        level += 1 - rise[i];
        path[level] = i + 1;
        parent[i + 1] = path[level - 1];
        depth[i + 1] = level;
    }
    return { parent, depth };
}

function functionsOf(c: Columns): Functions {
    const modules = c.texts("modules"), files = c.texts("files");
    const module = c.need("function_module"), file = c.need("function_file");
    return {
        name: c.texts("function_name"),
        module: Array.from(module, i => modules[i]),
        file: Array.from(file, i => files[i]),
        line: c.need("function_line"),
        kind: c.need("function_kind") as Uint8Array,
        system: c.need("function_system") as Uint8Array,
    };
}

function addUp(deltas: Numbers): Uint32Array {
    const out = new Uint32Array(deltas.length);
    for (let i = 0, at = 0; i < deltas.length; i++)
        out[i] = at += deltas[i];
    return out;
}

function scaled(numbers: Numbers, by: number): Float64Array {
    const out = new Float64Array(numbers.length);
    for (let i = 0; i < out.length; i++)
        out[i] = numbers[i] * by;
    return out;
}

function sideOf(c: Columns, h: Header, i: number): Side {
    const s = h.sides[i], prefix = `side${i}_`;
    const node = addUp(c.need(prefix + "node"));
    const values = c.numbers(prefix + "value");
    const value = values ? scaled(values, h.scale) : new Float64Array(node.length).fill(s.value ?? 0);
    const time = c.numbers(prefix + "time");
    const count = c.numbers(prefix + "count");
    return {
        ...s, node, value,
        context: c.numbers(prefix + "context"),
        count: count ? scaled(count, 1) : null,
        countUnit: s.count === "period" ? s.period : 10 ** h.measure.decimals,
        time: time ? scaled(addUp(time), s.time_unit_ns) : null,
    };
}

function contextsOf(c: Columns): Contexts {
    const thread = c.need("context_thread");
    return {
        n: thread.length, thread, process: c.need("context_process"),
        phase: c.need("context_phase"), request: c.need("context_request"),
    };
}

export function decode(bytes: ArrayBuffer): Profile {
    const head = new DataView(bytes);
    if (bytes.byteLength < 16 || head.getUint32(0, true) !== MAGIC)
        throw new Error("the data in this page is not a flame graph");
    if (head.getUint32(4, true) !== VERSION)
        throw new Error(`the data in this page has version ${head.getUint32(4, true)}, this viewer reads ${VERSION}`);
    const headerBytes = head.getUint32(8, true);
    const h = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 16, headerBytes))) as Header;
    const c = new Columns(bytes, h.columns, 16 + headerBytes);
    const fn = c.need("node_function"), withRoot = new Uint32Array(fn.length + 1);
    withRoot.set(fn, 1);
    return {
        title: h.title, source: h.source, measure: h.measure,
        sides: h.sides.map((_, i) => sideOf(c, h, i)),
        functions: functionsOf(c),
        fn: withRoot,
        ...treeOf(c.need("node_rise")),
        contexts: contextsOf(c),
        threads: h.threads, processes: h.processes, phases: h.phases, requests: h.requests,
        facts: h.facts, view: h.view,
    };
}

export async function load(base64: string): Promise<Profile> {
    return decode(await inflate(fromBase64(base64)));
}
