// A bare relay: passes requests on by undici's dispatch, and answers as they come.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Dispatcher } from "undici";

/** What a request says, but for what belongs to its connection. */
export function passedOn({ rawHeaders }: IncomingMessage): string[] {
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (!/^(host|connection|authorization)$/i.test(name)) headers.push(name, rawHeaders[at + 1] as string);
  }
  return headers;
}

export class Relayed implements Dispatcher.DispatchHandler {
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
