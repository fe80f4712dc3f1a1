// main.ts - opens the profile that lies in the page

import { App } from "./app";
import { load } from "./data";

function failed(why: unknown): void {
    const main = document.getElementById("main") as HTMLElement, text = document.createElement("p");
    text.className = "failed";
    text.textContent = `This page cannot be shown: ${why instanceof Error ? why.message : String(why)}.`;
    main.replaceChildren(text);
}

async function open(): Promise<App> {
    const element = document.getElementById("data") as HTMLElement, text = element.textContent ?? "";
    element.remove();
    return new App(await load(text));
}

/** For those who drive the page by program: window.inferometer.then(app => app.frames()). */
(window as unknown as { inferometer: Promise<App> }).inferometer = open();
(window as unknown as { inferometer: Promise<App> }).inferometer.catch(failed);
