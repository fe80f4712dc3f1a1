// zoom_path.ts - a frame's place in words that outlive a layout: functions from the root
//
//     "4.17.9"       function 4, in it 17, in it 9
//     "4.17~2"       the third 17 below 4 (in time order a function comes again)

import { Layout, childrenAt, pathTo } from "./layout";

export function pathOf(l: Layout, node: number): string {
    return pathTo(l.trie, node).slice(1).map(at => {
        const same = childrenAt(l, l.trie.parent[at]).filter(c => l.trie.fn[c] === l.trie.fn[at]);
        const which = same.indexOf(at);
        return l.trie.fn[at] + (which > 0 ? "~" + which : "");
    }).join(".");
}

/** The node, or 0 where there is no such path. */
export function nodeOfPath(l: Layout, path: string): number {
    let node = 0;
    for (const step of path ? path.split(".") : []) {
        const [fn, which] = step.split("~").map(Number);
        const same = childrenAt(l, node).filter(c => l.trie.fn[c] === fn);
        if (same[which || 0] === undefined)
            return 0;
        node = same[which || 0];
    }
    return node;
}
