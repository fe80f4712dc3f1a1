// panel.ts - the options, and the chips that show which of them are not as usual

import { SCHEMES } from "./colors";
import { DIFF_PALETTES } from "./diff";
import type { Model } from "./model";
import { DEFAULTS, State } from "./state";

type Change = (patch: Partial<State>) => void;

function fill(select: HTMLSelectElement, rows: [string, string][]): void {
    select.replaceChildren(...rows.map(([value, text]) => new Option(text, value)));
}

/** Names in lists may be very long; the list is for choosing. */
function brief(text: string): string {
    return text.length > 60 ? text.slice(0, 59) + "…" : text;
}

export class Panel {
    private readonly form = document.getElementById("panel") as HTMLFormElement;
    private readonly chips = document.getElementById("chips") as HTMLElement;
    private timer = 0;

    /** `base` is how the page opens: only what differs from it is told in a chip. */
    constructor(private readonly model: Model, private readonly base: State, private readonly change: Change) {
        this.fillLists();
        this.form.addEventListener("submit", e => e.preventDefault());
        this.form.addEventListener("change", e => this.changed(e.target as HTMLElement));
        this.form.addEventListener("input", e => {
            const field = e.target as HTMLInputElement;
            if (field.type !== "text")
                return;
            clearTimeout(this.timer);
            this.timer = window.setTimeout(() => this.changed(field), 300);
        });
    }

    private field(name: string): HTMLInputElement & HTMLSelectElement {
        return this.form.elements.namedItem(name) as HTMLInputElement & HTMLSelectElement;
    }

    private list(name: "process" | "thread" | "phase" | "request", rows: string[]): boolean {
        const select = this.field(name);
        fill(select, [["0", `All ${name === "process" ? "processes" : name + "s"}`], ...rows.map((text, i): [string, string] => [String(i + 1), brief(text)])]);
        (select.closest("label") as HTMLElement).hidden = rows.length === 0;
        return rows.length > 0;
    }

    private fillLists(): void {
        const p = this.model.profile;
        const any = [
            this.list("process", p.processes.map((_, i) => this.model.processName(i + 1))),
            this.list("thread", p.threads.map((_, i) => this.model.threadName(i + 1))),
            this.list("phase", p.phases),
            this.list("request", p.requests),
        ];
        (document.getElementById("who") as HTMLElement).hidden = !any.includes(true);
        (document.getElementById("difference") as HTMLElement).hidden = !this.model.isDifference;
        (document.getElementById("scheme") as HTMLElement).hidden = this.model.isDifference;
        fill(this.field("colours"), [["auto", "Automatic"], ...SCHEMES]);
        fill(this.field("palette"), DIFF_PALETTES);
        (this.field("roots").closest("label") as HTMLElement).hidden = !any.includes(true);
        if (!this.model.hasTimes)
            this.field("order").querySelector('option[value="time"]')?.remove();
    }

    private changed(field: HTMLElement): void {
        const { name, value, type, checked } = field as HTMLInputElement;
        if (!(name in DEFAULTS))
            return;
        const like = DEFAULTS[name as keyof State];
        const to = type === "checkbox" ? checked : typeof like === "boolean" ? value === "1" : typeof like === "number" ? Number(value) : value;
        this.change({ [name]: to } as Partial<State>);
    }

    sync(s: State): void {
        for (const name of Object.keys(DEFAULTS) as (keyof State)[]) {
            const field = this.field(name);
            if (!field || field === document.activeElement && field.type === "text")
                continue;
            if (field.type === "checkbox")
                field.checked = s[name] as boolean;
            else
                field.value = typeof s[name] === "boolean" ? (s[name] ? "1" : "0") : String(s[name]);
        }
        this.showChips(s);
    }

    private chip(text: string, patch: Partial<State>): HTMLElement {
        const chip = document.createElement("button");
        chip.type = "button";
        chip.className = "chip";
        chip.textContent = text;
        chip.setAttribute("aria-label", `${text}: take back`);
        chip.addEventListener("click", () => this.change(patch));
        return chip;
    }

    private showChips(s: State): void {
        const chips: HTMLElement[] = [], p = this.model.profile;
        const add = (isOn: boolean | number, text: string, patch: Partial<State>): void => {
            if (isOn)
                chips.push(this.chip(text, patch));
        };
        add(s.invert, "inverted", { invert: false });
        add(s.order !== "heavy", s.order === "name" ? "by name" : "in time", { order: "heavy" });
        add(s.roots !== "none", `by ${s.roots}`, { roots: "none" });
        add(s.process, `process ${brief(p.processes[s.process - 1]?.name ?? "?")}`, { process: 0 });
        add(s.thread, `thread ${brief(this.model.threadName(s.thread))}`, { thread: 0 });
        add(s.phase, `phase ${brief(p.phases[s.phase - 1] ?? "?")}`, { phase: 0 });
        add(s.request, `request ${brief(p.requests[s.request - 1] ?? "?")}`, { request: 0 });
        add(s.focus !== "", `only ${brief(s.focus)}`, { focus: "" });
        add(s.drop !== "", `without ${brief(s.drop)}`, { drop: "" });
        add(s.hide !== "", `hidden ${brief(s.hide)}`, { hide: "" });
        add(s.system, "no system libraries", { system: false });
        add(s.recursion, "recursion merged", { recursion: false });
        const { layout, by, of } = this.base;
        add(this.model.isDifference && s.layout !== layout, s.layout === "union" ? "width of both" : `width ${s.layout}`, { layout });
        add(this.model.isDifference && s.by !== by, `by ${s.by}`, { by });
        add(this.model.isDifference && s.of !== of, s.of === "cause" ? "where it changed" : s.of === "self" ? "own change" : "all within", { of });
        add(this.model.isDifference && s.swap, "other direction", { swap: false });
        this.chips.replaceChildren(...chips);
        this.chips.hidden = chips.length === 0;
    }
}
