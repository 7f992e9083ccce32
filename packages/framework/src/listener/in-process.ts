import { EventEmitter } from "node:events";
import { type IncomingHttpHeaders, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type {
  InProcessCall,
  InProcessRequest,
  InProcessResponse,
  ResponseHeaders,
} from "@virtual-workspaces/transport";
import type { Encoded } from "../watch/cache/encoded.ts";
import { Http1Request } from "./connections.ts";

/** Bytes that wait for a reader before writers have to wait. */
const HIGH = 64 * 1024;

/** Members of Node's messages that their parsers use. */
interface Parsed {
  _addHeaderLines(lines: readonly string[], length: number): void;
}

/** Headers of frozen lines, parsed once. */
class ParsedHeads {
  readonly #known = new WeakMap<readonly string[], IncomingHttpHeaders>();

  /** Gives a message its lines. */
  set(req: Http1Request, lines: readonly string[]): void {
    (req as unknown as Parsed)._addHeaderLines(lines, lines.length);
    if (!Object.isFrozen(lines)) return;
    const known = this.#known.get(lines);
    // A copy: the server removes headers of a request.
    if (known !== undefined) req.headers = { ...known };
    else if (Object.values(req.headers).every((value) => typeof value === "string"))
      this.#known.set(lines, { ...req.headers });
  }
}

interface Written {
  /** Head, once it is complete: Node's own accessors follow from it. */
  _header: string | null;
  finished: boolean;
}

/** Stands for the connection of a request: nothing can be read from it, and it ends with its response. */
class NoSocket extends EventEmitter {
  destroyed = false;
  readonly readable = false;
  readonly writable = false;
  readonly remoteAddress = undefined;
  readonly bytesWritten = 0;
  readonly #end: () => void;

  constructor(end: () => void) {
    super();
    this.#end = end;
  }

  destroy(): this {
    this.#end();
    return this;
  }

  destroySoon(): void {
    this.#end();
  }

  end(): this {
    return this;
  }

  resume(): this {
    return this;
  }
}

/** A request of the same process, as Node's HTTP server would provide it. */
class InProcessMessage extends Http1Request {
  readonly #body: AsyncIterator<Buffer> | undefined;

  constructor(socket: NoSocket, { method, path, headers, body }: InProcessRequest, heads: ParsedHeads) {
    super(socket as unknown as Socket);
    this.method = method;
    this.url = path;
    this.httpVersion = "1.1";
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    heads.set(this, headers);
    if (body !== null && typeof body === "object" && !Buffer.isBuffer(body)) this.#body = body[Symbol.asyncIterator]();
    else {
      if (body !== null && body.length > 0) this.push(body);
      this.complete = true;
      // Most requests without a body are never read.
      if (body !== null) this.push(null);
    }
  }

  override _read(size: number): void {
    super._read(size); // lets the stream read on by itself
    if (this.#body === undefined && !this.readableEnded) this.push(null);
    const next = this.#body?.next();
    if (next === undefined) return;
    next.then(
      ({ done, value }) => {
        if (this.destroyed) return;
        if (done === true) this.#complete();
        else if (value.length > 0) this.push(value);
        else this._read(size);
      },
      (error: Error) => this.destroy(error),
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    void this.#body?.return?.();
    // As in HTTP/1.1, a client's disconnect needs no error listener.
    super._destroy(this.listenerCount("error") === 0 ? null : error, callback);
  }

  #complete(): void {
    this.complete = true;
    this.push(null);
  }
}

interface Chunk {
  readonly bytes: Buffer;
  readonly written: ((error?: Error | null) => void) | undefined;
}

type Callback = (error?: Error | null) => void;
type Head = OutgoingHttpHeaders | OutgoingHttpHeader[];

/** A response that goes to a caller in the same process as it is written. */
export class InProcessAnswer extends ServerResponse {
  /** Object whose bytes are the body, for a caller that needs no parsing then. */
  object: Encoded | undefined;
  readonly #to: InProcessResponse;
  readonly #isBodiless: boolean;
  #isHeadSent = false;
  #isPaused = false;
  #isDelivered = false;
  #needsDrain = false;
  #queue: Chunk[] = [];
  #queued = 0;

  static {
    // The types declare properties, which an accessor may not override.
    Object.defineProperties(InProcessAnswer.prototype, {
      writableFinished: {
        get(this: InProcessAnswer) {
          return this.#isDelivered;
        },
      },
      writableLength: {
        get(this: InProcessAnswer) {
          return this.#queued;
        },
      },
      writableNeedDrain: {
        get(this: InProcessAnswer) {
          return this.#needsDrain;
        },
      },
    });
  }

  constructor(req: Http1Request, to: InProcessResponse) {
    super(req);
    this.#to = to;
    this.#isBodiless = req.method === "HEAD";
  }

  override writeHead(status: number, reason?: string | Head, more?: Head): this {
    const headers = typeof reason === "object" ? reason : more;
    this.statusCode = status;
    if (Array.isArray(headers)) {
      for (let at = 0; at + 1 < headers.length; at += 2)
        this.appendHeader(String(headers[at]), headers[at + 1] as string | string[]);
    } else if (headers !== undefined) {
      for (const name in headers) {
        const value = headers[name];
        if (value !== undefined) this.setHeader(name, value);
      }
    }
    // From now on `headersSent` is true, and headers cannot be set.
    (this as unknown as Written)._header = "HTTP/1.1";
    return this;
  }

  override flushHeaders(): void {
    if (this.#isHeadSent || this.destroyed) return;
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.#isHeadSent = true;
    this.#to.head(this.statusCode, headersOf(this));
  }

  override write(chunk: string | Uint8Array, encoding?: BufferEncoding | Callback, done?: Callback): boolean {
    const written = typeof encoding === "function" ? encoding : done;
    if (this.destroyed || this.writableEnded) {
      if (written !== undefined) process.nextTick(written, new Error("write after the end"));
      return false;
    }
    this.flushHeaders();
    this.#put({ bytes: bytesOf(chunk, encoding), written });
    this.#needsDrain = this.#queued > HIGH;
    return !this.#needsDrain;
  }

  override end(
    chunk?: string | Uint8Array | Callback | null,
    encoding?: BufferEncoding | Callback,
    done?: Callback,
  ): this {
    const ended = [chunk, encoding, done].find((one) => typeof one === "function");
    if (this.destroyed || this.writableEnded) return this;
    const body = typeof chunk === "function" || chunk === undefined || chunk === null ? undefined : chunk;
    const bytes = body === undefined ? undefined : bytesOf(body, encoding);
    if (!this.headersSent && !this.hasHeader("content-length") && !this.#isBodiless)
      this.setHeader("content-length", bytes?.length ?? 0);
    if (ended !== undefined) this.once("finish", ended as () => void);
    if (!this.#isHeadSent && this.#to.whole !== undefined) return this.#endWhole(this.#to.whole, bytes);
    this.flushHeaders();
    if (bytes !== undefined && bytes.length > 0) this.#put({ bytes, written: undefined });
    (this as unknown as Written).finished = true;
    this.#deliverEnd();
    return this;
  }

  /** Gives a response that is complete at once. Its writer may reuse the memory of other bodies than objects. */
  #endWhole(take: NonNullable<InProcessResponse["whole"]>, bytes: Buffer | undefined): this {
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.#isHeadSent = true;
    (this as unknown as Written).finished = true;
    const { object } = this;
    const status = this.statusCode;
    const headers = headersOf(this);
    if (bytes === undefined || this.#isBodiless) take({ status, headers, body: NO_BODY });
    else if (object?.bytes === bytes) take({ status, headers, body: bytes, object });
    else take({ status, headers, body: Buffer.from(bytes) });
    this.#over();
    return this;
  }

  override destroy(error: Error = new Error("the response was cut")): this {
    if (this.destroyed) return this;
    if (!this.#isDelivered) this.#to.fail(error);
    this.close();
    return this;
  }

  override writeContinue(done?: () => void): void {
    if (done !== undefined) process.nextTick(done);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    while (!this.#isPaused && this.#queue.length > 0) this.#give(this.#queue.shift() as Chunk);
    if (this.#isPaused) return;
    if (this.#needsDrain) {
      this.#needsDrain = false;
      process.nextTick(() => this.emit("drain"));
    }
    this.#deliverEnd();
  }

  /** Ends without telling the caller. */
  close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    if (this.#queue.length > 0) this.#drop();
    process.nextTick(() => this.emit("close"));
  }

  #drop(): void {
    const cut = new Error("the caller has left");
    for (const { written } of this.#queue.splice(0)) if (written !== undefined) process.nextTick(written, cut);
  }

  #put(chunk: Chunk): void {
    if (this.#isBodiless) {
      if (chunk.written !== undefined) process.nextTick(chunk.written);
      return;
    }
    if (!this.#isPaused && this.#queue.length === 0) {
      this.#give(chunk);
      return;
    }
    this.#queue.push(chunk);
    this.#queued += chunk.bytes.length;
  }

  #give({ bytes, written }: Chunk): void {
    if (this.#queued > 0) this.#queued -= bytes.length;
    this.#to.data(bytes);
    if (written !== undefined) process.nextTick(written);
  }

  #deliverEnd(): void {
    if (!this.writableEnded || this.#isDelivered || this.destroyed || this.#queue.length > 0) return;
    this.#to.end();
    this.#over();
  }

  #over(): void {
    this.#isDelivered = true;
    process.nextTick(() => {
      this.emit("finish");
      this.close();
    });
  }
}

const NO_BODY: Buffer = Buffer.alloc(0);

function bytesOf(chunk: string | Uint8Array, encoding: unknown): Buffer {
  if (typeof chunk === "string")
    return Buffer.from(chunk, typeof encoding === "string" ? (encoding as BufferEncoding) : "utf8");
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

function headersOf(res: ServerResponse): ResponseHeaders {
  const headers = res.getHeaders();
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === "number") headers[name] = String(value);
  }
  return headers as ResponseHeaders;
}

/** Requests of the same process that are being answered. */
export class InProcessRequests {
  readonly #handle: (req: Http1Request, res: ServerResponse) => void;
  readonly #open = new Set<ServerResponse>();
  readonly #heads = new ParsedHeads();
  #idle: (() => void) | undefined;

  constructor(handle: (req: Http1Request, res: ServerResponse) => void) {
    this.#handle = handle;
  }

  readonly serve = (request: InProcessRequest, response: InProcessResponse): InProcessCall => {
    const socket = new NoSocket(() => res.destroy());
    const req = new InProcessMessage(socket, request, this.#heads);
    const res = new InProcessAnswer(req, response);
    this.#open.add(res);
    const leave = (): void => {
      this.#open.delete(res);
      socket.destroyed = true;
      if (!req.complete) req.destroy(CUT);
      socket.emit("close");
      if (this.#open.size === 0) this.#idle?.();
    };
    res.on("close", leave);
    process.nextTick(() => {
      if (!res.destroyed) this.#handle(req, res);
    });
    return {
      pause: () => res.pause(),
      resume: () => res.resume(),
      abort: () => res.close(),
    };
  };

  /** Resolves when none is left. */
  async end(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  /** Cuts all. */
  cut(): void {
    for (const res of [...this.#open]) res.destroy();
  }
}

/** Error of a body whose sender has left, as in HTTP/1.1. */
const CUT: NodeJS.ErrnoException = Object.assign(new Error("aborted"), { code: "ECONNRESET" });
