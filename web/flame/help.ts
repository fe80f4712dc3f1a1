// help.ts - keys, what they do, and the page that lists them

export type Action =
    | "help" | "search" | "next" | "previous" | "in" | "out" | "left" | "right" | "zoom" | "unzoom" | "reset" | "wider" | "narrower"
    | "flame" | "sandwich-tab" | "table" | "invert" | "order" | "direction" | "recursion" | "system" | "theme" | "colours" | "options"
    | "sandwich" | "focus" | "drop" | "hide" | "copy" | "svg" | "link" | "escape";

/** [section, keys as events name them, action, what it does] */
export const KEYS: [string, string[], Action, string][] = [
    ["Move", ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"], "in", "to callers, callees and neighbours"],
    ["Move", ["Enter", "z"], "zoom", "zoom to the selected frame"],
    ["Move", ["Backspace", "u"], "unzoom", "zoom out by one frame"],
    ["Move", ["0", "Home"], "reset", "show everything"],
    ["Move", ["+", "="], "narrower", "closer (also Ctrl and the wheel)"],
    ["Move", ["-"], "wider", "further away"],
    ["Search", ["/"], "search", "search: a regular expression"],
    ["Search", ["n"], "next", "next match"],
    ["Search", ["N"], "previous", "previous match"],
    ["Search", ["Escape"], "escape", "close, clear the search, then zoom out"],
    ["View", ["1"], "flame", "flame graph"],
    ["View", ["2"], "sandwich-tab", "sandwich: callers and callees of a function"],
    ["View", ["3"], "table", "table"],
    ["View", ["i"], "invert", "inverted: from the leaves"],
    ["View", ["o"], "order", "next order: weight, name, time"],
    ["View", ["x"], "direction", "roots below or above"],
    ["View", ["r"], "recursion", "merge recursion"],
    ["View", ["l"], "system", "hide system libraries"],
    ["View", ["t"], "theme", "light or dark"],
    ["View", ["k"], "colours", "next colours"],
    ["View", [","], "options", "options"],
    ["Selected frame", ["s"], "sandwich", "its callers and callees"],
    ["Selected frame", ["f"], "focus", "only stacks with it"],
    ["Selected frame", ["d"], "drop", "no stacks with it"],
    ["Selected frame", ["h"], "hide", "hide its frames"],
    ["Selected frame", ["c"], "copy", "copy its name"],
    ["Page", ["e"], "svg", "export the picture as SVG"],
    ["Page", ["y"], "link", "copy a link to this view"],
    ["Page", ["?"], "help", "this page"],
];

const SHOWN: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Backspace: "⌫", Escape: "Esc", N: "Shift N" };

export function actionOf(e: KeyboardEvent, up: boolean): Action | null {
    if (e.ctrlKey || e.metaKey || e.altKey)
        return null;
    switch (e.key) {
    case "ArrowUp": return up ? "in" : "out";
    case "ArrowDown": return up ? "out" : "in";
    case "ArrowLeft": return "left";
    case "ArrowRight": return "right";
    }
    return KEYS.find(([, keys]) => keys.includes(e.key))?.[2] ?? null;
}

function element<K extends keyof HTMLElementTagNameMap>(tag: K, text = ""): HTMLElementTagNameMap[K] {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
}

function section(title: string): HTMLElement {
    const part = element("section"), list = element("dl");
    for (const [where, keys, , what] of KEYS) {
        if (where !== title)
            continue;
        const term = element("dt");
        term.append(...keys.filter(k => k !== "=").map(key => element("kbd", SHOWN[key] ?? (key.length === 1 ? key.toUpperCase() : key))));
        list.append(term, element("dd", what));
    }
    part.append(element("h3", title), list);
    return part;
}

export function fillHelp(dialog: HTMLDialogElement, facts: [string, string][]): void {
    const title = element("h2", "Keys"), close = element("button", "Close"), parts = element("div");
    title.id = "help-title";
    close.type = "button";
    close.addEventListener("click", () => dialog.close());
    parts.className = "parts";
    parts.append(...[...new Set(KEYS.map(([where]) => where))].map(section));
    dialog.append(close, title, parts);
    if (facts.length) {
        const list = element("dl");
        list.className = "facts";
        for (const [key, value] of facts)
            list.append(element("dt", key), element("dd", value));
        dialog.append(element("h2", "About this recording"), list);
    }
    dialog.addEventListener("click", e => {
        if (e.target === dialog)
            dialog.close();
    });
}
