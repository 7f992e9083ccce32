import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";

/** A watch to be read. */
export interface Replayed {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads so many lines of a watch, then leaves it. */
export async function firstLines(watch: Replayed, count: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let lines = 0;
  for await (const piece of await begin(watch)) {
    pieces.push(piece);
    for (let at = piece.indexOf("\n"); at !== -1; at = piece.indexOf("\n", at + 1)) lines += 1;
    if (lines >= count) break;
  }
  assert.equal(lines, count);
  return Buffer.concat(pieces);
}

/** Reads a watch until it has told what is expected, byte for byte. @returns how long that took, s */
export async function replay(watch: Replayed, expected: Buffer): Promise<number> {
  const began = performance.now();
  let read = 0;
  for await (const piece of await begin(watch)) {
    assert.ok(expected.subarray(read, read + piece.length).equals(piece), `the watch differs at ${read}`);
    read += piece.length;
    if (read >= expected.length) break;
  }
  assert.equal(read, expected.length, "the watch has ended too early");
  return (performance.now() - began) / 1000;
}

/** Leaving the loop over it ends the connection. */
async function begin({ port, path, headers }: Replayed): Promise<IncomingMessage> {
  const request = get({ port, host: "127.0.0.1", path, headers, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 200);
  return response;
}
