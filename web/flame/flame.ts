// flame.ts - one flame graph on the page: canvas, mouse, and the tree that screen readers see
//
//     <div role="tree" tabindex="0">      scrolls
//       <div class="space">               as high as the whole picture
//         <canvas>                        as high as what is seen of it, stays in sight
//       <ul class="unseen">               the path to the selected frame and what it calls

import { AriaTree } from "./aria";
import type { Paint } from "./colors";
import { Look, PITCH, Scene, boxOf, depthAt, draw, levelCount } from "./draw";
import { Layout, childrenAt, firstEndingAfter, nodeAt, placeOf, startOf } from "./layout";
import type { Found } from "./search";

export interface Events {
    zoom(node: number): void; // asked for; the owner decides
    pan(from: number, to: number): void; // another part of the width, of no frame
    select(node: number): void;
    hover(node: number, x: number, y: number): void; // -1: nothing
    describe(node: number): string; // one line for screen readers
}

export interface Picture {
    layout: Layout;
    paint: Paint;
    label: (node: number) => string;
    found: Found | null;
    up: boolean;
    top: number;
    look: Look;
}

const DRAG = 4; // pixels a pointer moves before it drags

export class FlameCanvas {
    readonly canvas = document.createElement("canvas");
    private readonly space = document.createElement("div");
    private readonly aria: AriaTree;
    private readonly ctx: CanvasRenderingContext2D;
    private scene: Scene | null = null;
    private letter = 7;
    private waiting = 0;
    private lastHeight = 0;
    private moving = 0;
    zoomed = 0;
    drawMs = 0;

    constructor(readonly host: HTMLElement, private readonly on: Events) {
        this.ctx = this.canvas.getContext("2d", { alpha: false }) as CanvasRenderingContext2D;
        this.canvas.setAttribute("aria-hidden", "true");
        this.space.className = "space";
        this.space.append(this.canvas);
        host.append(this.space);
        this.aria = new AriaTree(host, on.describe);
        this.listen();
        new ResizeObserver(() => this.fitted() && this.redraw()).observe(host);
    }

    /* What is shown. */

    show(p: Picture): void {
        const isNew = this.scene?.layout !== p.layout, turned = this.scene?.up !== p.up;
        const keep = !isNew && this.scene ? this.scene : { from: 0, to: p.layout.whole, selected: -1, hover: -1 };
        if (isNew)
            this.zoomed = 0;
        this.scene = {
            ...p, from: keep.from, to: keep.to, selected: keep.selected, hover: keep.hover,
            zoomed: this.zoomed ? p.layout.depth[this.zoomed] : 0,
        };
        this.space.style.height = levelCount(this.scene) * PITCH + "px";
        this.measure(p.look);
        if (isNew || turned)
            this.host.scrollTop = p.up ? this.host.scrollHeight : 0;
        if (isNew)
            this.aria.show(this.scene.layout, -1, this.zoomed);
        this.fitted();
        this.redraw();
    }

    get layout(): Layout | null {
        return this.scene?.layout ?? null;
    }

    get current(): Scene | null {
        return this.scene;
    }

    get selected(): number {
        return this.scene?.selected ?? -1;
    }

    get window(): [number, number] {
        return this.scene ? [this.scene.from, this.scene.to] : [0, 0];
    }

    private measure(look: Look): void {
        this.ctx.font = look.font;
        this.letter = this.ctx.measureText("0123456789").width / 10 || 7;
    }

    get letterWidth(): number {
        return this.letter;
    }

    /** Makes the canvas as large as its place is; whether it had to change. */
    private fitted(): boolean {
        const ratio = window.devicePixelRatio || 1, width = this.space.clientWidth, height = this.host.clientHeight;
        if (this.scene?.up && this.lastHeight) // what stands at the bottom stays there
            this.host.scrollTop += this.lastHeight - height;
        this.lastHeight = height;
        const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
        if (this.canvas.width === w && this.canvas.height === h)
            return false;
        this.canvas.width = w;
        this.canvas.height = h;
        this.canvas.style.width = width + "px";
        this.canvas.style.height = height + "px";
        return true;
    }

    redraw(): void {
        if (!this.waiting)
            this.waiting = requestAnimationFrame(() => {
                this.waiting = 0;
                this.drawNow();
            });
    }

    drawNow(): void {
        if (!this.scene)
            return;
        const began = performance.now(), ratio = window.devicePixelRatio || 1;
        this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
        draw(this.scene, {
            ctx: this.ctx, width: this.canvas.width / ratio, height: this.canvas.height / ratio,
            scroll: this.host.scrollTop, letter: this.letter,
        });
        this.drawMs = performance.now() - began;
    }

    /* Zoom. */

    private glide(from: number, to: number, animate: boolean): void {
        const s = this.scene as Scene, first = [s.from, s.to], began = performance.now();
        cancelAnimationFrame(this.moving);
        const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
        const length = animate && !calm && this.drawMs < 12 ? 160 : 0;
        const step = (): void => {
            const part = length ? Math.min(1, (performance.now() - began) / length) : 1;
            const eased = part === 1 ? 1 : 1 - (1 - part) ** 3;
            s.from = first[0] + (from - first[0]) * eased;
            s.to = first[1] + (to - first[1]) * eased;
            this.drawNow();
            if (part < 1 && this.scene === s)
                this.moving = requestAnimationFrame(step);
        };
        if (length)
            step();
        else {
            s.from = from;
            s.to = to;
            this.redraw();
        }
    }

    /** Node 0 is everything. */
    zoomTo(node: number, animate = true): void {
        const s = this.scene;
        if (!s)
            return;
        const l = s.layout;
        this.zoomed = node;
        s.zoomed = l.depth[node];
        this.glide(startOf(l, node), startOf(l, node) + l.width[node], animate);
        this.aria.show(l, s.selected, node);
        if (node > 0)
            this.scrollTo(node);
    }

    zoomToWindow(from: number, to: number): void {
        const s = this.scene;
        if (!s)
            return;
        this.zoomed = 0;
        s.zoomed = 0;
        this.glide(Math.max(0, from), Math.min(s.layout.whole, to), false);
    }

    /** Wider or narrower around a place of the picture (0 ... 1). */
    zoomBy(factor: number, around: number): void {
        const s = this.scene;
        if (!s)
            return;
        const span = Math.min(s.layout.whole, Math.max((s.to - s.from) * factor, s.layout.whole * 1e-9));
        const middle = s.from + (s.to - s.from) * around;
        const from = Math.max(0, Math.min(middle - span * around, s.layout.whole - span));
        this.on.pan(from, from + span);
    }

    /* Selection. */

    select(node: number, scroll = true): void {
        if (!this.scene)
            return;
        this.scene.selected = node;
        this.aria.show(this.scene.layout, node, this.zoomed);
        if (scroll && node >= 0)
            this.scrollTo(node);
        this.redraw();
    }

    private scrollTo(node: number): void {
        const s = this.scene as Scene, box = boxOf(s, node, this.space.clientWidth, levelCount(s) * PITCH);
        if (!box)
            return;
        const margin = 3 * PITCH, seen = this.host.clientHeight;
        if (box.y < this.host.scrollTop + margin)
            this.host.scrollTop = box.y - margin;
        else if (box.y + PITCH > this.host.scrollTop + seen - margin)
            this.host.scrollTop = box.y + PITCH - seen + margin;
    }

    private outermostSeen(): number {
        const s = this.scene as Scene, depth = Math.max(s.top, s.zoomed), level = s.layout.levels[depth];
        return level ? level[firstEndingAfter(s.layout, depth, s.from)] ?? 0 : 0;
    }

    private isSeen(node: number): boolean {
        const s = this.scene as Scene, start = startOf(s.layout, node);
        return start < s.to && start + s.layout.width[node] > s.from;
    }

    private siblingOf(node: number, step: number): number {
        const { layout } = this.scene as Scene;
        const next = layout.levels[layout.depth[node]][placeOf(layout, node) + step];
        return next !== undefined && this.isSeen(next) ? next : node;
    }

    /** Where a step from the selected frame leads: to its caller, its widest callee, or a neighbour. */
    step(way: "in" | "out" | "left" | "right"): number {
        const s = this.scene;
        if (!s)
            return -1;
        const l = s.layout, at = s.selected;
        if (at < 0)
            return this.outermostSeen();
        if (way === "out")
            return l.depth[at] > s.top ? l.trie.parent[at] : at;
        if (way === "in")
            return childrenAt(l, at).filter(c => this.isSeen(c)).reduce((best, c) => best === at || l.width[c] > l.width[best] ? c : best, at);
        return this.siblingOf(at, way === "left" ? -1 : 1);
    }

    /* Mouse. */

    nodeUnder(x: number, y: number): number {
        const s = this.scene;
        if (!s)
            return -1;
        const depth = depthAt(s, y + this.host.scrollTop, levelCount(s) * PITCH);
        return depth < s.top ? -1 : nodeAt(s.layout, depth, s.from + (x / this.space.clientWidth) * (s.to - s.from));
    }

    private listen(): void {
        const c = this.canvas;
        let down: { x: number; from: number; to: number } | null = null, dragged = false;
        c.addEventListener("pointerdown", e => {
            down = this.scene && e.button === 0 ? { x: e.offsetX, from: this.scene.from, to: this.scene.to } : null;
            dragged = false;
        });
        c.addEventListener("pointermove", e => {
            if (down && this.scene && e.buttons & 1 && e.pointerType === "mouse" && Math.abs(e.offsetX - down.x) > DRAG) {
                dragged = true;
                this.drag(down, e.offsetX);
            }
            this.hover(this.nodeUnder(e.offsetX, e.offsetY), e.clientX, e.clientY);
        });
        c.addEventListener("pointerleave", () => this.hover(-1, 0, 0));
        c.addEventListener("click", e => {
            const node = this.nodeUnder(e.offsetX, e.offsetY);
            if (dragged || node < 0)
                return;
            this.on.select(node);
            if (!e.shiftKey)
                this.on.zoom(node);
        });
        c.addEventListener("wheel", e => {
            if (!e.ctrlKey && !e.metaKey)
                return;
            e.preventDefault();
            this.zoomBy(e.deltaY > 0 ? 1.25 : 0.8, e.offsetX / this.space.clientWidth);
        }, { passive: false });
        this.host.addEventListener("scroll", () => this.redraw());
    }

    private drag(down: { x: number; from: number; to: number }, x: number): void {
        const s = this.scene as Scene, span = down.to - down.from;
        const from = Math.max(0, Math.min(down.from + ((down.x - x) / this.space.clientWidth) * span, s.layout.whole - span));
        if (span < s.layout.whole)
            this.on.pan(from, from + span);
    }

    private hover(node: number, x: number, y: number): void {
        if (this.scene && this.scene.hover !== node) {
            this.scene.hover = node;
            this.redraw();
        }
        this.canvas.style.cursor = node >= 0 ? "pointer" : "default";
        this.on.hover(node, x, y);
    }
}
