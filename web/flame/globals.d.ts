// What the browser has and this compiler's library does not know yet.
interface Uint8ArrayConstructor {
    fromBase64?(text: string): Uint8Array;
}
declare class DecompressionStream {
    constructor(format: "gzip");
    readonly readable: ReadableStream;
    readonly writable: WritableStream;
}
