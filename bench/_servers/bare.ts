// The rival: a bare `node:http` handler that sends one prepared answer.
import { createServer, type OutgoingHttpHeaders } from "node:http";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

interface Prepared {
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
}

let prepared: Prepared = { headers: {}, body: Buffer.alloc(0) };

// As the framework's listener, so that both speak of keep-alive in the same words.
const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (_req, res) => {
  res.writeHead(200, prepared.headers);
  res.end(prepared.body);
});

const commands = {
  ...peakMemory,
  listen: () => listen(server),
  /** What to answer from now on. */
  use: (answer: Prepared): void => {
    prepared = answer;
  },
};

export type Bare = typeof commands;

serveCommands(commands);
