// Server without TLS on a free port, with one user per token, and a client that reads watches event by event.
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { KubeObject, Status } from "@virtual-workspaces/apimachinery";
import {
  createServer,
  type Server,
  type ServerOptions,
  staticTokens,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { testLog } from "../_setup/log.ts";

/** Users by token; tokens are their names. `admin` is in the group `admins`. */
const TOKENS = { alice: { name: "alice" }, bob: { name: "bob" }, admin: { name: "admin", groups: ["admins"] } };

/** Calls of a client to a server. */
export interface Calls {
  get(path: string, options?: CallOptions): Promise<Answer>;
  /** Sends `POST /path` with a JSON body, or with a text unchanged. */
  send(call: `${string} /${string}`, body?: unknown, options?: CallOptions): Promise<Answer>;
  watch(path: string, options?: CallOptions): Promise<WatchStream>;
}

export interface PlainServer extends AsyncDisposable, Calls {
  readonly server: Server;
  readonly url: string;
}

export interface CallOptions {
  /** User whose token is sent. */
  readonly user?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  readonly body: any;
}

/** Returns code, reason and message of an answer. */
export const outcome = ({ status, body }: Answer): unknown[] => [status, body.reason, body.message];

/** Starts a server for `views`. */
export async function startPlain(
  views: readonly VirtualWorkspace[],
  options: Partial<ServerOptions> = {},
): Promise<PlainServer> {
  const server = createServer({
    virtualWorkspaces: views,
    authentication: [staticTokens(TOKENS)],
    log: testLog().log,
    ...options,
  });
  const { url } = await server.listen({ port: 0 });
  return { server, url, ...callsTo(url), [Symbol.asyncDispose]: () => server.close() };
}

/** Returns the calls of a client to a server that accepts these tokens. */
export function callsTo(url: string): Calls {
  return {
    get: (path, call) => ask(url + path, call),
    send: (call, body, options) => {
      const [method = "", path = ""] = call.split(" ", 2);
      return ask(url + path, { ...options, method, body });
    },
    watch: (path, call) => WatchStream.open(url + path, call),
  };
}

interface Sending extends CallOptions {
  readonly method?: string;
  readonly body?: unknown;
}

function start(
  url: string,
  { user = "alice", headers = {}, method = "GET", body }: Sending = {},
): { req: ClientRequest; response: Promise<IncomingMessage> } {
  const payload = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  // Node sends the body of a DELETE without a length by default.
  const length = payload === undefined ? 0 : Buffer.byteLength(payload);
  const sent = payload === undefined ? {} : { "content-type": "application/json", "content-length": length };
  const req = request(url, { agent: false, method, headers: { authorization: `Bearer ${user}`, ...sent, ...headers } });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    req.once("response", resolve);
    req.once("error", reject);
  });
  req.end(payload);
  return { req, response };
}

async function ask(url: string, options?: Sending): Promise<Answer> {
  const res = await start(url, options).response;
  let text = "";
  for await (const piece of res.setEncoding("utf8")) text += piece;
  const json = res.headers["content-type"]?.startsWith("application/json") === true;
  return { status: res.statusCode ?? 0, headers: res.headers, text, body: json ? JSON.parse(text) : undefined };
}

export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject & Partial<Status>;
}

/** Open watch. Events are pulled; when the buffer is full, the socket is not read until the next pull. */
export class WatchStream implements AsyncDisposable {
  readonly status: number;
  readonly #req: ClientRequest;
  readonly #lines: AsyncIterator<WatchEvent>;

  constructor(req: ClientRequest, res: IncomingMessage) {
    this.#req = req;
    this.status = res.statusCode ?? 0;
    this.#lines = events(res);
  }

  static async open(url: string, options?: CallOptions): Promise<WatchStream> {
    const { req, response } = start(url, options);
    const res = await response;
    req.on("error", () => undefined);
    return new WatchStream(req, res);
  }

  /** Returns the next event. @throws when the stream has ended */
  async next(): Promise<WatchEvent> {
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error("the watch ended");
    return value;
  }

  /** Returns the next `count` events as `TYPE name`. */
  async take(count: number): Promise<string[]> {
    const taken: string[] = [];
    while (taken.length < count) taken.push(label(await this.next()));
    return taken;
  }

  /** Returns events up to and including the first that satisfies `is`. */
  async until(is: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
    const seen: WatchEvent[] = [];
    do seen.push(await this.next());
    while (!is(seen.at(-1) as WatchEvent));
    return seen;
  }

  /** Returns all events to the end of the stream. @throws when the connection is cut */
  async rest(): Promise<WatchEvent[]> {
    const seen: WatchEvent[] = [];
    for (let step = await this.#lines.next(); step.done !== true; step = await this.#lines.next())
      seen.push(step.value);
    return seen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#req.destroy();
    await this.#lines.return?.();
  }
}

export function label({ type, object }: WatchEvent): string {
  return `${type} ${object.metadata?.name ?? object.code ?? ""}`.trimEnd();
}

async function* events(res: IncomingMessage): AsyncGenerator<WatchEvent> {
  let text = "";
  for await (const piece of res.setEncoding("utf8")) {
    text += piece;
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as WatchEvent;
  }
  if (text !== "") throw new Error(`the watch ended within a line: ${text.slice(0, 80)}`);
}
