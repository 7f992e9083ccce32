// Separates the requests of one connection, and keeps every byte unchanged.

/** Head of a request. */
export interface FaultyRequest {
  readonly method: string;
  /** Raw path with its query. */
  readonly path: string;
  /** Headers by lower-case name. Values of repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Bytes of a request. The first ones include its head. */
export interface RequestPiece {
  readonly begins?: FaultyRequest;
  readonly bytes: Buffer;
}

type State = "head" | "length" | "chunkSize" | "chunk" | "trailers" | "opaque";

/** Reads the requests of one connection. Ignores bytes after an upgrade request. */
export class RequestReader {
  #state: State = "head";
  #head: Buffer = Buffer.alloc(0);
  #left = 0;
  #line = "";

  *read(bytes: Buffer): Generator<RequestPiece> {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#state === "head") {
        const all = Buffer.concat([this.#head, rest]);
        const end = all.indexOf("\r\n\r\n");
        if (end === -1) {
          this.#head = all;
          return;
        }
        this.#head = Buffer.alloc(0);
        const head = all.subarray(0, end + 4);
        rest = all.subarray(end + 4);
        yield { begins: this.#begin(head.toString("latin1")), bytes: head };
      } else {
        const taken = this.#take(rest);
        yield { bytes: rest.subarray(0, taken) };
        rest = rest.subarray(taken);
      }
    }
  }

  #begin(head: string): FaultyRequest {
    const [first = "", ...lines] = head.trimEnd().split("\r\n");
    const [method = "", path = ""] = first.split(" ");
    const headers: Record<string, string> = Object.create(null);
    for (const line of lines) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    }
    this.#left = Number(headers["content-length"] ?? 0);
    if ("upgrade" in headers) this.#state = "opaque";
    else if (headers["transfer-encoding"] === "chunked") this.#state = "chunkSize";
    else if (this.#left > 0) this.#state = "length";
    return { method, path, headers };
  }

  /** Returns how many of these bytes belong to the current part. */
  #take(bytes: Buffer): number {
    if (this.#state === "opaque") return bytes.length;
    if (this.#state === "length" || this.#state === "chunk") {
      const taken = Math.min(this.#left, bytes.length);
      this.#left -= taken;
      if (this.#left === 0) this.#state = this.#state === "chunk" ? "chunkSize" : "head";
      return taken;
    }
    const end = bytes.indexOf("\n");
    const taken = end === -1 ? bytes.length : end + 1;
    this.#line += bytes.toString("latin1", 0, taken);
    if (end !== -1) this.#endLine();
    return taken;
  }

  #endLine(): void {
    const line = this.#line.trim();
    this.#line = "";
    if (this.#state === "trailers") {
      if (line === "") this.#state = "head";
      return;
    }
    const size = Number.parseInt(line, 16);
    this.#left = size + 2;
    this.#state = size === 0 ? "trailers" : "chunk";
  }
}
