// HTTP on a raw socket: sends exactly the given bytes, and parses answers strictly.
import { connect as connectTcp, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";

/** Answer whose framing is valid. */
export interface WireAnswer {
  readonly status: number;
  readonly version: string;
  /** Headers by lower-case name. Values of repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WireOptions {
  /** Options for TLS, with the certificate of a client. */
  readonly tls?: ConnectionOptions;
  /** Timeout for each operation, in ms. @default 15000 */
  readonly patience?: number;
  /** Source address. @default 127.0.0.1 */
  readonly from?: string;
}

/** Connection to a server on this machine. */
export class Wire implements Disposable {
  readonly socket: Socket;
  /** How it ended: "end" by the server, "reset" or the code of another error; undefined while it is open. */
  ended: string | undefined;
  readonly #patience: number;
  #pieces: Buffer[] = [];
  #length = 0;
  #wake: () => void = () => undefined;

  constructor(socket: Socket, patience: number) {
    this.socket = socket;
    this.#patience = patience;
    socket.setNoDelay(true);
    socket.on("data", (piece) => {
      this.#pieces.push(piece);
      this.#length += piece.length;
      this.#wake();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => this.#end(error.code ?? error.message));
    socket.on("end", () => this.#end("end"));
    socket.on("close", () => this.#end("close"));
  }

  static async open(port: number, { tls, patience = 15_000, from }: WireOptions = {}): Promise<Wire> {
    const place = {
      port,
      host: "127.0.0.1",
      allowHalfOpen: true,
      ...(from === undefined ? {} : { localAddress: from }),
    };
    const socket = tls === undefined ? connectTcp(place) : connectTls({ ...place, ...tls });
    const wire = new Wire(socket, patience);
    await new Promise<void>((resolve, reject) => {
      socket.once(tls === undefined ? "connect" : "secureConnect", resolve);
      socket.once("error", reject);
    });
    return wire;
  }

  /** Sends the request line and headers, `GET / HTTP/1.1` and `Host: x`, with line ends and an empty line. */
  request(...lines: readonly string[]): void {
    this.send(`${lines.join("\r\n")}\r\n\r\n`);
  }

  send(bytes: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Returns the next answer; undefined when the connection ended without one. @throws when it is malformed or hangs */
  async answer(method = "GET"): Promise<WireAnswer | undefined> {
    const head = await this.#until("\r\n\r\n");
    if (head === undefined) {
      if (this.#length > 0) throw new Error(`ended within an answer: ${this.#bytes.toString("latin1")}`);
      return undefined;
    }
    const { status, version, headers } = parseHead(head);
    if (status === 100) return this.answer(method);
    return { status, version, headers, body: await this.#body(method, status, headers) };
  }

  /** Resolves when there are unread bytes. */
  async begun(): Promise<void> {
    await this.#when(() => this.#length > 0 || this.ended !== undefined);
  }

  /** Returns the remaining bytes up to the end of the connection. */
  async rest(): Promise<string> {
    await this.#when(() => this.ended !== undefined);
    return this.#take(this.#length).toString("utf8");
  }

  /** Resolves when the server has ended the connection. @returns how */
  async end(): Promise<string> {
    await this.#when(() => this.ended !== undefined);
    return this.ended ?? "";
  }

  /** Resolves once the server no longer reads from the connection. */
  async cut(): Promise<void> {
    const prod = setInterval(() => this.socket.write("x"), 20);
    try {
      await this.#when(() => this.socket.destroyed);
    } finally {
      clearInterval(prod);
    }
  }

  /** Returns the next `length` bytes. */
  async read(length: number): Promise<Buffer> {
    await this.#when(() => this.#length >= length || this.ended !== undefined);
    if (this.#length < length) throw new Error(`ended after ${this.#length} of ${length} bytes`);
    return this.#take(length);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  async #body(method: string, status: number, headers: Readonly<Record<string, string>>): Promise<string> {
    if (method === "HEAD" || status === 101 || status === 204 || status === 304) return "";
    if (headers["transfer-encoding"] === "chunked") return (await this.#chunks()).toString("utf8");
    const length = headers["content-length"];
    if (length !== undefined) return (await this.read(Number(length))).toString("utf8");
    if (headers["connection"] !== "close")
      throw new Error("an answer without a length on a connection that stays open");
    return this.rest();
  }

  /** Returns a chunked body, which must end with its last chunk. */
  async #chunks(): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (;;) {
      const line = await this.#until("\r\n");
      if (line === undefined) throw new Error("a truncated chunked body");
      const length = Number.parseInt(line, 16);
      pieces.push(await this.read(length));
      if ((await this.read(2)).toString() !== "\r\n") throw new Error("a chunk without its end");
      if (length === 0) return Buffer.concat(pieces);
    }
  }

  /** Returns the text up to `mark`, and consumes both. */
  async #until(mark: string): Promise<string | undefined> {
    await this.#when(() => this.#bytes.includes(mark) || this.ended !== undefined);
    const end = this.#bytes.indexOf(mark);
    if (end < 0) return undefined;
    const text = this.#take(end).toString("latin1");
    this.#take(mark.length);
    return text;
  }

  /** Unread bytes. */
  get #bytes(): Buffer {
    const bytes = this.#pieces.length === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces);
    this.#pieces = [bytes];
    return bytes;
  }

  #take(length: number): Buffer {
    const bytes = this.#bytes;
    this.#pieces = [bytes.subarray(length)];
    this.#length -= length;
    return bytes.subarray(0, length);
  }

  async #when(ready: () => boolean): Promise<void> {
    if (ready()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = (): void => reject(new Error(`no answer within ${this.#patience} ms`));
    const timer = setTimeout(late, this.#patience);
    this.#wake = () => {
      if (ready()) resolve();
    };
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#wake = () => undefined;
    }
  }

  #end(how: string): void {
    this.ended ??= how;
    this.#wake();
  }
}

function parseHead(head: string): Pick<WireAnswer, "status" | "version" | "headers"> {
  const [first = "", ...lines] = head.split("\r\n");
  const match = /^HTTP\/(1\.[01]) ([1-5]\d\d) [\x20-\x7e]+$/.exec(first);
  if (match === null) throw new Error(`not a status line: ${JSON.stringify(first)}`);
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\x20-\x7e]*)$/.exec(line);
    if (field === null) throw new Error(`not a header line: ${JSON.stringify(line)}`);
    const name = (field[1] ?? "").toLowerCase();
    headers[name] = name in headers ? `${headers[name]}, ${field[2]}` : (field[2] ?? "");
  }
  if ("content-length" in headers && "transfer-encoding" in headers) throw new Error("two lengths in one answer");
  return { status: Number(match[2]), version: match[1] ?? "", headers };
}
