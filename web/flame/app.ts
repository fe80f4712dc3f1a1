// app.ts - the page: one state, and views that follow it

import * as around from "./around";
import { Paint, automatic, paintOf, SCHEMES } from "./colors";
import { KINDS } from "./data";
import type { Profile } from "./data";
import { Describer, Subject } from "./describe";
import { listen } from "./controls";
import { CHANGES, paintChanges, shownChange } from "./diff";
import type { Look, Scene } from "./draw";
import { PITCH, levelCount, paintRows } from "./draw";
import { download, toFolded, toPng, toSvg } from "./export";
import { FlameCanvas } from "./flame";
import * as format from "./format";
import { Action, fillHelp } from "./help";
import { Layout, pathTo, startOf } from "./layout";
import { Model } from "./model";
import { Panel } from "./panel";
import { Found, functionsMatching, matchedWithin, patternOf, search } from "./search";
import { DEFAULTS, State, encode, parse } from "./state";
import { FunctionTable } from "./table";
import { Tip } from "./tip";
import { nodeOfPath, pathOf } from "./zoom_path";

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

/** A function's name as a pattern that means it and nothing else. */
function exactly(name: string): string {
    return "^" + name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") + "$";
}

export class App {
    readonly model: Model;
    state: State;
    private readonly base: State;
    readonly main: FlameCanvas;
    readonly callers: FlameCanvas;
    readonly callees: FlameCanvas;
    private readonly table: FunctionTable;
    private readonly sideTable: FunctionTable;
    private readonly panel: Panel;
    private readonly describer: Describer;
    private readonly tip = new Tip(byId("tip"));
    private found: Found | null = null;
    private foundFor: [Layout, string] | null = null;
    private look: Look | null = null;
    private addressTimer = 0;
    private match = -1;

    constructor(profile: Profile) {
        this.model = new Model(profile);
        this.base = parse(profile.view, DEFAULTS);
        this.state = parse(location.hash, this.base);
        this.describer = new Describer(this.model, () => this.state);
        this.main = this.canvas("flame", true);
        this.callers = this.canvas("callers", false);
        this.callees = this.canvas("callees", false);
        const events = { sort: (by: string) => this.sortBy(by), open: (fn: number) => this.set({ tab: "sandwich", function: fn }) };
        this.table = new FunctionTable(byId("view-table"), this.model, false, events);
        this.sideTable = new FunctionTable(byId("sandwich-table"), this.model, true, events);
        this.panel = new Panel(this.model, this.base, patch => this.set(patch));
        around.fillHead(profile.title, this.describer.summary());
        fillHelp(byId("help") as HTMLDialogElement, profile.facts);
        listen(this);
        this.render();
    }

    /* The state and its address. */

    set(patch: Partial<State>, push = true): void {
        const moves = ["invert", "order", "roots"].some(key => key in patch);
        this.state = { ...this.state, ...(moves ? { zoom: "", window: "" } : {}), ...patch };
        if (patch.order === "time") // what is merged from the leaves has no order of time
            this.state.invert = false;
        else if (patch.invert && this.state.order === "time")
            this.state.order = "heavy";
        this.render();
        this.remember(push);
    }

    get address(): string {
        const words = encode(this.state, this.base);
        return words ? "#" + words : "#";
    }

    private remember(push: boolean): void {
        clearTimeout(this.addressTimer);
        const write = (): void => {
            try {
                if (push)
                    history.pushState(null, "", this.address);
                else
                    history.replaceState(null, "", this.address);
            } catch {
                // a page without an address of its own, as in a sandboxed frame: the view works, only the link is missing
            }
        };
        if (push)
            write();
        else
            this.addressTimer = window.setTimeout(write, 200);
    }

    readAddress(): void {
        const state = parse(location.hash, this.base);
        if (encode(state, DEFAULTS) !== encode(this.state, DEFAULTS)) {
            this.state = state;
            this.render();
        }
    }

    /* Pictures. */

    private canvas(id: string, isMain: boolean): FlameCanvas {
        const made: FlameCanvas = new FlameCanvas(byId(id), {
            zoom: node => isMain ? this.zoomTo(node) : made.zoomTo(node),
            pan: (from, to) => {
                made.zoomToWindow(from, to);
                const whole = made.layout?.whole ?? 0;
                if (isMain && whole)
                    this.set({ zoom: "", window: `${(from / whole).toFixed(9)}-${(to / whole).toFixed(9)}` }, false);
            },
            select: node => this.select(made, node),
            hover: (node, x, y) => this.hover(made, node, x, y),
            describe: node => this.describer.line(this.subject(made, node)),
        });
        return made;
    }

    private get isDark(): boolean {
        return this.state.theme === "dark" || (this.state.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    }

    private applyTheme(): Look {
        const root = document.documentElement, theme = this.isDark ? "dark" : "light";
        if (root.dataset.theme !== theme || !this.look) {
            root.dataset.theme = theme;
            const style = getComputedStyle(root), value = (name: string): string => style.getPropertyValue(name).trim();
            this.look = { background: value("--canvas"), text: value("--text"), outline: value("--outline"), hit: value("--hit"), font: value("--frame-font") };
        }
        return this.look;
    }

    private paint(l: Layout, what: string): Paint {
        if (this.model.isDifference) {
            const s = this.state, changes = this.model.changesOf(l, what, s);
            return paintChanges(node => shownChange(changes, node, s.of), node => this.model.changePart(l, node, changes, s), s.palette, this.isDark);
        }
        const f = this.model.profile.functions;
        return paintOf(this.state.colours === "auto" ? automatic(f) : this.state.colours, l, f, this.isDark);
    }

    private show(canvas: FlameCanvas, l: Layout, what: string, found: Found | null, up: boolean, top: number): void {
        const change = this.model.isDifference ? this.model.changesOf(l, what, this.state) : null;
        const mark = ["", "", "", "+ ", "− "];
        canvas.show({
            layout: l, paint: this.paint(l, what), found, up, top, look: this.applyTheme(),
            label: node => (change ? mark[change.total[node]] : "") + this.describer.name(l, node),
        });
    }

    private subject(canvas: FlameCanvas, node: number): Subject {
        const layout = canvas.layout as Layout;
        const what = canvas === this.main ? "flame" : canvas === this.callers ? "callers" : "callees";
        return { layout, node, zoomed: canvas.zoomed, change: this.model.isDifference ? this.model.changesOf(layout, what, this.state) : null };
    }

    private get matches(): Uint8Array | null {
        return functionsMatching(this.model.profile.functions, patternOf(this.state.search));
    }

    private searchIn(l: Layout): Found | null {
        if (!this.foundFor || this.foundFor[0] !== l || this.foundFor[1] !== this.state.search) {
            const by = this.matches;
            this.found = by ? search(l, by) : null;
            this.foundFor = [l, this.state.search];
            this.match = -1;
        }
        return this.found;
    }

    render(): void {
        const s = this.state;
        this.applyTheme();
        for (const tab of ["flame", "sandwich", "table"]) {
            byId("tab-" + tab).setAttribute("aria-selected", String(s.tab === tab));
            byId("view-" + tab).hidden = s.tab !== tab;
        }
        this.panel.sync(s);
        const box = byId("search") as HTMLInputElement;
        if (box.value !== s.search)
            box.value = s.search;
        const isEmpty = !this.model.stage(s).totals.some(t => t[0] > 0);
        byId("nothing").hidden = !isEmpty;
        const l = this.model.view(s);
        this.searchIn(l);
        if (s.tab === "flame")
            this.renderFlame(l);
        else if (s.tab === "sandwich")
            this.renderSandwich();
        else
            this.table.show(s, this.matches);
        this.showHits(l);
        this.showPath();
        this.showDetails();
        this.showLegend();
    }

    private renderFlame(l: Layout): void {
        const s = this.state;
        this.show(this.main, l, "flame", this.found, s.up, 0);
        const node = nodeOfPath(l, s.zoom), part = /^([\d.]+)-([\d.]+)$/.exec(s.window);
        if (s.zoom && node === 0)
            this.state.zoom = "";
        if (part && !s.zoom)
            this.main.zoomToWindow(Number(part[1]) * l.whole, Number(part[2]) * l.whole);
        else if (node !== this.main.zoomed || !this.isWhole(node, l))
            this.main.zoomTo(node, this.main.drawMs > 0);
    }

    private isWhole(node: number, l: Layout): boolean {
        const [from, to] = this.main.window;
        return from === startOf(l, node) && to === startOf(l, node) + l.width[node];
    }

    private renderSandwich(): void {
        const s = this.state;
        this.sideTable.show(s, this.matches);
        const names = this.model.profile.functions.name;
        if (!s.function || s.function >= names.length)
            s.function = this.sideTable.rows({ ...s, sort: "self", reverse: false }, null)[0] ?? 0;
        byId("sandwich-name").textContent = s.function ? names[s.function] : "No function";
        const by = this.matches, callers = this.model.callers(s, s.function), callees = this.model.callees(s, s.function);
        this.show(this.callers, callers, "callers", by && search(callers, by), true, 1);
        this.show(this.callees, callees, "callees", by && search(callees, by), false, 1);
    }

    /* Zoom and selection. */

    zoomTo(node: number): void {
        const l = this.main.layout;
        if (l)
            this.set({ zoom: pathOf(l, node), window: "" });
    }

    get active(): FlameCanvas {
        if (this.state.tab !== "sandwich")
            return this.main;
        return this.callers.host.contains(document.activeElement) ? this.callers : this.callees;
    }

    private chosen: FlameCanvas | null = null;

    select(canvas: FlameCanvas, node: number): void {
        for (const other of [this.main, this.callers, this.callees])
            if (other !== canvas && other.selected >= 0)
                other.select(-1, false);
        this.chosen = canvas;
        canvas.select(node);
        this.showDetails();
    }

    private hover(canvas: FlameCanvas, node: number, x: number, y: number): void {
        if (node < 0)
            this.tip.hide();
        else
            this.tip.show(this.describer.about(this.subject(canvas, node)), x, y);
    }

    private sortBy(by: string): void {
        this.set(this.state.sort === by ? { reverse: !this.state.reverse } : { sort: by, reverse: false });
    }

    /* What stands around the picture. */

    private showHits(l: Layout): void {
        const hits = byId("hits"), found = this.found;
        byId("previous").hidden = byId("next").hidden = !found || this.state.tab !== "flame";
        if (!found) {
            hits.textContent = "";
            return;
        }
        const zoomed = this.state.tab === "flame" ? this.main.zoomed : 0;
        const inside = zoomed > 0 ? ` (${format.percent(matchedWithin(l, found, zoomed) / l.width[zoomed])} of the frame)` : "";
        hits.textContent = found.nodes ? `${format.percent(found.share)}${inside}` : "no match";
        hits.title = `${format.count(found.functions)} functions in ${format.count(found.nodes)} frames` +
            (patternOf(this.state.search)?.isPlain ? "; not a regular expression, searched as it stands" : "");
    }

    private showPath(): void {
        const l = this.main.layout, isZoomed = this.state.tab === "flame" && !!l && this.main.zoomed > 0;
        const path = isZoomed && l ? pathTo(l.trie, this.main.zoomed) : [];
        (byId("reset") as HTMLButtonElement).disabled = !isZoomed && !this.state.window;
        around.showPath(path.map(node => this.describer.name(l as Layout, node)), at => this.zoomTo(path[at]));
    }

    private showDetails(): void {
        const canvas = this.chosen, node = canvas?.selected ?? -1, { tab } = this.state;
        const isSeen = !!canvas && node >= 0 && tab !== "table" && (tab === "flame") === (canvas === this.main);
        const hint = tab === "table" ? "A function opens its callers and callees."
            : "Click a frame to zoom. Arrow keys move, / searches, ? lists all keys.";
        around.showDetails(isSeen ? this.describer.about(this.subject(canvas, node)) : null, hint, isSeen && node > 0);
    }

    private showLegend(): void {
        const rows: [string, string][] = [];
        if (this.state.tab !== "table" && this.model.isDifference) {
            const { css } = paintChanges(() => 0, () => 0, this.state.palette, this.isDark);
            const ramp = (from: number) => `linear-gradient(to right, ${css.slice(from, from + 4)})`; // the larger, the stronger
            rows.push([css[8], CHANGES[4] + " −"], [ramp(5), CHANGES[2]], [css[0], CHANGES[0]], [ramp(1), CHANGES[1]], [css[4], CHANGES[3] + " +"]);
        } else if (this.state.tab !== "table" && this.state.colours === "kind") {
            const { css } = this.paint(this.model.view(this.state), "flame"), has = new Set(this.model.profile.functions.kind);
            KINDS.forEach((kind, i) => has.has(i) && rows.push([css[i], kind]));
        }
        around.showLegend(rows);
    }

    /* Deeds. */

    private step(way: "in" | "out" | "left" | "right"): void {
        const canvas = this.active, node = canvas.step(way);
        if (node >= 0)
            this.select(canvas, node);
    }

    goToMatch(step: number): void {
        const tops = this.found?.tops, l = this.main.layout;
        if (!tops?.length || !l || this.state.tab !== "flame")
            return;
        this.match = (this.match + step + tops.length + (this.match < 0 && step < 0 ? 1 : 0)) % tops.length;
        const node = tops[this.match], [from, to] = this.main.window;
        const start = startOf(l, node), isOutside = start + l.width[node] <= from || start >= to;
        const isThin = (l.width[node] / (to - from)) * this.main.host.clientWidth < 2;
        this.select(this.main, node);
        if (isOutside || isThin)
            this.zoomTo(isOutside && !isThin ? 0 : node);
    }

    private ofSelected(act: (name: string, fn: number) => void): void {
        const canvas = this.chosen, node = canvas?.selected ?? -1;
        if (canvas?.layout && node > 0)
            act(this.describer.name(canvas.layout, node), canvas.layout.trie.fn[node]);
    }

    private copy(text: string): void {
        if (navigator.clipboard)
            navigator.clipboard.writeText(text).then(() => around.showWords("Copied."),
                () => around.showWords("The browser did not allow copying: " + text));
        else
            around.showWords(text);
    }

    reset(): void {
        for (const canvas of [this.callers, this.callees])
            if (canvas.layout)
                canvas.zoomTo(0);
        if (this.state.zoom || this.state.window)
            this.set({ zoom: "", window: "" });
    }

    private unzoom(): void {
        const l = this.main.layout;
        if (this.state.window)
            this.reset();
        else if (l && this.main.zoomed > 0)
            this.zoomTo(l.trie.parent[this.main.zoomed]);
    }

    private escape(): void {
        const menu = byId("export-menu"), panel = byId("panel");
        if (!menu.hidden)
            this.toggle("export", menu, false);
        else if (!panel.hidden)
            this.toggle("options", panel, false);
        else if (this.state.search)
            this.set({ search: "" });
        else
            this.reset();
        if (document.activeElement instanceof HTMLInputElement)
            this.active.host.focus();
    }

    private next<K extends keyof State>(key: K, words: State[K][]): void {
        this.set({ [key]: words[(words.indexOf(this.state[key]) + 1) % words.length] } as Partial<State>);
    }

    act(action: Action): void {
        const s = this.state;
        switch (action) {
        case "help": (byId("help") as HTMLDialogElement).showModal(); break;
        case "search": (byId("search") as HTMLInputElement).select(); byId("search").focus(); break;
        case "next": this.goToMatch(1); break;
        case "previous": this.goToMatch(-1); break;
        case "in": case "out": case "left": case "right": this.step(action); break;
        case "zoom": if (this.active.selected >= 0) this.active === this.main ? this.zoomTo(this.main.selected) : this.active.zoomTo(this.active.selected); break;
        case "unzoom": this.unzoom(); break;
        case "reset": this.reset(); break;
        case "wider": this.active.zoomBy(1.5, 0.5); break;
        case "narrower": this.active.zoomBy(1 / 1.5, 0.5); break;
        case "flame": this.set({ tab: "flame" }); break;
        case "sandwich-tab": this.set({ tab: "sandwich" }); break;
        case "table": this.set({ tab: "table" }); break;
        case "invert": this.set({ invert: !s.invert }); break;
        case "order": this.next("order", this.model.hasTimes ? ["heavy", "name", "time"] : ["heavy", "name"]); break;
        case "direction": this.set({ up: !s.up }); break;
        case "recursion": this.set({ recursion: !s.recursion }); break;
        case "system": this.set({ system: !s.system }); break;
        case "theme": this.set({ theme: this.isDark ? "light" : "dark" }); break;
        case "colours": this.next("colours", ["auto", ...SCHEMES.map(([word]) => word)]); break;
        case "options": this.toggle("options", byId("panel")); break;
        case "sandwich": this.ofSelected((_, fn) => this.set({ tab: "sandwich", function: fn })); break;
        case "focus": this.ofSelected(name => this.set({ focus: exactly(name) })); break;
        case "drop": this.ofSelected(name => this.set({ drop: exactly(name) })); break;
        case "hide": this.ofSelected(name => this.set({ hide: s.hide ? `${s.hide}|${exactly(name)}` : exactly(name) })); break;
        case "copy": this.ofSelected(name => this.copy(name)); break;
        case "svg": this.export("svg"); break;
        case "link": this.export("link"); break;
        case "escape": this.escape(); break;
        }
    }

    /* Files. */

    private get fileName(): string {
        return (this.model.profile.title.replace(/[^\w.-]+/g, "_").slice(0, 80) || "flame") + (this.state.invert ? ".inverted" : "");
    }

    private get pictured(): FlameCanvas {
        return this.state.tab === "sandwich" ? this.active : this.main;
    }

    export(what: string): void {
        const canvas = this.pictured;
        if (!canvas.current)
            this.main.show({ layout: this.model.view(this.state), paint: this.paint(this.model.view(this.state), "flame"), found: this.found,
                up: this.state.up, top: 0, look: this.applyTheme(), label: node => this.describer.name(this.model.view(this.state), node) });
        const scene = canvas.current as Scene, width = Math.max(canvas.host.clientWidth, 600);
        const name = this.fileName, sides = this.model.profile.sides;
        if (what === "svg")
            download(name + ".svg", new Blob([toSvg(scene, width, canvas.letterWidth, this.model.profile.title,
                node => this.describer.short(this.subject(canvas, node)))], { type: "image/svg+xml" }));
        else if (what === "png")
            void toPng(scene, width, canvas.letterWidth).then(png => png && download(name + ".png", png));
        else if (what === "folded")
            download(name + ".folded", new Blob([toFolded(scene, canvas.zoomed, node => this.describer.name(scene.layout, node),
                sides.map(() => 10 ** this.model.profile.measure.decimals))], { type: "text/plain" }));
        else
            this.copy(location.href.replace(/#.*$/, "") + this.address);
    }

    toggle(button: string, what: HTMLElement, to = what.hidden): void {
        what.hidden = !to;
        byId(button).setAttribute("aria-expanded", String(to));
    }

    /* For those who drive the page by program. */

    frames(which = "flame"): { name: string; x: number; y: number; w: number; node: number }[] {
        const canvas = which === "callers" ? this.callers : which === "callees" ? this.callees : this.main;
        const s = canvas.current, out: { name: string; x: number; y: number; w: number; node: number }[] = [];
        if (!s)
            return out;
        const at = canvas.canvas.getBoundingClientRect(), scroll = canvas.host.scrollTop;
        paintRows(s, {
            box: (x, y, w, _css, _alpha, node) => {
                if (node >= 0)
                    out.push({ name: this.describer.name(s.layout, node), x: at.x + x, y: at.y + y - scroll, w, node });
            },
            text: () => undefined, mark: () => undefined,
        }, canvas.letterWidth, at.width, levelCount(s) * PITCH, 0, s.layout.levels.length);
        return out;
    }
}
