// The rivals: a bare `node:http` handler over a bare engine, which keeps what it is sent and sends what it keeps.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { anonymousMemory } from "../_harness/anonymous-memory.ts";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { keyOf, type StoredKind } from "./stored-kinds.ts";

/** An engine, as bare as can be. `Place` is where it keeps things. */
export interface BareEngine<Place> {
  open(place: Place): Promise<void> | void;
  get(key: string): Promise<Buffer> | Buffer;
  /** Resolves when the disk has it. */
  put(key: string, value: Buffer): Promise<unknown>;
  /** From a key up to another. */
  range(from: string, to: string): Promise<readonly Buffer[]> | readonly Buffer[];
  /** Keeps events. @returns what to replay them after */
  keep(lines: readonly Buffer[]): Promise<number>;
  replay(after: number, signal: AbortSignal): AsyncIterable<Buffer> | Iterable<Buffer>;
  /** Of a store of ours: opens it, reads an object, closes it. @returns how long that took without closing, ms */
  openAndGet(place: Place, key: string): Promise<number>;
}

/** As ours: headers cost as well. */
const HEADERS = {
  "Audit-Id": "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e",
  "Cache-Control": "no-cache, private",
  "Content-Type": "application/json",
};
const COMMA = Buffer.from(",");

/** Serves an engine, and answers the bench. */
export function serveBare<Place>(engine: BareEngine<Place>): void {
  serveCommands(commandsOf(engine));
}

export type BareStore<Place> = ReturnType<typeof commandsOf<Place>>;

function commandsOf<Place>(engine: BareEngine<Place>) {
  let frame: readonly [head: Buffer, tail: Buffer] = [Buffer.alloc(0), Buffer.alloc(0)];

  const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? "", "http://localhost");
    if (req.method === "POST") create(req, res, pathname);
    else if (searchParams.has("watch")) void replay(res, Number(searchParams.get("resourceVersion")));
    else if (/s$/.test(pathname)) void list(res, pathname);
    else void get(res, pathname);
  });

  function create(req: IncomingMessage, res: ServerResponse, path: string): void {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.once("end", async () => {
      const object = JSON.parse(Buffer.concat(pieces).toString("utf8"));
      const body = Buffer.from(JSON.stringify(object));
      await engine.put(`${path}/${object.metadata.name}`, body);
      send(res, 201, body);
    });
  }

  async function get(res: ServerResponse, path: string): Promise<void> {
    send(res, 200, await engine.get(path));
  }

  async function list(res: ServerResponse, path: string): Promise<void> {
    const [head, tail] = frame;
    const pieces = [head];
    for (const value of await engine.range(`${path}/`, `${path}0`)) pieces.push(value, COMMA);
    pieces[pieces.length - 1] = tail;
    send(res, 200, Buffer.concat(pieces));
  }

  /** All events after a version, as lines. */
  async function replay(res: ServerResponse, after: number): Promise<void> {
    const left = new AbortController();
    res.once("close", () => left.abort());
    res.writeHead(200, HEADERS);
    // The client leaves when it has read what it knows of; what it misses it tells.
    await pipeline(engine.replay(after, left.signal), res).catch(() => undefined);
  }

  return {
    ...anonymousMemory,
    open: (place: Place) => engine.open(place),
    listen: (): Promise<number> => listen(server),
    openAndGet: (asked: { readonly place: Place; readonly kind: StoredKind; readonly name: string }): Promise<number> =>
      engine.openAndGet(asked.place, keyOf(asked.kind, asked.name)),
    /** Keeps the objects of a list at their paths, and what stands before and behind them. */
    keepList: async ({ path, body }: { readonly path: string; readonly body: Uint8Array }): Promise<void> => {
      const { items } = JSON.parse(Buffer.from(body).toString());
      const first = Buffer.from(body).indexOf('"items":[') + '"items":['.length;
      frame = [Buffer.from(body.subarray(0, first)), Buffer.from("]}\n")];
      for (let at = 0; at < items.length; at += 1000)
        await Promise.all(
          items
            .slice(at, at + 1000)
            .map((item: { metadata: { name: string } }) =>
              engine.put(`${path}/${item.metadata.name}`, Buffer.from(JSON.stringify(item))),
            ),
        );
    },
    /** Keeps the lines of a watch. @returns the version to replay them after */
    keepLines: ({ lines }: { readonly lines: Uint8Array }): Promise<number> => {
      const bytes = Buffer.from(lines);
      const each: Buffer[] = [];
      for (let from = 0; from < bytes.length; ) {
        const end = bytes.indexOf("\n", from) + 1;
        each.push(bytes.subarray(from, end));
        from = end;
      }
      return engine.keep(each);
    },
  };
}

function send(res: ServerResponse, status: number, body: Buffer): void {
  res.writeHead(status, { ...HEADERS, "Content-Length": body.length });
  res.end(body);
}
