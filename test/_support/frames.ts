// HTTP/2 on a raw socket: arbitrary frames, valid or not, and headers that no client would send.
import { once } from "node:events";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { until } from "./until.ts";

export const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7, window: 8, continuation: 9 };
export const END_STREAM = 1;
export const END_HEADERS = 4;
const ACK = 1;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

type Line = readonly [name: string, value: string | Buffer];

/** Connection that can send any frame. */
export class Frames implements Disposable {
  readonly socket: TLSSocket;
  #bytes: Buffer = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => undefined;

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on("data", (piece: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, piece]);
      this.#wake();
    });
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** Connects, and sends the client's preface. */
  static async open(port: number, options: ConnectionOptions): Promise<Frames> {
    const socket = connect({ port, host: "127.0.0.1", ALPNProtocols: ["h2"], ...options });
    await once(socket, "secureConnect");
    const frames = new Frames(socket);
    frames.write(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    // Allows answers of any size.
    frames.send({ type: TYPE.settings, payload: Buffer.of(0, 4, 0x40, 0, 0, 0) });
    frames.send({ type: TYPE.window, payload: Buffer.of(0x40, 0, 0, 0) });
    // The server's settings apply once they are acknowledged.
    await frames.next(({ type }) => type === TYPE.settings);
    frames.send({ type: TYPE.settings, flags: ACK });
    return frames;
  }

  write(bytes: Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  send({ type, flags = 0, stream = 0, payload = Buffer.alloc(0) }: Partial<Frame> & { readonly type: number }): void {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    this.write(Buffer.concat([head, payload]));
  }

  /** Sends a request without a body, unless `flags` differ. */
  headers(stream: number, lines: readonly Line[], flags: number = END_HEADERS | END_STREAM): void {
    this.send({ type: TYPE.headers, flags, stream, payload: block(lines) });
  }

  /** Resolves when there is room for more data, or the connection has ended. */
  async drained(): Promise<void> {
    await until(() => !(this.socket.writableNeedDrain && this.socket.writable));
  }

  /** Sends the same with its block in frames of `size` bytes. */
  split(stream: number, { payload, size }: { readonly payload: Buffer; readonly size: number }): void {
    for (let at = 0; at < payload.length; at += size) {
      const flags = (at === 0 ? END_STREAM : 0) | (at + size >= payload.length ? END_HEADERS : 0);
      const type = at === 0 ? TYPE.headers : TYPE.continuation;
      this.send({ type, flags, stream, payload: payload.subarray(at, at + size) });
    }
  }

  /** Returns the next frame that satisfies `is`; undefined when the connection ends first. */
  async next(is: (frame: Frame) => boolean): Promise<Frame | undefined> {
    for (;;) {
      const frame = await this.#frame();
      if (frame === undefined || is(frame)) return frame;
    }
  }

  /** Returns how a stream ended: its status, the code of its reset, or that of a GOAWAY. */
  async outcome(stream: number): Promise<string> {
    const frame = await this.next(
      ({ type, stream: of }) =>
        type === TYPE.goaway || (of === stream && (type === TYPE.headers || type === TYPE.reset)),
    );
    if (frame === undefined) return "closed";
    if (frame.type === TYPE.goaway) return `goaway ${frame.payload.readUInt32BE(4)}`;
    return frame.type === TYPE.reset ? `reset ${frame.payload.readUInt32BE(0)}` : "answered";
  }

  /** Returns the body of a stream's answer, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  async json(stream: number): Promise<any> {
    const frame = await this.next(
      ({ type, stream: of, payload }) =>
        type === TYPE.goaway || (of === stream && (type === TYPE.reset || (type === TYPE.data && payload.length > 0))),
    );
    if (frame?.type !== TYPE.data) throw new Error(`stream ${stream}: ${frame === undefined ? "closed" : "no answer"}`);
    return JSON.parse(String(frame.payload));
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  async #frame(): Promise<Frame | undefined> {
    while (this.#bytes.length < 9 || this.#bytes.length < 9 + this.#bytes.readUIntBE(0, 3)) {
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const bytes = this.#bytes;
    const end = 9 + bytes.readUIntBE(0, 3);
    this.#bytes = bytes.subarray(end);
    return {
      type: bytes.readUInt8(3),
      flags: bytes.readUInt8(4),
      stream: bytes.readUInt32BE(5),
      payload: bytes.subarray(9, end),
    };
  }
}

/** Encodes header lines as HPACK literals without index or compression. */
export function block(lines: readonly Line[]): Buffer {
  return Buffer.concat(
    lines.flatMap(([name, value]) => {
      const [nameBytes, valueBytes] = [Buffer.from(name, "latin1"), Buffer.from(value as string, "latin1")];
      return [Buffer.of(0), integer(nameBytes.length), nameBytes, integer(valueBytes.length), valueBytes];
    }),
  );
}

/** Encodes a number with a prefix of seven bits (RFC 7541, 5.1). */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.of(value);
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}
