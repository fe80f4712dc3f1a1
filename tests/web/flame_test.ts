// flame_test.ts - the viewer's trees against the same questions asked one stack at a time
//
// Random profiles with much recursion; every answer is also found the slow way, from
// the list of stacks. Prints what is wrong and ends with that many failures.

import { chartOf } from "../../web/flame/chart";
import type { Profile } from "../../web/flame/data";
import { erfc } from "../../web/flame/diff";
import { fit } from "../../web/flame/label";
import { childrenAt, firstStartingAt, layoutOf, nodeAt, pathTo, startOf } from "../../web/flame/layout";
import { patternOf, search } from "../../web/flame/search";
import { DEFAULTS, encode, parse } from "../../web/flame/state";
import { Grower, Trie, Wishes, calleesOf, callersOf, compact, endsOf, inOrder, inverted, perFunction, reshape, sumUp } from "../../web/flame/trie";

let failures = 0;

function same(what: string, got: unknown, want: unknown): void {
    const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
    if (a === b)
        return;
    failures++;
    console.log(`${what}: ${a.slice(0, 300)}, want ${b.slice(0, 300)}`);
}

/** The same numbers on every machine. */
let state = 1;
function below(n: number): number {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % n;
}

type Stack = { path: number[]; value: number };
const FUNCTIONS = 7;

function randomStacks(): Stack[] {
    return Array.from({ length: 1 + below(60) }, () => ({
        path: Array.from({ length: below(9) }, () => 1 + below(FUNCTIONS - 1)), value: 1 + below(100),
    }));
}

function treeOf(stacks: Stack[]): Trie {
    const g = new Grower(), sums = new Map<number, number>();
    for (const { path, value } of stacks) {
        const node = path.reduce((at, fn) => g.child(at, fn), 0);
        sums.set(node, (sums.get(node) ?? 0) + value);
    }
    const t = g.trie([new Float64Array(4096)]);
    sums.forEach((value, node) => { t.self[0][node] = value; });
    return inOrder(t, (a, b) => a - b).trie;
}

/** A tree as {path: self}, for comparing. */
function told(t: Trie): Record<string, number> {
    const out: Record<string, number> = {};
    for (let i = 0; i < t.n; i++)
        if (t.self[0][i] > 0)
            out[pathTo(t, i).slice(1).map(n => t.fn[n]).join(".")] = t.self[0][i];
    return sorted(out);
}

function sorted(o: Record<string, number>): Record<string, number> {
    return Object.fromEntries(Object.entries(o).sort(([a], [b]) => a < b ? -1 : 1));
}

function slowly(stacks: Stack[], change: (path: number[]) => number[] | null): Record<string, number> {
    const out: Record<string, number> = {};
    for (const { path, value } of stacks) {
        const to = change(path);
        if (to)
            out[to.join(".")] = (out[to.join(".")] ?? 0) + value;
    }
    return sorted(out);
}

function checkReshaping(stacks: Stack[], t: Trie): void {
    const of = (...fns: number[]): Uint8Array => Uint8Array.from({ length: FUNCTIONS }, (_, i) => fns.includes(i) ? 1 : 0);
    const none: Wishes = { hide: null, focus: null, drop: null, mergeRecursion: false };
    const shaped = (w: Partial<Wishes>): Record<string, number> => told(compact(reshape(t, { ...none, ...w }).trie).trie);
    same("as it is", shaped({}), slowly(stacks, p => p));
    same("hidden", shaped({ hide: of(2, 3) }), slowly(stacks, p => p.filter(f => f !== 2 && f !== 3)));
    same("focus", shaped({ focus: of(1) }), slowly(stacks, p => p.includes(1) ? p : null));
    same("dropped", shaped({ drop: of(1, 4) }), slowly(stacks, p => p.includes(1) || p.includes(4) ? null : p));
    const merged = (p: number[]): number[] => p.filter((f, i) => i === 0 || p[i - 1] !== f);
    same("recursion", shaped({ mergeRecursion: true }), slowly(stacks, merged));
    same("all at once", shaped({ hide: of(2), focus: of(3), drop: of(5), mergeRecursion: true }),
        slowly(stacks, p => p.includes(3) && !p.includes(5) ? merged(p.filter(f => f !== 2)) : null));
}

function checkTurning(stacks: Stack[], t: Trie): void {
    same("inverted", told(inverted(t)), slowly(stacks, p => [...p].reverse()));
    const end = endsOf(t.parent), totals = [sumUp(t.parent, t.self[0])];
    for (let fn = 1; fn < FUNCTIONS; fn++) {
        same("callers", told(callersOf(t, end, totals, fn)), slowly(stacks, p => p.includes(fn) ? p.slice(0, p.indexOf(fn) + 1).reverse() : null));
        same("callees", told(calleesOf(t, end, fn)), slowly(stacks, p => p.includes(fn) ? p.slice(p.indexOf(fn)) : null));
    }
    const sums = perFunction(t, end, totals, FUNCTIONS);
    for (let fn = 1; fn < FUNCTIONS; fn++) {
        same("self", sums.self[0][fn], stacks.reduce((s, { path, value }) => s + (path[path.length - 1] === fn ? value : 0), 0));
        same("total", sums.total[0][fn], stacks.reduce((s, { path, value }) => s + (path.includes(fn) ? value : 0), 0));
    }
}

function checkLayout(stacks: Stack[], t: Trie): void {
    const l = layoutOf(t), whole = stacks.reduce((s, { value }) => s + value, 0);
    same("whole", l.whole, whole);
    for (let i = 0; i < t.n; i++) {
        const children = childrenAt(l, i);
        let x = startOf(l, i);
        for (const child of children) {
            same("side by side", startOf(l, child), x);
            same("parent", t.parent[child], i);
            x += l.width[child];
        }
        same("the rest is its own", l.width[i] - (x - startOf(l, i)), t.self[0][i]);
        if (l.width[i] > 0)
            same("found again", nodeAt(l, l.depth[i], startOf(l, i) + l.width[i] / 2), i);
    }
    for (const starts of l.starts)
        for (let k = 0; k < 5; k++) {
            const x = below(whole + 1), from = below(starts.length), right = starts.findIndex((s, i) => i >= from && s >= x);
            same("next pixel", firstStartingAt(starts, x, from), right < 0 ? starts.length : right);
        }
    const by = Uint8Array.from([0, 1, 0, 1, 0, 0, 0]);
    same("search", search(l, by).width, stacks.reduce((s, { path, value }) => s + (path.some(f => by[f]) ? value : 0), 0));
}

function checkTime(stacks: Stack[], t: Trie): void {
    const node = stacks.map(({ path }) => path.reduce((at, fn) => {
        for (let i = at + 1; i < t.n; i++)
            if (t.parent[i] === at && t.fn[i] === fn)
                return i;
        throw new Error("no such node");
    }, 0));
    const side = { node: Uint32Array.from(node), value: Float64Array.from(stacks, s => s.value), context: null, count: null };
    const chart = chartOf({
        profile: { threads: [], contexts: { thread: [0] } } as unknown as Profile, side: side as never, fn: t.fn, parent: t.parent,
        nodeOf: r => node[r], threadFunction: () => 0,
    });
    same("in time: the same stacks", sumPaths(chart.trie), slowly(stacks, p => p));
    const l = layoutOf(chart.trie, undefined, chart.start);
    let now = 0;
    for (const { path, value } of stacks) {
        same("in time: who is there", path.map((_, d) => l.trie.fn[nodeAt(l, d + 1, now + value / 2)]), path);
        now += value;
    }
}

function sumPaths(t: Trie): Record<string, number> {
    const out: Record<string, number> = {};
    for (let i = 0; i < t.n; i++) {
        const key = pathTo(t, i).slice(1).map(n => t.fn[n]).join(".");
        if (t.self[0][i] > 0)
            out[key] = (out[key] ?? 0) + t.self[0][i];
    }
    return sorted(out);
}

function checkSmall(): void {
    for (const [x, want] of [[0, 1], [0.5, 0.4795001], [1, 0.1572992], [2, 0.004677735], [4, 1.541726e-8], [-1, 1.842701]])
        same(`erfc(${x})`, Math.abs(erfc(x) / want - 1) < 1e-6, true);
    const long = "std::vector<std::pair<int, int> >::push_back(std::pair<int, int> const&)";
    same("labels", [100, 30, 12, 7].map(n => fit(long, n)), [long, "std::vector<…>::push_back", "…push_back", "push_b…"]);
    const state = { ...DEFAULTS, search: "a=b&c#d", invert: true, thread: 3, zoom: "4.17~2" };
    same("address", parse(encode(state, DEFAULTS), DEFAULTS), state);
    same("nonsense in the address", parse("#tab=x&thread=-1&order=up&toString=1", DEFAULTS), DEFAULTS);
    same("patterns", ["matmul", "MatMul", "m(", "^a|b$"].map(p => ["xMATMULx", "MatMul", "m(", "ab"].map(t => patternOf(p)?.test(t))),
        [[true, true, false, false], [false, true, false, false], [false, false, true, false], [false, false, false, true]]);
}

for (let round = 0; round < 300; round++) {
    const stacks = randomStacks(), t = treeOf(stacks);
    checkReshaping(stacks, t);
    checkTurning(stacks, t);
    checkLayout(stacks, t);
    checkTime(stacks, t);
}
checkSmall();
if (failures)
    throw new Error(`${failures} wrong`);
console.log("300 random profiles, each question asked twice: the same answers");
