// Why: a load generator that costs more than the server measures itself. This one writes prepared bytes to raw sockets
// and reads answers into one reused buffer; it needs nothing that is not in Node, so that it runs anywhere.
import { connect, type Socket } from "node:net";

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

/** Asks once. The answer must have a Content-Length. */
export function fetchOnce(port: number, request: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.once("error", reject);
    socket.once("end", () => reject(new Error("the server closed the connection")));
    socket.on("data", (piece) => {
      pieces.push(piece);
      const answer = parse(Buffer.concat(pieces));
      if (answer === undefined) return;
      socket.destroy();
      resolve(answer);
    });
  });
}

function parse(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const size = headers.find(([name]) => name.toLowerCase() === "content-length")?.[1];
  if (size === undefined) throw new Error(`an answer without Content-Length: ${first}`);
  const length = end + 4 + Number(size);
  if (bytes.length < length) return undefined;
  return { status: Number(first.split(" ")[1]), headers, body: bytes.subarray(end + 4, length), length };
}

export interface LoadOptions {
  readonly port: number;
  readonly request: Buffer;
  /** Of one answer on the wire: all are of one length, since they are the same but for ids and dates. */
  readonly length: number;
  /** Each asks again as soon as it is answered. */
  readonly connections: number;
  readonly milliseconds: number;
}

export interface LoadResult {
  readonly answers: number;
  readonly seconds: number;
}

/** Asks for as long as was said. @throws Error on an answer that is not 200 or not of the length */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const began = performance.now();
  const until = began + options.milliseconds;
  const counts = await Promise.all(Array.from({ length: options.connections }, () => askUntil(until, options)));
  const answers = counts.reduce((sum, count) => sum + count, 0);
  return { answers, seconds: (performance.now() - began) / 1000 };
}

/** One connection: counts answers until the time is over. */
function askUntil(until: number, { port, request, length }: LoadOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let answers = 0;
    let read = 0;
    const fail = (why: string): void => {
      socket.destroy();
      reject(new Error(why));
    };
    const onData = (count: number, buffer: Uint8Array): boolean => {
      if (read === 0 && !isOk(buffer)) fail(`expected 200: ${Buffer.from(buffer).toString("latin1", 0, count)}`);
      read += count;
      if (read > length) fail(`an answer of ${read} bytes, expected ${length}`);
      if (read !== length) return true;
      read = 0;
      answers += 1;
      if (performance.now() < until) socket.write(request);
      else {
        socket.destroy();
        resolve(answers);
      }
      return true;
    };
    const socket: Socket = connect(
      { port, host: "127.0.0.1", noDelay: true, onread: { buffer: Buffer.allocUnsafe(512 * 1024), callback: onData } },
      () => socket.write(request),
    );
    socket.once("error", (error) => fail(error.message));
    socket.once("end", () => fail("the server closed the connection"));
  });
}

const STATUS = Buffer.from("HTTP/1.1 200 ");

function isOk(buffer: Uint8Array): boolean {
  return STATUS.equals(buffer.subarray(0, STATUS.length));
}
