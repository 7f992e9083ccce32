// A view that forwards everything to a server that behaves as a row states, over either engine, with raw bytes as requests.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { allow, defineVirtualWorkspace, type ServerOptions, staticTokens } from "@virtual-workspaces/framework";
import { anonymous } from "@virtual-workspaces/framework/authn";
import { httpProxyEngine } from "@virtual-workspaces/framework/http-proxy";
import { type ProxyEngine, type ProxyOptions, proxy } from "@virtual-workspaces/framework/proxy";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { type PlainServer, startPlain } from "../../_support/plain.ts";
import type { TestAuthority } from "../../_support/server.ts";
import { Wire } from "../../_support/wire.ts";

type Options = Pick<UpstreamOptions, "url" | "tls" | "connections">;
type Engine = ProxyEngine & AsyncDisposable;

/** Engines to run each row over. */
export const ENGINES = {
  undici: (options: Options): Engine => new Upstream(options),
  "http-proxy": (options: Options): Engine => httpProxyEngine(options),
} as const;

export type EngineName = keyof typeof ENGINES;

/** Behavior of the upstream. */
export interface Script {
  readonly answer?: (req: IncomingMessage, res: ServerResponse) => void;
  readonly upgrade?: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface BedOptions extends Partial<Omit<ProxyOptions, "upstream">> {
  /** Path of the upstream's URL. @default "" */
  readonly base?: string;
  readonly connections?: number;
  readonly tls?: { readonly authority: TestAuthority; readonly ca: string };
  readonly server?: Partial<ServerOptions>;
  /** Address of the upstream. @default it is started */
  readonly at?: string;
}

export interface Bed extends AsyncDisposable, Pick<PlainServer, "get" | "send" | "watch" | "server"> {
  readonly port: number;
  /** Requests that the upstream has received. */
  readonly asked: readonly IncomingMessage[];
  readonly faults: readonly unknown[];
  readonly wire: () => Promise<Wire>;
}

/** Starts the proxy and the upstream. */
export async function bed(name: EngineName, script: Script, options: BedOptions = {}): Promise<Bed> {
  const { base = "", connections, tls, server, at, ...proxying } = options;
  const stack = new AsyncDisposableStack();
  const there = stack.use(await other(script, tls?.authority));
  const trusted = tls === undefined ? {} : { tls: { ca: tls.ca } };
  const url = (at ?? there.url) + base;
  const engine = stack.use(ENGINES[name]({ url, ...trusted, ...(connections !== undefined && { connections }) }));
  const faults: unknown[] = [];
  const passing = proxy({ onError: (error) => faults.push(error), what: "the archive", ...proxying, upstream: engine });
  const { handle, upgrade } = passing;
  const view = defineVirtualWorkspace({ name: "archive", path: "/", authorize: () => allow(), handle, upgrade });
  const authentication = [staticTokens({ alice: { name: "alice" } }), anonymous()];
  const here = stack.use(await startPlain([view], { authentication, ...server }));
  const port = Number(new URL(here.url).port);
  const { get, send, watch } = here;
  const wire = async (): Promise<Wire> => stack.use(await Wire.open(port));
  const calls = { get, send, watch, server: here.server };
  return { ...calls, port, asked: there.asked, faults, wire, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** First lines of a request of alice. */
export const asAlice = (first: string, ...more: readonly string[]): string[] => [
  first.replace(" /", " /services/archive/").replace(/$/, " HTTP/1.1"),
  "Host: x",
  "Authorization: Bearer alice",
  ...more,
];

export const linesOf = ({ rawHeaders }: IncomingMessage): string[] =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[at + 1]}`] : []));

/** Resolves when the connection of a request has ended. */
export const closed = ({ socket }: IncomingMessage): Promise<unknown> =>
  socket.destroyed ? Promise.resolve() : new Promise((resolve) => socket.once("close", resolve));

async function other({ answer, upgrade }: Script, authority: TestAuthority | undefined) {
  const asked: IncomingMessage[] = [];
  const server = authority === undefined ? createServer() : createHttps({ ...authority.server });
  server.on("request", (req: IncomingMessage, res: ServerResponse) => {
    asked.push(req);
    if (answer === undefined) res.end("ok");
    else answer(req, res);
  });
  server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    asked.push(req);
    // Ends as most servers do when the other end has; a row may write on before.
    socket.on("error", () => undefined).once("end", () => setImmediate(() => socket.end()));
    upgrade?.(req, socket, head);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    url: `${authority === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      for (const { socket } of asked) socket.destroy();
      if (server.listening) await once(server, "close");
    },
  };
}
