// layout.ts - where each node of a tree in order stands
//
// Per node: start, width and depth. Per level: its nodes from left to right, so
// that what is seen of a level is found by halving, not by looking at all of it.

import { Trie, endsOf, sumUp } from "./trie";

export interface Layout {
    trie: Trie;
    end: Uint32Array;
    totals: Float64Array[]; // per channel
    start: Float64Array;
    width: Float64Array;
    depth: Uint16Array;
    levels: Uint32Array[]; // levels[0] is the root alone
    levelStarts: Float64Array[]; // the starts of a level side by side: drawing looks for the next pixel here
    whole: number;
}

function depthsOf(parent: Uint32Array): Uint16Array {
    const depth = new Uint16Array(parent.length);
    for (let i = 1; i < parent.length; i++)
        depth[i] = depth[parent[i]] + 1;
    return depth;
}

interface Levels { nodes: Uint32Array[]; starts: Float64Array[] }

/** One pass in order of nodes: what is read and what is written each lies side by side. */
function levelsOf(depth: Uint16Array, start: Float64Array): Levels {
    let deepest = 0;
    for (let i = 0; i < depth.length; i++)
        if (depth[i] > deepest)
            deepest = depth[i];
    const size = new Uint32Array(deepest + 1), next = new Uint32Array(deepest + 1);
    for (let i = 0; i < depth.length; i++)
        size[depth[i]]++;
    const nodes = Array.from(size, n => new Uint32Array(n)), starts = Array.from(size, n => new Float64Array(n));
    for (let i = 0; i < depth.length; i++) {
        const level = depth[i], at = next[level]++;
        nodes[level][at] = i;
        starts[level][at] = start[i];
    }
    return { nodes, starts };
}

/** Children stand side by side from their parent's left edge; what the parent spent itself is the rest. */
function startsOf(parent: Uint32Array, width: Float64Array): Float64Array {
    const start = new Float64Array(parent.length), next = new Float64Array(parent.length);
    for (let i = 1; i < parent.length; i++) {
        const above = parent[i];
        start[i] = next[i] = next[above];
        next[above] += width[i];
    }
    return start;
}

/** What may be known about a tree already. */
export interface Known { end: Uint32Array; totals: Float64Array[] }

/** `widths` are what the nodes take by themselves; without them the first channel counts. */
export function layoutOf(trie: Trie, widths?: Float64Array, starts?: Float64Array, known?: Known): Layout {
    const totals = known?.totals ?? trie.self.map(s => sumUp(trie.parent, s));
    const width = widths ? sumUp(trie.parent, widths) : totals[0];
    const depth = depthsOf(trie.parent), start = starts ?? startsOf(trie.parent, width);
    const levels = levelsOf(depth, start);
    return {
        trie, totals, width, depth, start,
        end: known?.end ?? endsOf(trie.parent),
        levels: levels.nodes,
        levelStarts: levels.starts,
        whole: width[0],
    };
}

/** The first place in a level whose node ends behind x. */
export function firstEndingAfter(l: Layout, level: Uint32Array, x: number, from = 0): number {
    let low = from, high = level.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (l.start[level[middle]] + l.width[level[middle]] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/** The first place at or behind `from` whose node begins at x or later: strides that double, then halving. */
export function firstStartingAt(l: Layout, depth: number, x: number, from: number): number {
    const starts = l.levelStarts[depth];
    let stride = 1, low = from;
    while (low + stride < starts.length && starts[low + stride] < x) {
        low += stride;
        stride *= 2;
    }
    let high = Math.min(starts.length, low + stride);
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (starts[middle] >= x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

export function nodeAt(l: Layout, depth: number, x: number): number {
    const level = l.levels[depth];
    if (!level)
        return -1;
    const at = firstEndingAfter(l, level, x);
    return at < level.length && l.start[level[at]] <= x ? level[at] : -1;
}

export function pathTo(t: Trie, node: number): number[] {
    const path = [node];
    while (node > 0)
        path.push(node = t.parent[node]);
    return path.reverse();
}

/** The children of a node, from left to right. */
export function childrenAt(l: Layout, node: number): number[] {
    const found: number[] = [];
    for (let i = node + 1; i < l.end[node]; i = l.end[i])
        found.push(i);
    return found;
}
