// A space provider's server with responses that a test can replace.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Listener, startListener } from "../../../../_support/listener.ts";

/** Responses by prefix of the request: `GET /v1/spaces`. */
export type Says = Readonly<Record<string, (res: ServerResponse, req: IncomingMessage) => void>>;

const STATUS = {
  ready: true,
  version: "1",
  capabilities: { create: true, delete: true, watch: true, hierarchy: false },
};

export class Liar implements AsyncDisposable {
  says: Says = {};
  /** Requests in order. */
  readonly asked: string[] = [];
  #listener: Listener | undefined;

  static async start(): Promise<Liar> {
    const liar = new Liar();
    liar.#listener = await startListener((req, res) => liar.answer(req, res));
    return liar;
  }

  get url(): string {
    return this.#listener?.url ?? "";
  }

  answer(req: IncomingMessage, res: ServerResponse): void {
    const asked = `${req.method} ${req.url}`;
    this.asked.push(asked);
    const said = Object.entries(this.says).find(([begin]) => asked.startsWith(begin));
    if (said !== undefined) said[1](res, req);
    else if (req.url === "/v1/status") json(STATUS)(res);
    else if (asked.startsWith("GET /v1/spaces?watch=1")) stream('{"type":"BOOKMARK"}\n')(res);
    else if (asked.startsWith("GET /v1/spaces?")) json({ items: [] })(res);
    else json(statusOf(404, "nothing here"), 404)(res);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener?.[Symbol.asyncDispose]();
  }
}

export function body(type: string, text: string, code = 200) {
  return (res: ServerResponse): void => {
    res.writeHead(code, type === "" ? {} : { "content-type": type }).end(text);
  };
}

export const json = (value: unknown, code = 200) => body("application/json", JSON.stringify(value), code);

/** A watch with this text that stays open. */
export const stream = (text: string) => (res: ServerResponse) => {
  res.writeHead(200, { "content-type": "application/x-ndjson" }).write(text);
};

export const statusOf = (code: number, message: string, details: object = {}) => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  code,
  details,
});

/** The response for a space that does not exist. */
export const gone = (name: string) => json(statusOf(404, `spaces "${name}" not found`, { kind: "spaces", name }), 404);
