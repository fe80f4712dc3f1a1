// controls.ts - keys, buttons and the address bar, each tied to what it does

import type { App } from "./app";
import { Action, actionOf } from "./help";

const PATIENT_ABOVE = 2_000_000; // nodes: then a search waits until a word has been typed

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

/** Whether a key belongs to what has the focus, and not to the page. */
function isTaken(e: KeyboardEvent, app: App): boolean {
    const at = e.target as HTMLElement, isArrow = e.key.startsWith("Arrow");
    if ((byId("help") as HTMLDialogElement).open)
        return true;
    if (at.matches("input:not([type=checkbox]), select, textarea"))
        return e.key !== "Escape";
    if (at.matches("button, a") && (e.key === "Enter" || e.key === "Backspace"))
        return true;
    return isArrow && (app.state.tab === "table" || !!at.closest("table, [role=tablist]"));
}

function keyed(e: KeyboardEvent, app: App): void {
    if (isTaken(e, app))
        return;
    const up = app.active === app.main ? app.state.up : app.active === app.callers;
    const action = actionOf(e, up);
    if (!action)
        return;
    e.preventDefault();
    app.act(action);
}

function listenToMenus(app: App): void {
    const menu = byId("export-menu");
    byId("export").addEventListener("click", () => {
        app.toggle("export", menu);
        if (!menu.hidden)
            menu.querySelector("button")?.focus();
    });
    for (const item of menu.querySelectorAll<HTMLElement>("[data-export]"))
        item.addEventListener("click", () => {
            app.toggle("export", menu, false);
            byId("export").focus();
            app.export(item.dataset.export as string);
        });
    document.addEventListener("pointerdown", e => {
        if (!menu.hidden && !(e.target as HTMLElement).closest(".menu"))
            app.toggle("export", menu, false);
    });
    for (const button of byId("frame-actions").querySelectorAll<HTMLElement>("[data-act]"))
        button.addEventListener("click", () => app.act(button.dataset.act as Action));
}

function listenToSearch(app: App): void {
    const box = byId("search") as HTMLInputElement;
    let timer = 0;
    box.addEventListener("input", () => {
        const isLarge = (app.main.layout?.trie.n ?? 0) > PATIENT_ABOVE;
        clearTimeout(timer);
        timer = window.setTimeout(() => app.set({ search: box.value }, false), isLarge ? 300 : 0);
    });
    box.addEventListener("keydown", e => {
        if (e.key === "Enter")
            app.goToMatch(e.shiftKey ? -1 : 1);
    });
    byId("previous").addEventListener("click", () => app.goToMatch(-1));
    byId("next").addEventListener("click", () => app.goToMatch(1));
}

const TABS = ["flame", "sandwich", "table"];

function listenToTabs(app: App): void {
    for (const tab of TABS)
        byId("tab-" + tab).addEventListener("click", () => app.set({ tab }));
    byId("tab-flame").parentElement?.addEventListener("keydown", e => {
        const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? TABS.length - 1 : 0;
        if (!step)
            return;
        const tab = TABS[(TABS.indexOf(app.state.tab) + step) % TABS.length];
        app.set({ tab });
        byId("tab-" + tab).focus();
    });
}

export function listen(app: App): void {
    document.addEventListener("keydown", e => keyed(e, app));
    window.addEventListener("popstate", () => app.readAddress());
    window.addEventListener("hashchange", () => app.readAddress());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.render());
    listenToTabs(app);
    byId("reset").addEventListener("click", () => app.reset());
    byId("options").addEventListener("click", () => app.toggle("options", byId("panel")));
    byId("help-open").addEventListener("click", () => app.act("help"));
    listenToSearch(app);
    listenToMenus(app);
}
