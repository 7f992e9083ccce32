// The rival: a bare `node:http` server that holds every response and writes the same prepared bytes to each.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { TlsOptions } from "@virtual-workspaces/framework/tls";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { publisher } from "./publisher.ts";
import { tickLine } from "./tick.ts";

const held = new Set<ServerResponse>();
const prepared = Array.from({ length: 4096 }, (_, n) => tickLine(n));

function hold(_req: IncomingMessage, res: ServerResponse): void {
  held.add(res);
  res.once("close", () => held.delete(res));
  res.writeHead(200, {
    "Audit-Id": "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e",
    "Cache-Control": "no-cache, private",
    "Content-Type": "application/json",
  });
  res.flushHeaders();
}

const commands = {
  ...publisher((n) => {
    const bytes = prepared[n];
    if (bytes === undefined) throw new Error("more changes than were prepared");
    for (const res of held) res.write(bytes);
  }),
  listen: (tls: TlsOptions | undefined): Promise<number> => {
    const options = { keepAliveTimeout: 120_000, requestTimeout: 0, noDelay: true };
    return listen(tls === undefined ? createServer(options, hold) : createTlsServer({ ...options, ...tls }, hold));
  },
};

export type Held = typeof commands;

serveCommands(commands);
