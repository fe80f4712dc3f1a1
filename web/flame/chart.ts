// chart.ts - samples in the order they were taken
//
// A sample continues the frames it shares with the one before it on the same
// thread; where several threads are shown each gets a frame of its own on top.

import type { Profile, Side } from "./data";
import { Grower, Trie } from "./trie";

export interface Chart { trie: Trie; start: Float64Array }

export interface ChartInput {
    profile: Profile;
    side: Side;
    fn: Uint32Array; // the tree whose nodes the samples end in
    parent: Uint32Array;
    nodeOf: (record: number) => number; // -1: this sample does not count
    threadFunction: (thread: number) => number; // a function that stands for a thread
}

/** Records thread by thread, each thread's in order of time. */
function byThread(input: ChartInput): { order: Uint32Array; threadOf: (record: number) => number; threads: number } {
    const { side, profile } = input;
    const threadOf = (r: number): number => side.context ? Number(profile.contexts.thread[side.context[r]]) : 0;
    const size = new Uint32Array(profile.threads.length + 2);
    let n = 0;
    for (let r = 0; r < side.node.length; r++)
        if (input.nodeOf(r) >= 0) {
            size[threadOf(r) + 1]++;
            n++;
        }
    const threads = size.reduce((sum, one) => sum + (one > 0 ? 1 : 0), 0);
    for (let i = 1; i < size.length; i++)
        size[i] += size[i - 1];
    const order = new Uint32Array(n);
    for (let r = 0; r < side.node.length; r++)
        if (input.nodeOf(r) >= 0)
            order[size[threadOf(r)]++] = r;
    return { order, threadOf, threads };
}

class Writer {
    readonly g = new Grower();
    start = new Float64Array(1024);
    self: Float64Array[];
    private now = 0;
    private readonly openNode: number[] = [0]; // per level: the node of the chart
    private readonly openAs: number[] = [0]; // and the node it stands for

    constructor(private readonly weights: Float64Array[]) {
        this.self = weights.map(() => new Float64Array(1024));
    }

    private room(): void {
        if (this.g.n < this.start.length)
            return;
        const doubled = (old: Float64Array): Float64Array => {
            const bigger = new Float64Array(old.length * 2);
            bigger.set(old);
            return bigger;
        };
        this.start = doubled(this.start);
        this.self = this.self.map(doubled);
    }

    private open(level: number, fn: number, as: number): void {
        this.room();
        const node = this.g.append(this.openNode[level - 1], fn);
        this.start[node] = this.now;
        this.openNode[level] = node;
        this.openAs[level] = as;
    }

    close(to: number): void {
        this.openNode.length = to;
        this.openAs.length = to;
    }

    begin(fn: number): void {
        this.close(1);
        this.open(1, fn, -2);
    }

    /** path: nodes the sample stands on, from the outermost; `base` levels are above it already. */
    add(path: number[], base: number, fn: Uint32Array, record: number): void {
        let level = base;
        while (level - base < path.length && level < this.openAs.length && this.openAs[level] === path[level - base])
            level++;
        this.close(level);
        for (; level - base < path.length; level++)
            this.open(level, fn[path[level - base]], path[level - base]);
        for (let c = 0; c < this.weights.length; c++)
            this.self[c][this.openNode[level - 1]] += this.weights[c][record];
        this.now += this.weights[0][record];
    }
}

export function chartOf(input: ChartInput): Chart {
    const { order, threadOf, threads } = byThread(input);
    const { value, count } = input.side, w = new Writer(count ? [value, count] : [value]), base = threads > 1 ? 2 : 1;
    let thread = -1;
    const path: number[] = [];
    for (const r of order) {
        if (base === 2 && threadOf(r) !== thread) {
            thread = threadOf(r);
            w.begin(input.threadFunction(thread));
        }
        path.length = 0;
        for (let node = input.nodeOf(r); node > 0; node = input.parent[node])
            path.push(node);
        w.add(path.reverse(), base, input.fn, r);
    }
    return { trie: w.g.trie(w.self), start: w.start.slice(0, w.g.n) };
}
