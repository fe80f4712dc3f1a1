// state.ts - everything a view depends on, and the address that says it
//
// The part of the address behind '#' holds what differs from the default, so that
// a copied address shows another reader the same picture.

export interface State {
    tab: string; // flame, sandwich, table
    up: boolean; // roots at the bottom
    invert: boolean;
    order: string; // heavy, name, time
    roots: string; // none, thread, process: a frame for each, below everything
    process: number; // 0: all; else a number of the list
    thread: number;
    phase: number;
    request: number;
    focus: string; // patterns
    drop: string;
    hide: string;
    system: boolean; // hide system libraries
    recursion: boolean; // merge it
    search: string;
    zoom: string; // the zoomed frame: functions from the root
    window: string; // a part of the width that is no frame's: "0.25-0.5"
    function: number; // of the sandwich
    sort: string; // self, total, name
    reverse: boolean;
    colours: string;
    theme: string; // auto, light, dark
    layout: string; // union, before, after
    by: string; // share, value
    of: string; // what colours speak of: cause, self, total
    palette: string;
    swap: boolean;
}

export const DEFAULTS: State = {
    tab: "flame", up: true, invert: false, order: "heavy", roots: "none",
    process: 0, thread: 0, phase: 0, request: 0,
    focus: "", drop: "", hide: "", system: false, recursion: false,
    search: "", zoom: "", window: "", function: 0, sort: "self", reverse: false,
    colours: "auto", theme: "auto",
    layout: "union", by: "share", of: "cause", palette: "blue-orange", swap: false,
};

/** Words that a field may hold; others are not believed. */
const WORDS: Partial<Record<keyof State, string[]>> = {
    tab: ["flame", "sandwich", "table"],
    order: ["heavy", "name", "time"],
    roots: ["none", "thread", "process"],
    sort: ["self", "total", "name"],
    theme: ["auto", "light", "dark"],
    layout: ["union", "before", "after"],
    by: ["share", "value"],
    of: ["cause", "self", "total"],
};

function read<K extends keyof State>(to: State, key: K, text: string): void {
    const like = DEFAULTS[key];
    if (typeof like === "boolean")
        to[key] = (text === "1") as State[K];
    else if (typeof like === "number")
        to[key] = (/^\d{1,9}$/.test(text) ? Number(text) : like) as State[K];
    else if (!WORDS[key] || WORDS[key]?.includes(text))
        to[key] = text as State[K];
}

export function parse(fragment: string, base: State): State {
    const state = { ...base };
    for (const [key, text] of new URLSearchParams(fragment.replace(/^#/, "")))
        if (Object.prototype.hasOwnProperty.call(DEFAULTS, key))
            read(state, key as keyof State, text);
    return state;
}

export function encode(state: State, base: State): string {
    const words = new URLSearchParams();
    for (const key of Object.keys(DEFAULTS) as (keyof State)[])
        if (state[key] !== base[key])
            words.set(key, typeof state[key] === "boolean" ? (state[key] ? "1" : "0") : String(state[key]));
    return words.toString();
}
