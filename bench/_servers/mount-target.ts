// What is behind a view that passes requests on: holds watches, sends long lists, and dies within them.
import { createServer } from "node:http";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";

const list = Buffer.alloc(20_000_000, "x");
const half = list.subarray(0, 1_000_000);
let open = 0;
let waiting: (() => void) | undefined;

const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
  const path = req.url?.split("?")[0] ?? "";
  if (path.endsWith("/list")) res.writeHead(200, { "Content-Length": list.length }).end(list);
  else if (path.endsWith("/dies")) {
    if (path.endsWith("/chunks/dies")) res.writeHead(200);
    else res.writeHead(200, { "Content-Length": list.length });
    res.write(half, () => res.destroy());
  } else {
    open += 1;
    res.once("close", () => {
      open -= 1;
      if (open === 0) waiting?.();
    });
    res.writeHead(200, { "Content-Type": "application/json" }).flushHeaders();
  }
});
// Of a client that may have as many connections as it likes.
server.maxConnections = 20_000;

const commands = {
  listen: () => listen(server),
  /** How many watches are open. */
  open: (): number => open,
  /** Resolves when none is. */
  left: async (): Promise<void> => {
    if (open > 0)
      await new Promise<void>((resolve) => {
        waiting = resolve;
      });
  },
  /** How many connections there are, and nothing of them under way. */
  connections: (): Promise<number> =>
    new Promise((resolve, reject) => {
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    }),
};

export type MountTarget = typeof commands;

serveCommands(commands);
