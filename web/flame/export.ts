// export.ts - the picture one sees, as a file

import { FRAME, PITCH, Pen, Scene, levelCount, markHeight, paintRows, draw } from "./draw";
import { pathTo } from "./layout";

export function download(name: string, content: Blob): void {
    const link = document.createElement("a"), url = URL.createObjectURL(content);
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function escaped(text: string): string {
    return text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`).replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
}

const number = (n: number): string => String(Math.round(n * 100) / 100);

class SvgPen implements Pen {
    readonly out: string[] = [];

    constructor(private readonly describe: (node: number) => string) {}

    box(x: number, y: number, w: number, css: string, alpha: number, node: number): void {
        const shape = `<rect x="${number(x)}" y="${number(y)}" width="${number(w)}" height="${FRAME}" fill="${css}"` +
            (alpha < 1 ? ` fill-opacity="${alpha}"` : "");
        this.out.push(node >= 0 ? `${shape}><title>${escaped(this.describe(node))}</title></rect>` : shape + "/>");
    }

    text(text: string, x: number, y: number, _w: number, css: string, alpha: number): void {
        this.out.push(`<text x="${number(x)}" y="${number(y + FRAME / 2 + 4)}" fill="${css}"` +
            `${alpha < 1 ? ` fill-opacity="${alpha}"` : ""}>${escaped(text)}</text>`);
    }

    mark(x: number, y: number, w: number, css: string, part: number): void {
        const high = w < 4 ? markHeight(part) : 2;
        this.out.push(`<rect x="${number(x)}" y="${number(y + FRAME - high)}" width="${number(Math.max(w, 1))}" height="${high}" fill="${css}"/>`);
    }
}

const TITLE = 28; // pixels for the line above the picture

export function toSvg(s: Scene, width: number, letter: number, title: string, describe: (node: number) => string): string {
    const pen = new SvgPen(describe), height = levelCount(s) * PITCH;
    paintRows({ ...s, selected: -1, hover: -1 }, pen, letter, width, height, 0, s.layout.levels.length);
    return `<?xml version="1.0" encoding="UTF-8"?>\n` +
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + TITLE}" viewBox="0 0 ${width} ${height + TITLE}">\n` +
        `<rect width="100%" height="100%" fill="${s.look.background}"/>\n` +
        `<text x="4" y="18" font-family="sans-serif" font-size="13" fill="${s.look.text}">${escaped(title)}</text>\n` +
        `<g transform="translate(0 ${TITLE})" font-family="monospace" font-size="11" xml:space="preserve">\n` +
        pen.out.join("\n") + "\n</g>\n</svg>\n";
}

const TALLEST = 16000; // what browsers take for a canvas

export function toPng(s: Scene, width: number, letter: number): Promise<Blob | null> {
    const canvas = document.createElement("canvas"), height = levelCount(s) * PITCH;
    const ratio = Math.min(2, TALLEST / height, TALLEST / width);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const ctx = canvas.getContext("2d") as CanvasRenderingContext2D;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw({ ...s, selected: -1, hover: -1 }, { ctx, width, height, scroll: 0, letter });
    return new Promise(done => canvas.toBlob(done, "image/png"));
}

/** Stacks of what is seen, one per line; with two sides, both values behind each. */
export function toFolded(s: Scene, zoomed: number, name: (node: number) => string, unit: number[]): string {
    const l = s.layout, lines: string[] = [];
    const clean = (node: number): string => name(node).replace(/;/g, ":").replace(/\n/g, " ");
    for (let i = zoomed; i < l.end[zoomed]; i++) {
        const self = unit.map((u, side) => l.trie.self[side][i] / u);
        if (!self.some(v => v > 0))
            continue;
        const path = pathTo(l.trie, i).filter(node => node > 0).map(clean);
        lines.push(`${path.length ? path.join(";") : "all"} ${self.join(" ")}`);
    }
    return lines.join("\n") + "\n";
}
