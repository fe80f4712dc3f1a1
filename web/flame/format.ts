// format.ts - numbers for eyes, as the terminal shows them

import type { Measure } from "./data";

const NARROW = "\u202f"; // a space that does not break and takes little room

function digits(n: number): string {
    const size = Math.abs(n);
    return n.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

function scaledBy(n: number, steps: [number, string][]): string {
    for (const [from, unit] of steps)
        if (Math.abs(n) >= from * 0.9995 || from === steps[steps.length - 1][0])
            return digits(n / from) + NARROW + unit;
    return String(n);
}

export function count(n: number): string {
    const whole = Math.abs(n) >= 1e15 ? n.toExponential(2) : Math.round(n).toString();
    return whole.replace(/\B(?=(\d{3})+(?!\d))/g, NARROW);
}

export function time(ns: number): string {
    if (ns === 0)
        return "0" + NARROW + "s";
    if (Math.abs(ns) >= 600e9)
        return `${Math.floor(ns / 60e9)}${NARROW}min ${Math.round((ns % 60e9) / 1e9)}${NARROW}s`;
    return scaledBy(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);
}

export function bytes(n: number): string {
    return n === 0 ? "0" + NARROW + "B"
        : scaledBy(n, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]);
}

export function value(m: Measure, n: number): string {
    if (m.unit === "ns")
        return time(n);
    if (m.unit === "bytes")
        return bytes(n);
    const plain = m.decimals ? String(Number((n / 10 ** m.decimals).toFixed(m.decimals))) : count(n);
    return m.unit === "other" && m.unit_name ? plain + NARROW + m.unit_name : plain;
}

export function percent(ratio: number): string {
    if (!Number.isFinite(ratio))
        return "–";
    const p = ratio * 100, size = Math.abs(p);
    const text = size >= 0.095 || size === 0 ? p.toFixed(1) : size >= 0.0095 ? p.toFixed(2) : size >= 0.00095 ? p.toFixed(3) : "<0.001";
    return text + NARROW + "%";
}

export function signed(text: string, n: number): string {
    return n > 0 ? "+" + text : text.replace("-", "−");
}
