// around.ts - what stands around the picture: head, path, details, legend

import type { Said } from "./describe";

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

function span(text: string, className = ""): HTMLElement {
    const made = document.createElement("span");
    made.textContent = text;
    if (className)
        made.className = className;
    return made;
}

export function fillHead(title: string, summary: string[]): void {
    byId("title").textContent = title;
    document.title = title;
    byId("summary").replaceChildren(...summary.map(text => span(text)));
}

/** The path to the zoomed frame; empty: nothing is zoomed. */
export function showPath(names: string[], go: (at: number) => void): void {
    const path = byId("crumbs"), list = document.createElement("ol");
    path.hidden = names.length === 0;
    list.append(...names.map((name, i) => {
        const item = document.createElement("li"), step = document.createElement("button");
        step.type = "button";
        step.textContent = step.title = name;
        if (i === names.length - 1)
            step.setAttribute("aria-current", "true");
        step.addEventListener("click", () => go(i));
        item.append(step);
        return item;
    }));
    path.replaceChildren(list);
    path.scrollLeft = path.scrollWidth;
}

/** About the selected frame, or a hint where none is. */
export function showDetails(said: Said | null, hint: string, withActions: boolean): void {
    byId("frame-actions").hidden = !withActions;
    if (!said) {
        byId("details").replaceChildren(span(hint, "hint"));
        return;
    }
    const name = document.createElement("strong");
    name.textContent = name.title = said.name;
    byId("details").replaceChildren(name, ...said.rows.map(([key, text]) => {
        const part = span(""), label = document.createElement("i");
        label.textContent = key ? key + " " : "";
        part.append(label, text);
        return part;
    }));
}

export function showWords(words: string): void {
    byId("details").replaceChildren(span(words));
}

/** What colours mean: [colour, word]. */
export function showLegend(rows: [string, string][]): void {
    const legend = byId("legend");
    legend.hidden = rows.length === 0;
    legend.replaceChildren(...rows.map(([css, text]) => {
        const item = span(""), swatch = document.createElement("i");
        swatch.style.background = css;
        item.append(swatch, text);
        return item;
    }));
}
