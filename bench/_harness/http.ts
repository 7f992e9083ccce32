// Why: a load generator that costs more than the server measures itself. This one writes prepared bytes to raw sockets
// and reads answers into one reused buffer; it needs nothing that is not in Node, so that it runs anywhere.
import { connect, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";

/** An answer, whole. */
export interface Answer {
  readonly status: number;
  /** As they came: name and value, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Head and body on the wire. */
  readonly length: number;
}

/** A GET of `path` over a connection that is kept. */
export function getRequest(path: string, headers: Readonly<Record<string, string>> = {}): Buffer {
  const lines = Object.entries({ Host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
}

/** Asks once. The answer must have a Content-Length. @param tls @default plain HTTP */
export function fetchOnce(port: number, request: Buffer, tls?: ConnectionOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let read = 0;
    let head: Head | undefined;
    const ask = (): void => void socket.write(request);
    const place = { port, host: "127.0.0.1" };
    const socket: Socket = tls === undefined ? connect(place, ask) : connectTls({ ...place, ...tls }, ask);
    socket.once("error", reject);
    socket.once("end", () => reject(new Error("the server closed the connection")));
    socket.on("data", (piece) => {
      pieces.push(piece);
      read += piece.length;
      head ??= parseHead(Buffer.concat(pieces));
      if (head === undefined || read < head.length) return;
      socket.destroy();
      resolve(answerOf(head, Buffer.concat(pieces)));
    });
  });
}

/** The answer that `bytes` begin with, once they are all of it. */
export function parse(bytes: Buffer): Answer | undefined {
  const head = parseHead(bytes);
  return head === undefined || bytes.length < head.length ? undefined : answerOf(head, bytes);
}

interface Head extends Omit<Answer, "body"> {
  /** Where the body begins. */
  readonly end: number;
}

function parseHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const size = headers.find(([name]) => name.toLowerCase() === "content-length")?.[1];
  if (size === undefined) throw new Error(`an answer without Content-Length: ${first}`);
  return { status: Number(first.split(" ")[1]), headers, length: end + 4 + Number(size), end: end + 4 };
}

function answerOf({ end, ...head }: Head, bytes: Buffer): Answer {
  return { ...head, body: bytes.subarray(end, head.length) };
}

export interface LoadOptions {
  readonly port: number;
  /** One for all, or the next of many. */
  readonly request: Buffer | (() => Buffer);
  /** @default plain HTTP */
  readonly tls?: ConnectionOptions | undefined;
  /** What every answer must be, but for ids and dates, which are of one length. */
  readonly expected: Answer;
  /** Each asks again as soon as it is answered. */
  readonly connections: number;
  readonly milliseconds: number;
  /**
   * Idle connections to open before each: a server that gives connections to its processes in turn gives all others to one of them.
   * @default 0
   */
  readonly idle?: number;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
}

/** Asks for as long as was said. @throws Error on an answer that is not as expected, byte for byte of its body */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { connections, milliseconds, idle = 0, port } = options;
  const began = performance.now();
  const until = began + milliseconds;
  const unused: Socket[] = [];
  const counts = await Promise.all(
    Array.from({ length: connections }, () => {
      for (let count = 0; count < idle; count++) unused.push(connect({ port, host: "127.0.0.1" }));
      return askUntil(until, options);
    }),
  );
  for (const socket of unused) socket.on("error", () => undefined).destroy();
  const answers = counts.reduce((sum, count) => sum + count, 0);
  return { answers, seconds: (performance.now() - began) / 1000 };
}

/** One connection: counts answers until the time is over. Keeps each whole, as a client that is to read it must. */
function askUntil(until: number, { port, request, expected, tls }: LoadOptions): Promise<number> {
  const next = typeof request === "function" ? request : (): Buffer => request;
  return new Promise((resolve, reject) => {
    const buffer = Buffer.allocUnsafeSlow(512 * 1024);
    let answer = Buffer.allocUnsafe(expected.length);
    let answers = 0;
    let read = 0;
    const onData = (count: number): boolean => {
      if (read + count <= answer.length) buffer.copy(answer, read, 0, count);
      read += count;
      if (read < answer.length && answer.subarray(0, STATUS.length).equals(STATUS)) return true;
      if (read !== answer.length || !isExpected(answer, expected)) {
        socket.destroy();
        reject(new Error(`an answer differs from the first one: ${answer.toString("latin1", 0, Math.min(read, 500))}`));
        return false;
      }
      answers += 1;
      read = 0;
      answer = Buffer.allocUnsafe(expected.length);
      if (performance.now() < until) socket.write(next());
      else {
        socket.destroy();
        resolve(answers);
      }
      return true;
    };
    const place = { port, host: "127.0.0.1", noDelay: true };
    const ask = (): void => void socket.write(next());
    const socket: Socket =
      tls === undefined
        ? connect({ ...place, onread: { buffer, callback: onData } }, ask)
        : connectTls({ ...place, ...tls }, ask).on("data", (piece: Buffer) => {
            piece.copy(buffer);
            onData(piece.length);
          });
    socket.once("error", reject);
    socket.once("end", () => reject(new Error("the server closed the connection")));
  });
}

const STATUS = Buffer.from("HTTP/1.1 200 ");

function isExpected(answer: Buffer, { body, length }: Answer): boolean {
  return answer.subarray(length - body.length).equals(body);
}
