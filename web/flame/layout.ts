// layout.ts - where each node of a tree in order stands
//
// Per level: its nodes from left to right and where each begins, so that what is
// seen of a level is found by halving, not by looking at all of it.

import { Trie, endsOf, sumUp } from "./trie";

export interface Layout {
    trie: Trie;
    end: Uint32Array;
    totals: Float64Array[]; // per channel
    width: Float64Array;
    depth: Uint32Array;
    levels: Uint32Array[]; // levels[0] is the root alone
    starts: Float64Array[]; // where each node of a level begins: as levels
    whole: number;
}

export function depthsOf(parent: Uint32Array): Uint32Array {
    const depth = new Uint32Array(parent.length);
    for (let i = 1; i < parent.length; i++)
        depth[i] = depth[parent[i]] + 1;
    return depth;
}

/** How many nodes each level has. */
function sizesOf(depth: Uint32Array): number[] {
    let size = new Uint32Array(256), deepest = 0;
    for (let i = 0; i < depth.length; i++) {
        const d = depth[i];
        if (d >= size.length) {
            const bigger = new Uint32Array(d * 2);
            bigger.set(size);
            size = bigger;
        }
        if (d > deepest)
            deepest = d;
        size[d]++;
    }
    return Array.from(size.subarray(0, deepest + 1));
}

/**
 * Children stand side by side from their parent's left edge; what the parent spent itself is the rest. In a
 * tree in order the last node of each level is all one has to remember: the parent, or the sibling before.
 */
function place(trie: Trie, depth: Uint32Array, width: Float64Array, given?: Float64Array): { levels: Uint32Array[]; starts: Float64Array[] } {
    const size = sizesOf(depth), next = new Uint32Array(size.length);
    const levels = size.map(n => new Uint32Array(n)), starts = size.map(n => new Float64Array(n));
    const begin = new Float64Array(size.length), end = new Float64Array(size.length);
    for (let i = 0; i < trie.n; i++) {
        const d = depth[i], at = next[d]++;
        const x = given ? given[i] : i === 0 ? 0 : trie.parent[i] === i - 1 ? begin[d - 1] : end[d];
        levels[d][at] = i;
        starts[d][at] = begin[d] = x;
        end[d] = x + width[i];
    }
    return { levels, starts };
}

/** What may be known about a tree already. */
export interface Known { end: Uint32Array; totals: Float64Array[]; depth?: Uint32Array }

/** `widths` are what the nodes take by themselves; without them the first channel counts. */
export function layoutOf(trie: Trie, widths?: Float64Array, starts?: Float64Array, known?: Known): Layout {
    const totals = known?.totals ?? trie.self.map(s => sumUp(trie.parent, s));
    const width = widths ? sumUp(trie.parent, widths) : totals[0];
    const depth = known?.depth ?? depthsOf(trie.parent);
    return {
        trie, totals, width, depth, ...place(trie, depth, width, starts),
        end: known?.end ?? endsOf(trie.parent),
        whole: width[0],
    };
}

/** The place of a node in its level: levels are in order of nodes. */
export function placeOf(l: Layout, node: number): number {
    const level = l.levels[l.depth[node]];
    let low = 0, high = level.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (level[middle] >= node)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

export function startOf(l: Layout, node: number): number {
    return l.starts[l.depth[node]][placeOf(l, node)];
}

/** The first place in a level whose node ends behind x. */
export function firstEndingAfter(l: Layout, depth: number, x: number): number {
    const level = l.levels[depth], starts = l.starts[depth];
    let low = 0, high = level.length;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (starts[middle] + l.width[level[middle]] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/** The first place at or behind `from` whose node begins at x or later: strides that double, then halving. */
export function firstStartingAt(starts: Float64Array, x: number, from: number): number {
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
    if (!l.levels[depth])
        return -1;
    const at = firstEndingAfter(l, depth, x);
    return at < l.levels[depth].length && l.starts[depth][at] <= x ? l.levels[depth][at] : -1;
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
