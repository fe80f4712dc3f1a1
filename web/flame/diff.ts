// diff.ts - what became more, less, new or gone, and what is only noise
//
// The same judgement as `inferom flame --diff` makes (src/analyse/difference.h):
// what a node has is a sum of samples, such a sum scatters, and among many nodes
// some differ by chance. So the bound is chosen from all of them, by the procedure
// of Benjamini and Hochberg at 1 %. A sample is taken to weigh what the samples of
// its node weigh on average.

import type { Paint } from "./colors";
import { inkOn } from "./colors";

export const SAME = 0, MORE = 1, LESS = 2, NEW = 3, GONE = 4;
export const CHANGES = ["within noise", "more", "less", "new", "gone"];

const FEWEST = 9; // samples on both sides; fewer cannot pass even by appearing from nothing
const ALLOWED = 0.01;

/** One side of rows to be judged: values, and from how many samples. */
export interface Amounts { value: ArrayLike<number>; samples: ArrayLike<number>; whole: number; wholeSamples: number }

/** The complement of the error function, to about one part in ten million (Chebyshev fit). */
export function erfc(x: number): number {
    const z = Math.abs(x), t = 2 / (2 + z);
    const c = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277];
    let sum = 0;
    for (let i = c.length - 1; i >= 0; i--)
        sum = sum * t + c[i];
    const tail = t * Math.exp(-z * z + sum);
    return x >= 0 ? tail : 2 - tail;
}

function scatter(value: number, samples: number, a: Amounts, byShare: boolean): number {
    const squares = samples > 0 ? value * value / samples : 0;
    if (!byShare)
        return squares;
    const p = a.whole ? value / a.whole : 0, wholeSquares = a.wholeSamples ? a.whole * a.whole / a.wholeSamples : 0;
    return a.whole ? (squares * (1 - 2 * p) + p * p * wholeSquares) / (a.whole * a.whole) : 0;
}

function chanceOf(i: number, before: Amounts, after: Amounts, byShare: boolean): number {
    const scaleB = byShare ? before.whole || 1 : 1, scaleA = byShare ? after.whole || 1 : 1;
    const b = before.value[i] / scaleB, a = after.value[i] / scaleA;
    const oneB = before.samples[i] ? b * b / before.samples[i] : 0, oneA = after.samples[i] ? a * a / after.samples[i] : 0;
    const oneSample = a + b > 0 ? (oneA + oneB) / (a + b) : 0;
    const variance = scatter(before.value[i], before.samples[i], before, byShare) + scatter(after.value[i], after.samples[i], after, byShare);
    const seen = Math.abs(a - b) - oneSample;
    return seen <= 0 || variance <= 0 ? 1 : erfc(seen / Math.sqrt(2 * variance));
}

function boundOf(chances: Float64Array): number {
    const sorted = chances.slice().sort();
    let bound = -1;
    for (let k = 0; k < sorted.length; k++)
        if (sorted[k] <= ALLOWED * (k + 1) / sorted.length)
            bound = sorted[k];
    return bound;
}

/** Nothing is left to chance where everything was counted. */
function judgeExactly(before: Amounts, after: Amounts, byShare: boolean): Uint8Array {
    return Uint8Array.from({ length: before.value.length }, (_, i) => {
        const b = before.value[i] / (byShare ? before.whole || 1 : 1), a = after.value[i] / (byShare ? after.whole || 1 : 1);
        if (Math.abs(a - b) <= (byShare ? 1e-12 : 0))
            return SAME;
        return before.samples[i] === 0 ? NEW : after.samples[i] === 0 ? GONE : a > b ? MORE : LESS;
    });
}

export function judge(before: Amounts, after: Amounts, byShare: boolean, exact: boolean): Uint8Array {
    if (exact)
        return judgeExactly(before, after, byShare);
    const n = before.value.length, change = new Uint8Array(n);
    const asked: number[] = [];
    for (let i = 0; i < n; i++)
        if (before.samples[i] + after.samples[i] >= FEWEST)
            asked.push(i);
    const chances = Float64Array.from(asked, i => chanceOf(i, before, after, byShare));
    const bound = boundOf(chances);
    asked.forEach((i, k) => {
        if (chances[k] > bound)
            return;
        const delta = byShare ? after.value[i] / after.whole - before.value[i] / before.whole : after.value[i] - before.value[i];
        change[i] = before.samples[i] === 0 ? NEW : after.samples[i] === 0 ? GONE : delta > 0 ? MORE : LESS;
    });
    return change;
}

/** Judgements of the nodes of one tree. */
export interface Changes {
    total: Uint8Array; // of all that is in a node
    self: Uint8Array; // of what ended there
    cause: Uint8Array; // where a change is: own, or spread over callees none of which changed beyond noise alone
}

/** `had` and `has` say whether a node has samples at all, before and after: one that now also ends there is not new. */
export function changesOf(parent: Uint32Array, total: Uint8Array, self: Uint8Array, had: (i: number) => boolean, has: (i: number) => boolean): Changes {
    const explained = new Uint8Array(parent.length), cause = new Uint8Array(parent.length);
    for (let i = 0; i < parent.length; i++) {
        if (self[i] === NEW && had(i))
            self[i] = MORE;
        if (self[i] === GONE && has(i))
            self[i] = LESS;
    }
    for (let i = parent.length - 1; i > 0; i--) {
        cause[i] = total[i] !== SAME && !explained[i] ? total[i] : self[i];
        if (total[i] !== SAME || self[i] !== SAME)
            explained[parent[i]] = 1;
    }
    return { total, self, cause };
}

/** What a frame is coloured for; new and gone are so whatever was asked. */
export function shownChange(c: Changes, node: number, of: string): number {
    const { total, self, cause } = c;
    if (total[node] === NEW || total[node] === GONE)
        return total[node];
    return of === "total" ? total[node] : of === "self" ? self[node] : cause[node];
}

interface Ramps { more: string[]; less: string[] } // from the least change to the largest

const RAMPS: Record<string, Ramps> = {
    "blue-orange": { more: ["#fdd9b0", "#fdb863", "#f08a24", "#d35f00"], less: ["#cfe3f2", "#92c5de", "#4a9fd0", "#1f6fb2"] },
    "red-green": { more: ["#f9cdc8", "#f49a90", "#e8604f", "#c9291b"], less: ["#cdebc9", "#98d594", "#55b35c", "#1f8a3b"] },
};

export const DIFF_PALETTES: [string, string][] = [["blue-orange", "Blue and orange"], ["red-green", "Red and green"]];

/** Row 0 is grey; then four steps of more, four of less. New and gone are the strongest of each. */
export function paintChanges(change: (node: number) => number, part: (node: number) => number, name: string, dark: boolean): Paint {
    const { more, less } = RAMPS[name] ?? RAMPS["blue-orange"];
    const css = [dark ? "#54575c" : "#d9d9d9", ...more, ...less];
    return {
        css, ink: css.map(inkOn),
        of(node) {
            const is = change(node);
            if (is === SAME)
                return 0;
            const size = is === NEW || is === GONE ? 1 : Math.abs(part(node));
            const step = size > 0.5 ? 4 : size > 0.25 ? 3 : size > 0.1 ? 2 : 1;
            return is === MORE || is === NEW ? step : 4 + step;
        },
    };
}
