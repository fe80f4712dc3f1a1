// colors.ts - what a frame's colour says
//
// A scheme turns a node into a number of a small palette. Schemes by share use
// the zones that the SVG picture uses; the others keep one colour per module,
// kind or name, calm enough to read text on.

import type { Functions } from "./data";
import type { Layout } from "./layout";

export const SCHEMES: [string, string][] = [
    ["module", "By module"],
    ["kind", "By kind"],
    ["name", "By name"],
    ["hot", "By share: hot"],
    ["cold", "By share: cold"],
    ["rainbow", "By share: rainbow"],
    ["monochrome", "By share: monochrome"],
    ["safe", "Colour-blind safe"],
];

export interface Paint {
    css: string[];
    ink: string[]; // text colour on each
    of(node: number): number; // row of the palette
}

interface Zones { from: number[]; css: string[] } // share above from[i] has css[i]; the last is for the rest

const ZONES: Record<string, Zones> = {
    hot: { from: [0.10, 0.05, 0.02, 0.01], css: ["#ff3030", "#ff8000", "#ffaa00", "#ffcc00", "#ffff00"] },
    cold: { from: [0.10, 0.05, 0.02, 0.01], css: ["#0000ff", "#3366ff", "#6699ff", "#99ccff", "#ccffff"] },
    rainbow: { from: [0.15, 0.12, 0.09, 0.06, 0.03], css: ["#f03b3b", "#ff9f1c", "#ffe045", "#58c86a", "#4aa8ff", "#b48ae8"] },
    monochrome: { from: [0.10, 0.05, 0.02, 0.01], css: ["#6b6b6b", "#8f8f8f", "#b0b0b0", "#cccccc", "#e6e6e6"] },
    safe: { from: [0.10, 0.05, 0.02, 0.01], css: ["#35456c", "#666970", "#948e77", "#c8b866", "#fdea45"] }, // steps of cividis
};

const NEUTRAL = "#d9d9d9"; // "all", and threads
const KIND_COLOURS = ["#ffb35c", "#ffd9a0", "#f28e8e", "#8fc1e8", NEUTRAL, "#a3d977"];
const MODULE_COLOURS = [
    "#8ecae6", "#ffb703", "#a7c957", "#f4978e", "#cdb4db", "#74c69d", "#ffd6a5", "#90a8ed",
    "#e9c46a", "#80ced7", "#f2a6c8", "#c5d86d", "#b8c0ff", "#e5989b", "#9bc1bc", "#d4a373",
];

function luminance(css: string): number {
    const part = (at: number): number => {
        const c = parseInt(css.slice(at, at + 2), 16) / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

/** Whichever of black and white stands out more. */
export function inkOn(css: string): string {
    const l = luminance(css);
    return (l + 0.05) / 0.05 > 1.05 / (l + 0.05) ? "#111111" : "#ffffff";
}

export function hex(hue: number, saturation: number, light: number): string {
    const a = saturation * Math.min(light, 1 - light);
    const part = (n: number): string => {
        const k = (n + hue / 30) % 12;
        return Math.round(255 * (light - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)))).toString(16).padStart(2, "0");
    };
    return "#" + part(0) + part(8) + part(4);
}

/** FNV-1a over the bytes: a name has its colour in every picture. */
function hashOf(text: string): number {
    let h = 2166136261;
    for (const byte of new TextEncoder().encode(text))
        h = Math.imul(h ^ byte, 16777619);
    return (h ^ h >>> 15) >>> 0;
}

/** The same colours, a little less bright: large light areas are tiring in the dark. */
function dimmed(css: string[]): string[] {
    return css.map(c => "#" + [1, 3, 5].map(at => Math.round(parseInt(c.slice(at, at + 2), 16) * 0.8).toString(16).padStart(2, "0")).join(""));
}

function palette(css: string[], of: (node: number) => number): Paint {
    return { css, ink: css.map(inkOn), of };
}

function byShare(l: Layout, zones: Zones): Paint {
    return palette(zones.css, node => {
        const share = l.width[node] / l.whole;
        const at = zones.from.findIndex(from => share > from);
        return at < 0 ? zones.from.length : at;
    });
}

/** Warm hues for names: neighbours differ a little, nothing shouts. */
function nameColours(): string[] {
    return Array.from({ length: 32 }, (_, i) => hex(8 + (i % 8) * 6, 0.85, 0.68 + (i >> 3) * 0.04));
}

function byFunction(l: Layout, f: Functions, css: string[], rowOf: (fn: number) => number): Paint {
    const rows = Uint8Array.from(f.name, (_, fn) => rowOf(fn));
    return palette(css, node => rows[l.trie.fn[node]]);
}

/** What "automatic" means: modules where most functions have one and there are several, else names. */
export function automatic(f: Functions): string {
    const known = f.module.filter(module => module !== "");
    return known.length * 2 > f.module.length && new Set(known).size > 1 ? "module" : "name";
}

export function paintOf(scheme: string, l: Layout, f: Functions, dark: boolean): Paint {
    if (ZONES[scheme])
        return byShare(l, ZONES[scheme]);
    const shade = dark ? dimmed : (css: string[]): string[] => css;
    switch (scheme) {
    case "kind":
        return byFunction(l, f, shade(KIND_COLOURS), fn => f.kind[fn] ?? 0);
    case "name":
        return byFunction(l, f, shade([NEUTRAL, ...nameColours()]), fn => fn === 0 ? 0 : 1 + hashOf(f.name[fn]) % 32);
    default:
        return byFunction(l, f, shade([NEUTRAL, ...MODULE_COLOURS]),
            fn => f.module[fn] ? 1 + hashOf(f.module[fn]) % MODULE_COLOURS.length : 0);
    }
}
