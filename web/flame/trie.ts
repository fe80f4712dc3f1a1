// trie.ts - call trees as columns, and the trees one can make of a tree
//
// A node has a function, a parent with a smaller number, and one value of its
// own per channel: the measure of each recording and, where that does not follow
// from it, the number of samples. Node 0 is the root.
//
// A tree is *in order* when it is written depth first: the nodes below i are then
// i + 1 ... end[i] - 1, and walking up, down or past a subtree is arithmetic.

export interface Trie {
    n: number;
    fn: Uint32Array;
    parent: Uint32Array;
    self: Float64Array[];
}

export function sumUp(parent: Uint32Array, self: Float64Array): Float64Array {
    const total = self.slice();
    for (let i = parent.length - 1; i > 0; i--)
        total[parent[i]] += total[i];
    return total;
}

/** For each node of a tree in order: the first node behind its subtree. */
export function endsOf(parent: Uint32Array): Uint32Array {
    const n = parent.length, end = new Uint32Array(n);
    for (let i = n - 1; i >= 0; i--) {
        if (end[i] === 0)
            end[i] = i + 1;
        const above = parent[i];
        if (i > 0 && end[above] < end[i])
            end[above] = end[i];
    }
    return end;
}

/** Both at once: what is read for the one is there for the other. */
export function totalsAndEnds(t: Trie): { totals: Float64Array[]; end: Uint32Array } {
    if (t.self.length > 1)
        return { totals: t.self.map(self => sumUp(t.parent, self)), end: endsOf(t.parent) };
    const { n, parent } = t, total = t.self[0].slice(), end = new Uint32Array(n);
    for (let i = n - 1; i > 0; i--) {
        const above = parent[i], behind = end[i] === 0 ? i + 1 : end[i];
        total[above] += total[i];
        end[i] = behind;
        if (end[above] < behind)
            end[above] = behind;
    }
    end[0] = n;
    return { totals: [total], end };
}

function doubled(a: Uint32Array): Uint32Array {
    const bigger = new Uint32Array(a.length * 2);
    bigger.set(a);
    return bigger;
}

/** Finds or makes the child of a node that stands for a function. */
export class Grower {
    fn: Uint32Array;
    parent: Uint32Array;
    n = 1;
    private slots: Uint32Array; // 0: free, the root is nobody's child

    constructor(expected = 1024) {
        this.fn = new Uint32Array(expected);
        this.parent = new Uint32Array(expected);
        this.slots = new Uint32Array(2 ** Math.ceil(Math.log2(expected * 2 + 2)));
    }

    private slotOf(parent: number, fn: number): number {
        const mask = this.slots.length - 1;
        let h = Math.imul(parent, 0x9e3779b1) ^ Math.imul(fn, 0x85ebca6b);
        h ^= h >>> 15;
        h = Math.imul(h, 0x2c1b3c6d);
        h ^= h >>> 13;
        for (let at = h & mask; ; at = (at + 1) & mask) {
            const node = this.slots[at];
            if (node === 0 || (this.parent[node] === parent && this.fn[node] === fn))
                return at;
        }
    }

    private grow(): void {
        this.slots = new Uint32Array(this.slots.length * 2);
        for (let i = 1; i < this.n; i++)
            this.slots[this.slotOf(this.parent[i], this.fn[i])] = i;
    }

    /** A node of its own, not shared with an equal one. */
    append(parent: number, fn: number): number {
        if (this.n === this.fn.length) {
            this.fn = doubled(this.fn);
            this.parent = doubled(this.parent);
        }
        this.fn[this.n] = fn;
        this.parent[this.n] = parent;
        return this.n++;
    }

    child(parent: number, fn: number): number {
        if (this.n * 2 > this.slots.length)
            this.grow();
        const at = this.slotOf(parent, fn);
        if (this.slots[at] === 0)
            this.slots[at] = this.append(parent, fn);
        return this.slots[at];
    }

    trie(self: Float64Array[]): Trie {
        return {
            n: this.n, fn: this.fn.slice(0, this.n), parent: this.parent.slice(0, this.n),
            self: self.map(s => s.slice(0, this.n)),
        };
    }
}

/** Sums per node of a tree that is still growing. */
class Sums {
    readonly columns: Float64Array[];

    constructor(channels: number) {
        this.columns = Array.from({ length: channels }, () => new Float64Array(1024));
    }

    room(n: number): void {
        for (let c = 0; c < this.columns.length && this.columns[c].length < n; c++) {
            const bigger = new Float64Array(Math.max(n, this.columns[c].length * 2));
            bigger.set(this.columns[c]);
            this.columns[c] = bigger;
        }
    }

    add(to: number, from: Float64Array[], at: number): void {
        if (to >= this.columns[0].length)
            this.room(to + 1);
        for (let c = 0; c < from.length; c++)
            this.columns[c][to] += from[c][at];
    }
}

export interface Wishes {
    hide: Uint8Array | null; // by function: not shown, the caller gets the time
    focus: Uint8Array | null; // by function: only stacks with one of these count
    drop: Uint8Array | null; // by function: stacks with one of these do not
    mergeRecursion: boolean;
}

/** By node: whether its stack counts. */
function counted(t: Trie, w: Wishes): Uint8Array | null {
    if (!w.focus && !w.drop)
        return null;
    const FOCUSED = 1, DROPPED = 2;
    const state = new Uint8Array(t.n);
    for (let i = 1; i < t.n; i++)
        state[i] = state[t.parent[i]] | (w.focus && w.focus[t.fn[i]] ? FOCUSED : 0) | (w.drop && w.drop[t.fn[i]] ? DROPPED : 0);
    const want = w.focus ? FOCUSED : 0;
    for (let i = 0; i < t.n; i++)
        state[i] = state[i] === want ? 1 : 0;
    return state;
}

function masked(self: Float64Array[], counts: Uint8Array): Float64Array[] {
    return self.map(column => column.map((v, i) => counts[i] ? v : 0));
}

export interface Reshaped { trie: Trie; nodeOf: Uint32Array | null; counts: Uint8Array | null }

/** The tree with these wishes granted. nodeOf says where each node of the old one went; null: nowhere else. */
export function reshape(t: Trie, w: Wishes): Reshaped {
    const counts = counted(t, w);
    const self = counts ? masked(t.self, counts) : t.self;
    if (!w.hide && !w.mergeRecursion)
        return { trie: { ...t, self }, nodeOf: null, counts };
    const g = new Grower(t.n), nodeOf = new Uint32Array(t.n), sums = self.map(() => new Float64Array(t.n));
    for (let i = 0; i < t.n; i++) {
        const above = nodeOf[t.parent[i]], fn = t.fn[i];
        const gone = i === 0 || (w.hide && w.hide[fn]) || (w.mergeRecursion && above > 0 && g.fn[above] === fn);
        nodeOf[i] = gone ? above : g.child(above, fn);
    }
    for (let c = 0; c < self.length; c++)
        for (let i = 0; i < t.n; i++)
            sums[c][nodeOf[i]] += self[c][i];
    return { trie: g.trie(sums), nodeOf, counts };
}

/** By node: whether it carries something in any channel. */
function carrying(t: Trie): Uint8Array {
    const yes = new Uint8Array(t.n);
    for (const self of t.self) {
        const total = sumUp(t.parent, self);
        for (let i = 0; i < t.n; i++)
            if (total[i] > 0)
                yes[i] = 1;
    }
    return yes;
}

/** Without the nodes that carry nothing. Keeps the order. */
export function compact(t: Trie): { trie: Trie; nodeOf: Uint32Array } {
    const stays = carrying(t), nodeOf = new Uint32Array(t.n), from = new Uint32Array(t.n);
    let n = 1;
    for (let i = 1; i < t.n; i++)
        if (stays[i]) {
            from[n] = i;
            nodeOf[i] = n++;
        } else {
            nodeOf[i] = nodeOf[t.parent[i]];
        }
    if (n === t.n)
        return { trie: t, nodeOf };
    const fn = new Uint32Array(n), parent = new Uint32Array(n), self = t.self.map(() => new Float64Array(n));
    for (let to = 0; to < n; to++) {
        fn[to] = t.fn[from[to]];
        parent[to] = nodeOf[t.parent[from[to]]];
        for (let c = 0; c < self.length; c++)
            self[c][to] = t.self[c][from[to]];
    }
    return { trie: { n, fn, parent, self }, nodeOf };
}

interface Children { first: Uint32Array; list: Uint32Array }

function childrenOf(t: Trie): Children {
    const first = new Uint32Array(t.n + 1), list = new Uint32Array(Math.max(0, t.n - 1));
    for (let i = 1; i < t.n; i++)
        first[t.parent[i] + 1]++;
    for (let i = 0; i < t.n; i++)
        first[i + 1] += first[i];
    const next = first.slice();
    for (let i = 1; i < t.n; i++)
        list[next[t.parent[i]]++] = i;
    return { first, list };
}

/** The same tree written depth first, siblings by `before` (negative: a stands first). */
export function inOrder(t: Trie, before: (a: number, b: number) => number): { trie: Trie; nodeOf: Uint32Array } {
    const { first, list } = childrenOf(t);
    for (let i = 0; i < t.n; i++)
        if (first[i + 1] - first[i] > 1)
            list.subarray(first[i], first[i + 1]).sort(before);
    const fn = new Uint32Array(t.n), parent = new Uint32Array(t.n), nodeOf = new Uint32Array(t.n);
    const self = t.self.map(() => new Float64Array(t.n));
    const waiting = new Uint32Array(t.n);
    for (let top = 1, n = 0; top > 0; n++) {
        const old = waiting[--top];
        nodeOf[old] = n;
        fn[n] = t.fn[old];
        parent[n] = nodeOf[t.parent[old]];
        for (let c = 0; c < self.length; c++)
            self[c][n] = t.self[c][old];
        for (let k = first[old + 1]; k > first[old]; k--)
            waiting[top++] = list[k - 1];
    }
    return { trie: { n: t.n, fn, parent, self }, nodeOf };
}

/** Copies stacks of a tree under other roots; what several ends share is there once below each root. */
export class Regrown {
    readonly g = new Grower();
    private readonly sums: Sums;
    private readonly nodeOf = new Map<number, Map<number, number>>(); // by root, then by node of the tree

    constructor(private readonly fn: Uint32Array, private readonly parent: Uint32Array, channels: number) {
        this.sums = new Sums(channels);
    }

    private place(root: number, node: number): number {
        let known = this.nodeOf.get(root);
        if (!known)
            this.nodeOf.set(root, known = new Map([[0, this.g.child(0, root)]]));
        const path: number[] = [];
        for (; !known.has(node); node = this.parent[node])
            path.push(node);
        let at = known.get(node) as number;
        while (path.length) {
            const below = path.pop() as number;
            known.set(below, at = this.g.child(at, this.fn[below]));
        }
        return at;
    }

    add(root: number, node: number, channel: number, value: number): void {
        const at = this.place(root, node);
        this.sums.room(at + 1);
        this.sums.columns[channel][at] += value;
    }

    trie(): Trie {
        this.sums.room(this.g.n);
        return this.g.trie(this.sums.columns);
    }
}

/**
 * Stacks seen from their ends: from[k] is a node and weights[c][k] what it brings along; each walks up to
 * the root and shares its path with all who called through the same functions. Paths that carry less than
 * `least` (of channel sums) are not followed further: their time stays where they stopped.
 */
export function climb(t: Trie, from: Uint32Array, weights: Float64Array[], least: number): Trie {
    const g = new Grower(), sums = new Sums(weights.length);
    const at = from.slice(), group = new Uint32Array(from.length), who = new Uint32Array(from.length);
    for (let k = 0; k < who.length; k++)
        who[k] = k;
    for (let active = who.length; active > 0;) {
        const firstNew = g.n;
        for (let k = 0; k < active; k++)
            group[k] = at[k] === 0 ? group[k] : g.child(group[k], t.fn[at[k]]);
        const weight = new Float64Array(g.n - firstNew);
        for (let k = 0; k < active; k++)
            if (at[k] !== 0)
                for (let c = 0; c < weights.length; c++)
                    weight[group[k] - firstNew] += weights[c][who[k]];
        let kept = 0;
        for (let k = 0; k < active; k++) {
            const above = at[k] === 0 ? 0 : t.parent[at[k]];
            if (above === 0 || weight[group[k] - firstNew] < least) {
                sums.add(group[k], weights, who[k]);
                continue;
            }
            at[kept] = above;
            group[kept] = group[k];
            who[kept++] = who[k];
        }
        active = kept;
    }
    sums.room(g.n);
    return g.trie(sums.columns);
}

const PATIENCE = 20_000; // ends of stacks that are followed to the last caller, however thin

export function leastWorthFollowing(ends: number, whole: number): number {
    return ends > PATIENCE ? whole / 20_000 : 0;
}

/** Where the time was spent, then who called: the tree from the leaves. */
export function inverted(t: Trie): Trie {
    const ends: number[] = [];
    for (let i = 0; i < t.n; i++)
        if (t.self.some(s => s[i] > 0))
            ends.push(i);
    const from = Uint32Array.from(ends);
    const weights = t.self.map(s => Float64Array.from(from, i => s[i]));
    const whole = weights.reduce((sum, w) => sum + w.reduce((a, b) => a + b, 0), 0);
    return climb(t, from, weights, leastWorthFollowing(from.length, whole));
}

/** The outermost appearances of a function: their totals add up to its total, recursion or not. */
export function outermost(t: Trie, end: Uint32Array, fn: number): Uint32Array {
    const found: number[] = [];
    for (let i = 1; i < t.n;)
        if (t.fn[i] === fn) {
            found.push(i);
            i = end[i];
        } else {
            i++;
        }
    return Uint32Array.from(found);
}

/** Who calls this function: itself below the root, then its callers. */
export function callersOf(t: Trie, end: Uint32Array, totals: Float64Array[], fn: number): Trie {
    const from = outermost(t, end, fn);
    return climb(t, from, totals.map(total => Float64Array.from(from, i => total[i])), 0);
}

/** What this function calls: itself below the root, then everything called from it. */
export function calleesOf(t: Trie, end: Uint32Array, fn: number): Trie {
    const g = new Grower(), sums = new Sums(t.self.length), nodeOf = new Map<number, number>();
    for (const top of outermost(t, end, fn)) {
        nodeOf.clear();
        for (let i = top; i < end[top]; i++) {
            const node = g.child(i === top ? 0 : nodeOf.get(t.parent[i]) as number, t.fn[i]);
            nodeOf.set(i, node);
            sums.add(node, t.self, i);
        }
    }
    sums.room(g.n);
    return g.trie(sums.columns);
}

/** Per function: what it cost itself, and while it was anywhere on the stack (recursion counted once). */
export interface FunctionSums { self: Float64Array[]; total: Float64Array[] }

export function perFunction(t: Trie, end: Uint32Array, totals: Float64Array[], functions: number): FunctionSums {
    const self = t.self.map(() => new Float64Array(functions)), total = t.self.map(() => new Float64Array(functions));
    const open = new Uint32Array(functions), stack: number[] = [];
    for (let i = 1; i < t.n; i++) {
        while (stack.length && end[stack[stack.length - 1]] <= i)
            open[t.fn[stack.pop() as number]]--;
        const fn = t.fn[i];
        for (let c = 0; c < self.length; c++) {
            self[c][fn] += t.self[c][i];
            if (open[fn] === 0)
                total[c][fn] += totals[c][i];
        }
        open[fn]++;
        stack.push(i);
    }
    return { self, total };
}
