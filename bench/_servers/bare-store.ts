// The rival: a bare `node:http` handler over the bare engine, which keeps what it is sent and sends what it keeps.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { anonymousMemory } from "../_harness/anonymous-memory.ts";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { keyOf, type StoredKind } from "./stored-kinds.ts";

/** As ours: headers cost as well. */
const HEADERS = {
  "Audit-Id": "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e",
  "Cache-Control": "no-cache, private",
  "Content-Type": "application/json",
};
/** How many lines are written in one go. */
const PAGE = 500;

let root: RootDatabase<Buffer, string>;
let objects: Database<Buffer, string>;
let log: Database<Buffer, number>;
let frame: readonly [head: Buffer, tail: Buffer] = [Buffer.alloc(0), Buffer.alloc(0)];

const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? "", "http://localhost");
  if (req.method === "POST") create(req, res, pathname);
  else if (searchParams.has("watch")) void replay(res, Number(searchParams.get("resourceVersion")));
  else if (/s$/.test(pathname)) list(res, pathname);
  else send(res, 200, objects.getBinary(pathname) as Buffer);
});

function create(req: IncomingMessage, res: ServerResponse, path: string): void {
  const pieces: Buffer[] = [];
  req.on("data", (piece: Buffer) => pieces.push(piece));
  req.once("end", async () => {
    const object = JSON.parse(Buffer.concat(pieces).toString("utf8"));
    const body = Buffer.from(JSON.stringify(object));
    await objects.put(`${path}/${object.metadata.name}`, body);
    send(res, 201, body);
  });
}

function list(res: ServerResponse, path: string): void {
  const [head, tail] = frame;
  const pieces = [head];
  for (const { value } of objects.getRange({ start: `${path}/`, end: `${path}0` })) pieces.push(value, COMMA);
  pieces[pieces.length - 1] = tail;
  send(res, 200, Buffer.concat(pieces));
}

const COMMA = Buffer.from(",");

/** All that the log has above a version, then silence. */
async function replay(res: ServerResponse, after: number): Promise<void> {
  res.writeHead(200, HEADERS);
  for (let start = after + 1; ; ) {
    const lines = Array.from(log.getRange({ start, limit: PAGE }));
    if (lines.length === 0) return;
    start = (lines.at(-1)?.key ?? 0) + 1;
    if (!res.write(Buffer.concat(lines.map(({ value }) => value))))
      await new Promise((resolve) => res.once("drain", resolve));
  }
}

function send(res: ServerResponse, status: number, body: Buffer): void {
  res.writeHead(status, { ...HEADERS, "Content-Length": body.length });
  res.end(body);
}

const commands = {
  ...anonymousMemory,
  /** As the engine opens it: acknowledged is what is on disk. */
  open: ({ dir }: { readonly dir: string }): void => {
    root = open({ path: dir, noSubdir: false, overlappingSync: false, encoding: "binary", maxDbs: 8 });
    objects = root.openDB<Buffer, string>({ name: "objects", encoding: "binary" });
    log = root.openDB<Buffer, number>({ name: "events", encoding: "binary", keyEncoding: "uint32" });
  },
  listen: () => listen(server),
  /** The same of a file of ours: where the newest entry stands, then the entry. @returns how long it took, ms */
  openAndGet: async ({
    dir,
    kind,
    name,
  }: {
    readonly dir: string;
    readonly kind: StoredKind;
    readonly name: string;
  }): Promise<number> => {
    const began = performance.now();
    const file = open({ path: join(dir, "store"), noSubdir: false, maxDbs: 8 });
    const table = (name: string) => file.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" });
    const found = table("log").getBinary(table("keys").getBinary(Buffer.from(keyOf(kind, name))) as Buffer);
    const ms = performance.now() - began;
    await file.close();
    if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
    return ms;
  },
  /** Keeps the objects of a list at their paths, and what stands before and behind them. */
  keepList: async ({ path, body }: { readonly path: string; readonly body: Uint8Array }): Promise<void> => {
    const { items } = JSON.parse(Buffer.from(body).toString());
    const first = Buffer.from(body).indexOf('"items":[') + '"items":['.length;
    frame = [Buffer.from(body.subarray(0, first)), Buffer.from("]}\n")];
    await root.batch(() => {
      for (const item of items) void objects.put(`${path}/${item.metadata.name}`, Buffer.from(JSON.stringify(item)));
    });
  },
  /** Keeps the lines of a watch. */
  keepLines: async ({ lines }: { readonly lines: Uint8Array }): Promise<void> => {
    const bytes = Buffer.from(lines);
    await root.batch(() => {
      for (let from = 0, n = 1; from < bytes.length; n++) {
        const end = bytes.indexOf("\n", from) + 1;
        void log.put(n, bytes.subarray(from, end));
        from = end;
      }
    });
  },
};

export type BareStore = typeof commands;

serveCommands(commands);
