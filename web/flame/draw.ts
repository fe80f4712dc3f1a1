// draw.ts - a part of a layout on a canvas
//
// Work is bounded by pixels: where boxes are narrower than one pixel, the next
// pixel's box is found by strides and halving, and a run of such dust is one box.

import type { Paint } from "./colors";
import { Layout, firstEndingAfter, firstStartingAt, startOf } from "./layout";
import { fit } from "./label";
import type { Found } from "./search";

export const FRAME = 16; // height of a box
export const PITCH = 17; // of a row

export interface Look {
    background: string;
    text: string;
    outline: string; // of the selected frame
    hit: string; // of matches
    font: string;
}

export interface Scene {
    layout: Layout;
    paint: Paint;
    label: (node: number) => string;
    found: Found | null;
    from: number; // what is seen: from ... to, in values
    to: number;
    top: number; // first level shown
    up: boolean; // the root at the bottom
    zoomed: number; // depth of the zoomed frame: those above it are paler
    selected: number;
    hover: number;
    look: Look;
}

export interface Surface { ctx: CanvasRenderingContext2D; width: number; height: number; scroll: number; letter: number }

/** What drawing a scene needs of a surface: a canvas has it, and so has an SVG file. */
export interface Pen {
    box(x: number, y: number, w: number, css: string, alpha: number, node: number): void;
    text(text: string, x: number, y: number, w: number, css: string, alpha: number): void;
    mark(x: number, y: number, w: number, css: string, part: number): void; // part of what is there matches
}

export function levelCount(s: Scene): number {
    return s.layout.levels.length - s.top;
}

/** Where the row of a level begins, in a picture of this height. */
export function rowTop(s: Scene, depth: number, height: number): number {
    return s.up ? height - (depth - s.top + 1) * PITCH : (depth - s.top) * PITCH;
}

export function depthAt(s: Scene, y: number, height: number): number {
    return s.top + (s.up ? Math.floor((height - y) / PITCH) : Math.floor(y / PITCH));
}

const PALE = 0.35;

interface Row { depth: number; y: number; scale: number; width: number }

class RowPainter {
    private dustFrom = -1;
    private dustTo = -1;
    private dustRow = 0;
    private readonly hits: [number, number][] = []; // pixels of dust with a match in it, and how much of it

    constructor(private readonly s: Scene, private readonly pen: Pen, private readonly letter: number, private readonly r: Row) {}

    private alphaOf(node: number): number {
        const { found, zoomed, layout } = this.s;
        if (found)
            return found.by[layout.trie.fn[node]] ? 1 : PALE;
        return this.r.depth < zoomed ? 0.6 : 1;
    }

    private flush(): void {
        if (this.dustFrom < 0)
            return;
        const { paint, found } = this.s;
        this.pen.box(this.dustFrom, this.r.y, Math.max(this.dustTo - this.dustFrom, 0.5), paint.css[this.dustRow], found ? PALE : 0.75, -1);
        for (const [x, part] of this.hits)
            this.pen.mark(x, this.r.y, 1, this.s.look.hit, part);
        this.hits.length = 0;
        this.dustFrom = -1;
    }

    private dust(x: number, end: number, node: number, matching: number): void {
        if (this.dustFrom >= 0 && x > this.dustTo + 0.5)
            this.flush();
        if (this.dustFrom < 0) {
            this.dustFrom = x;
            this.dustRow = this.s.paint.of(node);
        }
        this.dustTo = end;
        if (matching > 0)
            this.hits.push([Math.floor(x), matching]);
    }

    private whole(node: number, x: number, w: number): void {
        this.flush();
        const { s, pen, r } = this;
        const left = Math.max(x, 0), right = Math.min(x + w, r.width);
        const gap = w > 4 ? 1 : w > 2 ? 0.5 : 0;
        const wide = right - left - gap, alpha = this.alphaOf(node), row = s.paint.of(node);
        pen.box(left, r.y, wide, s.paint.css[row], alpha, node);
        const letters = Math.floor((wide - 6) / this.letter);
        if (letters >= 3) {
            const label = s.label(node);
            const text = fit(label, letters);
            pen.text(text, left + 3, r.y, wide - 6, alpha < 1 ? s.look.text : s.paint.ink[row], alpha < 0.5 ? 0.55 : 1);
        }
        if (s.found && alpha === 1)
            pen.mark(left, r.y, wide, s.look.hit, 1);
    }

    paint(): void {
        const { s, r } = this, l = s.layout, level = l.levels[r.depth], starts = l.starts[r.depth], hits = s.found?.before[r.depth];
        for (let i = firstEndingAfter(l, r.depth, s.from); i < level.length;) {
            const node = level[i], start = starts[i];
            if (start >= s.to)
                break;
            const x = (start - s.from) * r.scale, w = l.width[node] * r.scale;
            if (w >= 1) {
                this.whole(node, x, w);
                i++;
                continue;
            }
            // All that begins in this pixel; the last of it may reach far beyond.
            let next = firstStartingAt(starts, s.from + (Math.floor(x) + 1) / r.scale, i + 1);
            if (next - 1 > i && l.width[level[next - 1]] * r.scale >= 1)
                next--;
            if (w > 0 || next > i + 1)
                this.dust(x, (starts[next - 1] + l.width[level[next - 1]] - s.from) * r.scale, node,
                    hits ? (hits[next] - hits[i]) / (next - i) : 0);
            i = next;
        }
        this.flush();
    }
}

/** Rows from ... to of a picture as wide as `width` and as high as `height`. */
export function paintRows(s: Scene, pen: Pen, letter: number, width: number, height: number, from: number, to: number): void {
    const scale = width / (s.to - s.from);
    if (!(s.to > s.from))
        return;
    for (let depth = Math.max(from, s.top); depth <= Math.min(to, s.layout.levels.length - 1); depth++)
        new RowPainter(s, pen, letter, { depth, y: rowTop(s, depth, height), scale, width }).paint();
}

/** A narrow mark is as high as the part that matches, and never too small to see. */
export function markHeight(part: number): number {
    return Math.max(3, Math.round(FRAME * part));
}

class CanvasPen implements Pen {
    private alpha = 1;
    constructor(private readonly ctx: CanvasRenderingContext2D, private readonly up: number, private readonly letter: number) {}

    private fade(alpha: number): void {
        if (alpha !== this.alpha)
            this.ctx.globalAlpha = this.alpha = alpha;
    }

    box(x: number, y: number, w: number, css: string, alpha: number): void {
        this.fade(alpha);
        this.ctx.fillStyle = css;
        this.ctx.fillRect(x, y - this.up, w, FRAME);
    }

    text(text: string, x: number, y: number, w: number, css: string, alpha: number): void {
        this.fade(alpha);
        this.ctx.fillStyle = css;
        // Letters wider than ours (other scripts) are squeezed into the box rather than cut in the middle.
        if (/[^\x20-\x7e…]/.test(text) && text.length * this.letter * 2 > w)
            this.ctx.fillText(text, x, y - this.up + FRAME / 2 + 0.5, w);
        else
            this.ctx.fillText(text, x, y - this.up + FRAME / 2 + 0.5);
    }

    mark(x: number, y: number, w: number, css: string, part: number): void {
        this.fade(1);
        this.ctx.fillStyle = css;
        if (w < 4) {
            const high = markHeight(part);
            this.ctx.fillRect(x, y - this.up + FRAME - high, Math.max(w, 1), high);
            return;
        }
        this.ctx.fillRect(x, y - this.up + FRAME - 2, w, 2);
        this.ctx.fillRect(x, y - this.up, w, 1);
    }
}

/** The box of one node, clipped to what is seen; null when it is not. */
export function boxOf(s: Scene, node: number, width: number, height: number): { x: number; y: number; w: number } | null {
    const scale = width / (s.to - s.from), l = s.layout;
    const start = startOf(l, node), x = Math.max(0, (start - s.from) * scale), end = Math.min(width, (start + l.width[node] - s.from) * scale);
    return end <= 0 || x >= width || l.depth[node] < s.top ? null : { x, y: rowTop(s, l.depth[node], height), w: Math.max(end - x, 1) };
}

function outline(ctx: CanvasRenderingContext2D, s: Scene, node: number, view: Surface, height: number, css: string, thick: number): void {
    const box = node >= 0 && node < s.layout.trie.n ? boxOf(s, node, view.width, height) : null;
    if (!box)
        return;
    ctx.globalAlpha = 1;
    ctx.strokeStyle = css;
    ctx.lineWidth = thick;
    ctx.strokeRect(box.x + thick / 2, box.y - view.scroll + thick / 2, Math.max(box.w - thick - 1, 0), FRAME - thick);
}

export function draw(s: Scene, view: Surface): void {
    const { ctx, scroll } = view, height = levelCount(s) * PITCH;
    ctx.globalAlpha = 1;
    ctx.fillStyle = s.look.background;
    ctx.fillRect(0, 0, view.width, view.height);
    ctx.font = s.look.font;
    ctx.textBaseline = "middle";
    const a = depthAt(s, scroll, height), b = depthAt(s, scroll + view.height, height);
    paintRows(s, new CanvasPen(ctx, scroll, view.letter), view.letter, view.width, height, Math.min(a, b), Math.max(a, b));
    if (s.hover !== s.selected)
        outline(ctx, s, s.hover, view, height, s.look.outline, 1);
    outline(ctx, s, s.selected, view, height, s.look.outline, 2);
}
