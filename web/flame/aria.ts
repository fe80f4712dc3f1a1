// aria.ts - the part of the tree that a screen reader is told about
//
// The path from the root to the selected frame, and what that frame calls. The
// element around it has the focus; aria-activedescendant says where one is.

import { Layout, childrenAt, pathTo } from "./layout";

const CHILDREN_MOST = 50;
let trees = 0;

export class AriaTree {
    private readonly list = document.createElement("div");
    private readonly prefix = `tree${++trees}-`;

    constructor(private readonly host: HTMLElement, private readonly describe: (node: number) => string) {
        this.list.className = "unseen";
        this.list.setAttribute("role", "group");
        host.append(this.list);
    }

    private item(node: number, level: number, isOpen: boolean, hasChildren: boolean, isSelected: boolean): HTMLElement {
        const item = document.createElement("div");
        item.id = this.prefix + node;
        item.setAttribute("role", "treeitem");
        item.setAttribute("aria-level", String(level));
        if (hasChildren)
            item.setAttribute("aria-expanded", String(isOpen));
        item.setAttribute("aria-selected", String(isSelected));
        item.textContent = this.describe(node);
        return item;
    }

    show(l: Layout, selected: number, zoomed: number): void {
        const at = selected >= 0 ? selected : zoomed;
        const path = pathTo(l.trie, at), children = childrenAt(l, at).slice(0, CHILDREN_MOST);
        const hasChildren = (node: number): boolean => l.end[node] > node + 1;
        this.list.replaceChildren(
            ...path.map((node, i) => this.item(node, i + 1, true, hasChildren(node), node === selected)),
            ...children.map(node => this.item(node, path.length + 1, false, hasChildren(node), false)),
        );
        this.host.setAttribute("aria-activedescendant", this.prefix + at);
    }
}
