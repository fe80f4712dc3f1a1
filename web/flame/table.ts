// table.ts - functions in rows, as a real table

import type { Model } from "./model";
import * as format from "./format";
import { CHANGES, GONE, LESS, MORE, NEW } from "./diff";
import type { State } from "./state";

const ROWS_AT_ONCE = 200;

export interface TableEvents {
    sort(by: string): void;
    open(fn: number): void;
}

interface Column { key: string; title: string; sort: string | null; long: string }

const COLUMNS: Column[] = [
    { key: "self", title: "Self", sort: "self", long: "In the function itself" },
    { key: "total", title: "Total", sort: "total", long: "While the function was anywhere on the stack" },
    { key: "name", title: "Function", sort: "name", long: "Name of the function" },
    { key: "module", title: "Module", sort: null, long: "Program or library it is in" },
];

export class FunctionTable {
    private readonly table = document.createElement("table");
    private readonly body = document.createElement("tbody");
    private readonly head = document.createElement("tr");
    private readonly more = document.createElement("button");
    private readonly caption = document.createElement("caption");
    private shown = ROWS_AT_ONCE;
    private key = "";

    constructor(host: HTMLElement, private readonly model: Model, private readonly compact: boolean, private readonly on: TableEvents) {
        const head = document.createElement("thead");
        head.append(this.head);
        this.caption.className = "unseen";
        this.table.append(this.caption, head, this.body);
        this.more.className = "more";
        this.more.type = "button";
        this.more.hidden = true;
        host.append(this.table, this.more);
    }

    private columns(): Column[] {
        return this.compact ? COLUMNS.filter(c => c.key !== "module") : COLUMNS;
    }

    private heading(c: Column, s: State): HTMLElement {
        const cell = document.createElement("th");
        cell.scope = "col";
        cell.className = c.key;
        cell.title = c.long;
        if (!c.sort) {
            cell.textContent = c.title;
            return cell;
        }
        const button = document.createElement("button"), isSorted = s.sort === c.sort;
        const isDown = (c.sort !== "name") !== s.reverse;
        button.type = "button";
        button.textContent = c.title + (isSorted ? (isDown ? " ▾" : " ▴") : "");
        button.addEventListener("click", () => this.on.sort(c.sort as string));
        cell.setAttribute("aria-sort", isSorted ? (isDown ? "descending" : "ascending") : "none");
        cell.append(button);
        return cell;
    }

    /** What a row is sorted by: its value, or in a difference the size of its change. */
    private weight(columns: Float64Array[], whole: number[], s: State): (fn: number) => number {
        if (!this.model.isDifference)
            return fn => columns[0][fn];
        const scale = whole.map(w => s.by === "share" ? 1 / (w || 1) : 1);
        return fn => Math.abs(columns[1][fn] * scale[1] - columns[0][fn] * scale[0]) || 1e-30 * (columns[0][fn] + columns[1][fn]);
    }

    rows(s: State, matches: Uint8Array | null): number[] {
        const sums = this.model.functionSums(s), whole = this.model.stage(s).totals.map(t => t[0]);
        const names = this.model.profile.functions.name, found: number[] = [];
        for (let fn = 1; fn < sums.total[0].length; fn++)
            if (sums.total.some(t => t[fn] > 0) && (!matches || matches[fn]))
                found.push(fn);
        const weight = this.weight(s.sort === "self" ? sums.self : sums.total, whole, s), sign = s.reverse ? -1 : 1;
        const byName = (a: number, b: number): number => names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b;
        return found.sort(s.sort === "name" ? (a, b) => sign * byName(a, b) : (a, b) => sign * (weight(b) - weight(a)) || byName(a, b));
    }

    show(s: State, matches: Uint8Array | null): void {
        const rows = this.rows(s, matches), key = JSON.stringify([s.sort, s.reverse, s.search, rows.length]);
        if (key !== this.key)
            this.shown = ROWS_AT_ONCE;
        this.key = key;
        this.head.replaceChildren(...this.columns().map(c => this.heading(c, s)));
        const changes = this.model.isDifference
            ? { self: this.model.judge(this.model.functionSums(s).self, s), total: this.model.judge(this.model.functionSums(s).total, s) } : null;
        this.caption.textContent = `${format.count(rows.length)} functions`;
        this.body.replaceChildren(...rows.slice(0, this.shown).map(fn => this.row(fn, s, changes)));
        this.more.hidden = rows.length <= this.shown;
        this.more.textContent = `Show ${format.count(Math.min(ROWS_AT_ONCE, rows.length - this.shown))} more of ${format.count(rows.length)}`;
        this.more.onclick = () => {
            this.shown += ROWS_AT_ONCE;
            this.show(s, matches);
        };
    }

    private row(fn: number, s: State, changes: { self: Uint8Array; total: Uint8Array } | null): HTMLElement {
        const row = document.createElement("tr"), f = this.model.profile.functions;
        if (fn === s.function)
            row.className = "chosen";
        const name = document.createElement("th"), open = document.createElement("button");
        name.scope = "row";
        name.className = "name";
        open.type = "button";
        open.textContent = f.name[fn];
        open.title = f.name[fn] + (f.file[fn] ? `\n${f.file[fn]}${f.line[fn] ? ":" + f.line[fn] : ""}` : "");
        open.addEventListener("click", () => this.on.open(fn));
        name.append(open);
        const sums = this.model.functionSums(s);
        row.append(...(["self", "total"] as const).map(what => changes ? this.changeCell(sums[what], fn, changes[what][fn], s) : this.valueCell(sums[what], fn, s)), name);
        if (!this.compact) {
            const module = document.createElement("td");
            module.className = "module";
            module.textContent = f.module[fn];
            row.append(module);
        }
        return row;
    }

    private valueCell(columns: Float64Array[], fn: number, s: State): HTMLElement {
        const cell = document.createElement("td"), whole = this.model.stage(s).totals[0][0];
        const share = whole > 0 ? columns[0][fn] / whole : 0;
        cell.className = "number";
        const bar = document.createElement("span"), value = document.createElement("span"), part = document.createElement("b");
        bar.className = "bar";
        bar.style.width = Math.min(100, share * 100) + "%";
        value.textContent = format.value(this.model.profile.measure, columns[0][fn]);
        part.textContent = format.percent(share);
        cell.append(bar, value, part);
        return cell;
    }

    private changeCell(columns: Float64Array[], fn: number, change: number, s: State): HTMLElement {
        const cell = document.createElement("td"), [b, a] = this.model.beforeAfter(s), m = this.model.profile.measure;
        const whole = this.model.stage(s).totals.map(t => t[0]);
        const shares = [b, a].map(side => whole[side] ? columns[side][fn] / whole[side] : 0);
        cell.className = "number change";
        if (change === MORE || change === NEW)
            cell.classList.add("up");
        if (change === LESS || change === GONE)
            cell.classList.add("down");
        const from = document.createElement("span"), delta = document.createElement("b");
        const amount = columns[a][fn] - columns[b][fn], points = shares[1] - shares[0];
        from.textContent = s.by === "share" ? `${format.percent(shares[0])} → ${format.percent(shares[1])}`
            : `${format.value(m, columns[b][fn])} → ${format.value(m, columns[a][fn])}`;
        delta.textContent = change === NEW || change === GONE ? CHANGES[change]
            : s.by === "share" ? format.signed(format.percent(points), points) : format.signed(format.value(m, amount), amount);
        cell.title = CHANGES[change];
        cell.append(from, delta);
        return cell;
    }
}
