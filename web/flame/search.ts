// search.ts - which functions a pattern means, and how much time they stand for

import type { Functions } from "./data";
import type { Layout } from "./layout";

export interface Pattern { test(text: string): boolean; isPlain: boolean }

/** A regular expression; what is none is looked for as it stands. Small letters match both. */
export function patternOf(text: string): Pattern | null {
    if (!text)
        return null;
    const flags = text === text.toLowerCase() ? "iu" : "u";
    try {
        const expression = new RegExp(text, flags);
        return { test: t => expression.test(t), isPlain: false };
    } catch {
        const plain = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), flags);
        return { test: t => plain.test(t), isPlain: true };
    }
}

/** By function: 1 where the name matches, or the module where asked. */
export function functionsMatching(f: Functions, pattern: Pattern | null, modulesToo = false): Uint8Array | null {
    if (!pattern)
        return null;
    const found = new Uint8Array(f.name.length);
    for (let i = 1; i < found.length; i++)
        found[i] = pattern.test(f.name[i]) || (modulesToo && f.module[i] !== "" && pattern.test(f.module[i])) ? 1 : 0;
    return found;
}

export interface Found {
    by: Uint8Array; // by function
    share: number; // of the whole, nested matches once
    width: number;
    nodes: number;
    functions: number;
    before: Uint32Array[]; // per level: matches before each place, and all of them at the end
    tops: Uint32Array; // matches without a match above them, from left to right
}

function countPerLevel(l: Layout, by: Uint8Array): Uint32Array[] {
    return l.levels.map(level => {
        const before = new Uint32Array(level.length + 1);
        for (let i = 0; i < level.length; i++)
            before[i + 1] = before[i] + by[l.trie.fn[level[i]]];
        return before;
    });
}

export function search(l: Layout, by: Uint8Array): Found {
    const tops: number[] = [];
    let width = 0;
    for (let i = 1; i < l.trie.n;)
        if (by[l.trie.fn[i]]) {
            width += l.width[i];
            tops.push(i);
            i = l.end[i];
        } else {
            i++;
        }
    const before = countPerLevel(l, by);
    return {
        by, before, width, tops: Uint32Array.from(tops),
        share: l.whole > 0 ? width / l.whole : 0,
        nodes: before.reduce((sum, level) => sum + level[level.length - 1], 0),
        functions: by.reduce((sum, one) => sum + one, 0),
    };
}

/** The width of matches below one node (or of the node itself, when it is below or is a match). */
export function matchedWithin(l: Layout, found: Found, node: number): number {
    for (let i = node; i > 0; i = l.trie.parent[i])
        if (found.by[l.trie.fn[i]])
            return l.width[node];
    let width = 0;
    for (let i = node; i < l.end[node];)
        if (i > 0 && found.by[l.trie.fn[i]]) {
            width += l.width[i];
            i = l.end[i];
        } else {
            i++;
        }
    return width;
}
