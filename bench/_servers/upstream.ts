// The server behind those that forward: sends what was prepared, or what a forwarding server asks for first.
import { createServer } from "node:http";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";

let body = Buffer.from("{}");

const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (_req, res) => {
  res.writeHead(200, {
    "Audit-Id": "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e",
    "Cache-Control": "no-cache, private",
    "Content-Type": "application/json",
    "Content-Length": body.length,
  });
  res.end(body);
});

const commands = {
  listen: () => listen(server),
  /** What to answer from now on. */
  use: (prepared: Uint8Array): void => {
    body = Buffer.from(prepared);
  },
};

export type Upstream = typeof commands;

serveCommands(commands);
