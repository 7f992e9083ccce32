// Why: answers to writes differ from one another, and an update must bring the version of the answer before it.
import { connect } from "node:net";
import { type Answer, parse } from "./http.ts";

/** A request with a JSON body over a connection that is kept. */
export function writeRequest(
  line: string,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const all = { Host: "localhost", "Content-Length": String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`), Buffer.from(body)]);
}

export interface WriteLoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  /** What connection `n` asks, the answer to its last request being this. @throws Error on an answer that is not right */
  readonly next: (connection: number, last: Answer | undefined) => Buffer;
}

/** Asks for as long as was said, each connection again as soon as it is answered. @returns how many were answered */
export async function writeLoad(options: WriteLoadOptions): Promise<number> {
  const until = performance.now() + options.milliseconds;
  const counts = await Promise.all(Array.from({ length: options.connections }, (_, n) => askUntil(until, n, options)));
  return counts.reduce((sum, count) => sum + count, 0);
}

function askUntil(until: number, connection: number, { port, next }: WriteLoadOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] = [];
    let answers = 0;
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => socket.write(next(connection, undefined)));
    socket.once("error", reject);
    socket.once("end", () => reject(new Error("the server closed the connection")));
    socket.on("data", (piece) => {
      pieces.push(piece);
      const answer = parse(pieces.length === 1 ? piece : Buffer.concat(pieces));
      if (answer === undefined) return;
      pieces = [];
      try {
        const request = next(connection, answer);
        answers += 1;
        if (performance.now() < until) socket.write(request);
        else {
          socket.destroy();
          resolve(answers);
        }
      } catch (error) {
        socket.destroy();
        reject(error);
      }
    });
  });
}
