// model.ts - from the profile and the state to trees that can be drawn
//
//     samples that count ── stage: frames hidden, merged, left out ── view: inverted, ordered, in time
//
// Each step is made again only when what it depends on has changed.

import { chartOf } from "./chart";
import type { Profile, Side } from "./data";
import { Amounts, Changes, changesOf, judge } from "./diff";
import { Layout, layoutOf } from "./layout";
import { functionsMatching, patternOf } from "./search";
import type { State } from "./state";
import { FunctionSums, Regrown, Trie, Wishes, calleesOf, callersOf, compact, inOrder, inverted, perFunction, reshape, sumUp, totalsAndEnds } from "./trie";

/** Channels of a tree: the value of each side, then samples where they do not follow from it. */
interface Channels { count: number[]; n: number }

interface Stage {
    trie: Trie;
    end: Uint32Array;
    totals: Float64Array[];
    depth?: Uint32Array;
    nodeOf: (node: number) => number; // of the whole tree; -1: does not count
}

class Kept<T> {
    private key: string | null = null;
    private value: T | null = null;

    get(key: string, make: () => T): T {
        if (key !== this.key || this.value === null) {
            this.value = make();
            this.key = key;
        }
        return this.value;
    }
}

function byWeight(totals: Float64Array[], scale: number[]): (a: number, b: number) => number {
    if (scale.length === 1)
        return (a, b) => totals[0][b] - totals[0][a] || a - b;
    const weight = (i: number): number => scale.reduce((sum, s, side) => sum + s * totals[side][i], 0);
    return (a, b) => weight(b) - weight(a) || a - b;
}

export class Model {
    readonly sides: number;
    private readonly channels: Channels;
    private readonly stages = new Kept<Stage>();
    private readonly views = new Kept<Layout>();
    private readonly callerViews = new Kept<Layout>();
    private readonly calleeViews = new Kept<Layout>();
    private readonly sums = new Kept<FunctionSums>();
    private readonly changes = new Map<string, Changes>();
    private ranks: Uint32Array | null = null;
    private readonly standIns = new Map<string, number>();

    constructor(readonly profile: Profile) {
        this.sides = profile.sides.length;
        let n = this.sides;
        this.channels = { count: profile.sides.map(s => s.count ? n++ : -1), n: 0 };
        this.channels.n = n;
    }

    get isDifference(): boolean {
        return this.sides > 1;
    }

    get hasTimes(): boolean {
        return !this.isDifference && this.profile.sides[0].time !== null;
    }

    /** How many samples a value of a side stands for. */
    samples(side: number, columns: Float64Array[], i: number): number {
        const channel = this.channels.count[side];
        return channel >= 0 ? columns[channel][i] : columns[side][i] / this.profile.sides[side].countUnit;
    }

    /* Which samples count. */

    private contextsThatCount(s: State): Uint8Array | null {
        if (!s.thread && !s.process && !s.phase && !s.request)
            return null;
        const c = this.profile.contexts, counts = new Uint8Array(c.n);
        for (let i = 0; i < c.n; i++)
            counts[i] = (!s.thread || c.thread[i] === s.thread) && (!s.process || c.process[i] === s.process) &&
                (!s.phase || c.phase[i] === s.phase) && (!s.request || c.request[i] === s.request) ? 1 : 0;
        return counts;
    }

    private addSide(side: Side, value: Float64Array, count: Float64Array | null, contexts: Uint8Array | null): void {
        for (let r = 0; r < side.node.length; r++) {
            if (contexts && !contexts[side.context ? side.context[r] : 0])
                continue;
            value[side.node[r]] += side.value[r];
            if (count && side.count)
                count[side.node[r]] += side.count[r];
        }
    }

    private whole(contexts: Uint8Array | null): Trie {
        const { fn, parent } = this.profile, n = fn.length;
        const self = Array.from({ length: this.channels.n }, () => new Float64Array(n));
        this.profile.sides.forEach((side, i) => {
            const count = this.channels.count[i];
            this.addSide(side, self[i], count >= 0 ? self[count] : null, contexts);
        });
        return { n, fn, parent, self };
    }

    /** The same with a frame for each thread or process at the root. */
    private rooted(contexts: Uint8Array | null, roots: string): Trie {
        const { fn, parent, contexts: who } = this.profile, grown = new Regrown(fn, parent, this.channels.n);
        this.profile.sides.forEach((side, i) => {
            for (let r = 0; r < side.node.length; r++) {
                const context = side.context ? side.context[r] : 0, count = this.channels.count[i];
                if (contexts && !contexts[context])
                    continue;
                const root = roots === "thread" ? this.threadFunction(who.thread[context]) : this.processFunction(who.process[context]);
                grown.add(root, side.node[r], i, side.value[r]);
                if (count >= 0 && side.count)
                    grown.add(root, side.node[r], count, side.count[r]);
            }
        });
        return grown.trie();
    }

    private wishes(s: State): Wishes {
        const f = this.profile.functions;
        const hide = functionsMatching(f, patternOf(s.hide), true);
        return {
            hide: s.system ? f.system.map((is, i) => is | (hide ? hide[i] : 0)) as Uint8Array : hide,
            focus: functionsMatching(f, patternOf(s.focus), true),
            drop: functionsMatching(f, patternOf(s.drop), true),
            mergeRecursion: s.recursion,
        };
    }

    private makeStage(s: State): Stage {
        const contexts = this.contextsThatCount(s), roots = this.rootsOf(s);
        const base = roots === "none" ? this.whole(contexts) : this.rooted(contexts, roots), wishes = this.wishes(s);
        const isPlain = roots === "none" && !contexts && !wishes.hide && !wishes.focus && !wishes.drop && !wishes.mergeRecursion;
        if (isPlain)
            return this.staged(base, node => node, this.profile.depth);
        const shaped = reshape(base, wishes);
        const small = compact(shaped.trie);
        const totals = small.trie.self.map(self => sumUp(small.trie.parent, self));
        const ordered = inOrder(small.trie, byWeight(totals, this.scale(totals, s)));
        return this.staged(ordered.trie, node => {
            if (shaped.counts && !shaped.counts[node])
                return -1;
            return ordered.nodeOf[small.nodeOf[shaped.nodeOf ? shaped.nodeOf[node] : node]];
        });
    }

    private staged(trie: Trie, nodeOf: (node: number) => number, depth?: Uint32Array): Stage {
        return { trie, nodeOf, depth, ...totalsAndEnds(trie) };
    }

    /** In order of time threads are roots anyway. */
    private rootsOf(s: State): string {
        return s.order === "time" && this.hasTimes ? "none" : s.roots;
    }

    private stageKey(s: State): string {
        return JSON.stringify([this.rootsOf(s), s.process, s.thread, s.phase, s.request, s.focus, s.drop, s.hide, s.system, s.recursion]);
    }

    stage(s: State): Stage {
        return this.stages.get(this.stageKey(s), () => this.makeStage(s));
    }

    /* How wide things are. */

    /** By side: what its values are multiplied with before they are compared. */
    private scale(totals: Float64Array[], s: State): number[] {
        return this.profile.sides.map((_, i) => this.isDifference && s.by === "share" ? 1 / (totals[i][0] || 1) : 1);
    }

    private widths(t: Trie, scale: number[], s: State): Float64Array | undefined {
        if (!this.isDifference)
            return undefined;
        const [before, after] = t.self;
        const width = new Float64Array(t.n);
        for (let i = 0; i < t.n; i++) {
            const b = before[i] * scale[0], a = after[i] * scale[1];
            width[i] = s.layout === "before" ? b : s.layout === "after" ? a : Math.max(a, b);
        }
        return width;
    }

    private finished(t: Trie, s: State, isInOrder: boolean): Layout {
        const scale = this.scale(this.stage(s).totals, s);
        if (!isInOrder || s.order === "name") {
            const totals = t.self.map(self => sumUp(t.parent, self));
            t = inOrder(t, s.order === "name" ? this.byName(t) : byWeight(totals, scale)).trie;
        }
        const stage = this.stage(s);
        return layoutOf(t, this.widths(t, scale, s), undefined, t === stage.trie ? stage : undefined);
    }

    private byName(t: Trie): (a: number, b: number) => number {
        const names = this.profile.functions.name;
        if (!this.ranks || this.ranks.length < names.length) {
            const order = Uint32Array.from(names, (_, i) => i).sort((a, b) => names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b);
            this.ranks = new Uint32Array(names.length);
            for (let i = 0; i < order.length; i++)
                this.ranks[order[i]] = i;
        }
        const ranks = this.ranks;
        return (a, b) => ranks[t.fn[a]] - ranks[t.fn[b]];
    }

    /* Views. */

    private viewKey(s: State): string {
        return this.stageKey(s) + JSON.stringify([s.invert, s.order, s.layout, s.by]);
    }

    view(s: State): Layout {
        return this.views.get(this.viewKey(s), () => {
            if (s.order === "time" && this.hasTimes)
                return this.chart(s);
            const stage = this.stage(s);
            return s.invert ? this.finished(inverted(stage.trie), s, false) : this.finished(stage.trie, s, true);
        });
    }

    private chart(s: State): Layout {
        const side = this.profile.sides[0], stage = this.stage(s), contexts = this.contextsThatCount(s);
        const chart = chartOf({
            profile: this.profile, side, fn: stage.trie.fn, parent: stage.trie.parent,
            nodeOf: r => contexts && !contexts[side.context ? side.context[r] : 0] ? -1 : stage.nodeOf(side.node[r]),
            threadFunction: thread => this.threadFunction(thread),
        });
        return layoutOf(chart.trie, undefined, chart.start);
    }

    threadName(thread: number): string {
        const is = this.profile.threads[thread - 1];
        return is ? `${is.name || "thread"}${is.tid > 0 ? ` (${is.tid})` : ""}` : "no thread";
    }

    processName(process: number): string {
        const is = this.profile.processes[process - 1];
        return is ? `${is.name || "process"}${is.pid > 0 ? ` (${is.pid})` : ""}` : "no process";
    }

    /** A function that stands for a thread or a process, where those are frames. */
    private standIn(key: string, name: string): number {
        let fn = this.standIns.get(key);
        if (fn === undefined) {
            const f = this.profile.functions;
            fn = f.name.push(name) - 1;
            f.module.push("");
            f.file.push("");
            this.standIns.set(key, fn);
        }
        return fn;
    }

    private threadFunction(thread: number): number {
        return this.standIn("t" + thread, this.threadName(thread));
    }

    private processFunction(process: number): number {
        return this.standIn("p" + process, this.processName(process));
    }

    callers(s: State, fn: number): Layout {
        return this.callerViews.get(this.viewKey(s) + fn, () => {
            const g = this.stage(s);
            return this.finished(callersOf(g.trie, g.end, g.totals, fn), s, false);
        });
    }

    callees(s: State, fn: number): Layout {
        return this.calleeViews.get(this.viewKey(s) + fn, () => {
            const g = this.stage(s);
            return this.finished(calleesOf(g.trie, g.end, fn), s, false);
        });
    }

    functionSums(s: State): FunctionSums {
        return this.sums.get(this.stageKey(s), () => {
            const g = this.stage(s);
            return perFunction(g.trie, g.end, g.totals, this.profile.functions.name.length);
        });
    }

    /* Differences. */

    private amounts(side: number, columns: Float64Array[], s: State): Amounts {
        const totals = this.stage(s).totals;
        const channel = this.channels.count[side], unit = this.profile.sides[side].countUnit;
        return {
            value: columns[side],
            samples: channel >= 0 ? columns[channel] : columns[side].map(v => v / unit),
            whole: totals[side][0], wholeSamples: this.samples(side, totals, 0),
        };
    }

    /** What is before and what after: as given, or the other way round. */
    beforeAfter(s: State): [number, number] {
        return s.swap ? [1, 0] : [0, 1];
    }

    /** By row of columns: more, less, new, gone or the same. */
    judge(columns: Float64Array[], s: State): Uint8Array {
        const [b, a] = this.beforeAfter(s);
        return judge(this.amounts(b, columns, s), this.amounts(a, columns, s), s.by === "share", this.profile.measure.exact);
    }

    changesOf(l: Layout, what: string, s: State): Changes {
        const key = what + this.viewKey(s) + s.swap + s.function;
        let found = this.changes.get(key);
        if (!found) {
            if (this.changes.size > 6)
                this.changes.clear();
            const [b, a] = this.beforeAfter(s);
            found = changesOf(l.trie.parent, this.judge(l.totals, s), this.judge(l.trie.self, s), i => l.totals[b][i] > 0, i => l.totals[a][i] > 0);
            this.changes.set(key, found);
        }
        return found;
    }

    /** How much a frame changed, as a part of all it has on the side where it has more: 0 ... 1. */
    changePart(l: Layout, node: number, change: Changes, s: State): number {
        const [b, a] = this.beforeAfter(s), scale = this.scale(this.stage(s).totals, s);
        const isOfTotal = s.of === "total" || (s.of === "cause" && change.cause[node] === change.total[node]);
        const columns = isOfTotal ? l.totals : l.trie.self;
        const most = Math.max(l.totals[b][node] * scale[b], l.totals[a][node] * scale[a]);
        return most > 0 ? Math.abs(columns[a][node] * scale[a] - columns[b][node] * scale[b]) / most : 0;
    }
}
