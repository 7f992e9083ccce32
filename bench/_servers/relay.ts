// The rival: a bare `node:http` handler that passes requests on by undici's dispatch, and answers as they come.
import { createServer } from "node:http";
import { Pool } from "undici";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { peakMemory } from "../_harness/peak-memory.ts";
import { passedOn, Relayed } from "../_harness/relayed.ts";

let pool: Pool;

const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
  pool.dispatch({ method: "GET", path: req.url ?? "/", headers: passedOn(req) }, new Relayed(res));
});

const commands = {
  ...peakMemory,
  listen: (upstream: number): Promise<number> => {
    pool = new Pool(`http://127.0.0.1:${upstream}`, { connections: 256, pipelining: 1 });
    return listen(server);
  },
};

export type Relay = typeof commands;

serveCommands(commands);
