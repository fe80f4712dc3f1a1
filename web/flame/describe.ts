// describe.ts - what is said about a frame: in the tip, below the picture, and to screen readers

import { KINDS } from "./data";
import { CHANGES, Changes } from "./diff";
import * as format from "./format";
import type { Layout } from "./layout";
import type { Model } from "./model";
import type { State } from "./state";

export interface Subject {
    layout: Layout;
    node: number;
    zoomed: number;
    change: Changes | null; // of a difference
}

export interface Said { name: string; rows: [string, string][] }

export class Describer {
    constructor(private readonly model: Model, private readonly state: () => State) {}

    name(l: Layout, node: number): string {
        return this.model.profile.functions.name[l.trie.fn[node]];
    }

    private place(fn: number): string {
        const f = this.model.profile.functions;
        return f.file[fn] ? f.file[fn] + (f.line[fn] ? ":" + f.line[fn] : "") : "";
    }

    private whole(side: number): number {
        return this.model.stage(this.state()).totals[side][0];
    }

    private oneSide(s: Subject): [string, string][] {
        const { layout: l, node, zoomed } = s, m = this.model.profile.measure;
        const total = l.totals[0][node], self = l.trie.self[0][node], samples = this.model.samples(0, l.totals, node);
        const rows: [string, string][] = [["Total", `${format.value(m, total)} · ${format.percent(total / this.whole(0))} of all`]];
        if (zoomed > 0)
            rows.push(["", `${format.percent(total / l.totals[0][zoomed])} of the zoomed frame`]);
        rows.push(["Self", `${format.value(m, self)} · ${format.percent(self / this.whole(0))}`]);
        if (m.unit !== "count" || samples !== total)
            rows.push(["Samples", format.count(samples)]);
        return rows;
    }

    private twoSides(s: Subject): [string, string][] {
        const m = this.model.profile.measure, state = this.state(), sides = this.model.beforeAfter(state);
        const line = (columns: Float64Array[], side: number): string =>
            `${format.value(m, columns[side][s.node])} · ${format.percent(columns[side][s.node] / this.whole(side))} of all`;
        const rows: [string, string][] = [["Before", line(s.layout.totals, sides[0])], ["After", line(s.layout.totals, sides[1])]];
        const [b, a] = sides.map(side => s.layout.totals[side][s.node]), [wb, wa] = sides.map(side => this.whole(side));
        const points = a / wa - b / wb;
        rows.push(["Change", `${format.signed(format.value(m, a - b), a - b)} · ${format.signed(format.percent(points), points)} of all` +
            (s.change ? ` · ${CHANGES[s.change.total[s.node]]}` : "")]);
        rows.push(["Samples", sides.map(side => format.count(this.model.samples(side, s.layout.totals, s.node))).join(" → ")]);
        return rows;
    }

    about(s: Subject): Said {
        const fn = s.layout.trie.fn[s.node], f = this.model.profile.functions;
        const rows = this.model.isDifference ? this.twoSides(s) : this.oneSide(s);
        if (f.module[fn])
            rows.push(["Module", f.module[fn] + (f.kind[fn] ? ` (${KINDS[f.kind[fn]]})` : "")]);
        if (this.place(fn))
            rows.push(["Source", this.place(fn)]);
        return { name: this.name(s.layout, s.node), rows };
    }

    line(s: Subject): string {
        const said = this.about(s);
        return [said.name, ...said.rows.map(([key, text]) => `${key ? key + ": " : ""}${text}`)].join(", ");
    }

    /** For the title of a frame in an exported picture. */
    short(s: Subject): string {
        const said = this.about(s);
        return `${said.name}\n${said.rows.slice(0, 4).map(([key, text]) => `${key ? key + " " : ""}${text}`).join("\n")}`;
    }

    /** What the page says about a recording before anybody asks. */
    summary(): string[] {
        const p = this.model.profile, m = p.measure;
        return p.sides.map((s, i) => {
            const said = [m.unit === "count" && s.samples === s.total ? `${format.count(s.samples)} ${m.name || "samples"}`
                : `${format.count(s.samples)} samples · ${format.value(m, s.total)} ${m.name}`];
            if (s.duration_ns !== null)
                said.push(`${format.time(s.duration_ns)} long`);
            if (s.rate_hz !== null)
                said.push(`${format.count(s.rate_hz)} Hz`);
            if (s.engine)
                said.push(s.engine);
            if (s.lost !== null)
                said.push(`${s.lost ? format.count(s.lost) : "none"} lost`);
            said.push(`${s.unresolved ? format.percent(s.unresolved / s.total) : "none"} unresolved`);
            return (p.sides.length > 1 ? (i ? "After: " : "Before: ") : "") + said.join(" · ");
        });
    }
}
