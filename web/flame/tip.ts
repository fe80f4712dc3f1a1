// tip.ts - what is under the pointer

import type { Said } from "./describe";

export class Tip {
    private last: string | null = null;

    constructor(private readonly box: HTMLElement) {}

    hide(): void {
        this.box.hidden = true;
        this.last = null;
    }

    private fill(said: Said): void {
        const name = document.createElement("strong"), list = document.createElement("dl");
        name.textContent = said.name;
        for (const [key, text] of said.rows) {
            const term = document.createElement("dt"), value = document.createElement("dd");
            term.textContent = key;
            value.textContent = text;
            list.append(term, value);
        }
        this.box.replaceChildren(name, list);
    }

    show(said: Said, x: number, y: number): void {
        const key = said.name + said.rows.join();
        if (key !== this.last)
            this.fill(said);
        this.last = key;
        this.box.hidden = false;
        const { offsetWidth: w, offsetHeight: h } = this.box, away = 14;
        const left = x + away + w > innerWidth ? Math.max(4, x - away - w) : x + away;
        const top = y + away + h > innerHeight ? Math.max(4, y - away - h) : y + away;
        this.box.style.transform = `translate(${Math.min(left, Math.max(4, innerWidth - w - 4))}px, ${top}px)`;
    }
}
