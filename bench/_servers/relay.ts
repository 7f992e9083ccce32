// The rival: a bare `node:http` handler that passes requests on by undici's dispatch, and answers as they come.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Dispatcher, Pool } from "undici";
import { serveCommands } from "../_harness/commands.ts";
import { listen } from "../_harness/listen.ts";
import { peakMemory } from "../_harness/peak-memory.ts";

let pool: Pool;

const server = createServer({ keepAliveTimeout: 120_000, noDelay: true }, (req, res) => {
  pool.dispatch({ method: "GET", path: req.url ?? "/", headers: passedOn(req) }, new Relayed(res));
});

function passedOn({ rawHeaders }: IncomingMessage): string[] {
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (!/^(host|connection|authorization)$/i.test(name)) headers.push(name, rawHeaders[at + 1] as string);
  }
  return headers;
}

class Relayed implements Dispatcher.DispatchHandler {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#res.once("close", () => {
      if (!this.#res.writableFinished) controller.abort(new Error("the client has left"));
    });
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    const { connection: _connection, "keep-alive": _keepAlive, date: _date, ...kept } = headers;
    this.#res.writeHead(status, kept as Record<string, string>);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#res.write(piece)) return;
    controller.pause();
    this.#res.once("drain", () => controller.resume());
  }

  onResponseEnd(): void {
    this.#res.end();
  }

  onResponseError(): void {
    if (this.#res.headersSent) this.#res.destroy();
    else this.#res.writeHead(502, { "Content-Length": 0 }).end();
  }
}

const commands = {
  ...peakMemory,
  listen: (upstream: number): Promise<number> => {
    pool = new Pool(`http://127.0.0.1:${upstream}`, { connections: 256, pipelining: 1 });
    return listen(server);
  },
};

export type Relay = typeof commands;

serveCommands(commands);
