// label.ts - a function's name in as much room as there is
//
//     std::vector<std::pair<int, int> >::push_back(std::pair<int, int> const&)     all of it
//     std::vector<…>::push_back                                                    without arguments
//     …push_back                                                                   without where it belongs
//     push_b…                                                                      as far as it goes

/** Without what stands in brackets; brackets of operators and of "(anonymous namespace)" stay. */
function withoutArguments(name: string): string {
    let depth = 0, out = "";
    for (let i = 0; i < name.length; i++) {
        const c = name[i];
        if (c === "<" && i > 0 && /\w/.test(name[i - 1]) && !/operator$/.test(name.slice(0, i)) && depth++ === 0)
            out += "<…>";
        else if (c === ">" && depth > 0)
            depth--;
        else if (c === "(" && depth === 0 && i > 0 && /[\w>]/.test(name[i - 1]))
            break;
        else if (depth === 0)
            out += c;
    }
    return out;
}

export function fit(name: string, letters: number): string {
    if (name.length <= letters)
        return name;
    const short = name.length < 4096 ? withoutArguments(name) : name;
    if (short && short.length <= letters)
        return short;
    const own = short.includes("::") ? short.slice(short.lastIndexOf("::") + 2) || short : short;
    if (own.length + 1 <= letters)
        return "…" + own;
    return own.slice(0, letters - 1) + "…";
}
