// Proxy in front of a real server, with one fault.
import { once } from "node:events";
import { Agent, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { type Listener, startListener } from "../../_support/listener.ts";
import type { Ask, Breakage, Reply, Told } from "./breakage.ts";

/** Starts a server that behaves like `target`, except for one fault. */
export async function startBroken(target: string, breakage: Breakage): Promise<Listener> {
  const agent = new Agent({ keepAlive: true });
  const listener = await startListener((req, res) => {
    serve({ req, res, target, agent, breakage }).catch(() => res.destroy());
  });
  return {
    url: listener.url,
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      await listener[Symbol.asyncDispose]();
    },
  };
}

/** Type of watches that were requested as CBOR. */
const CBOR_SEQ = "application/cbor-seq";

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly target: string;
  readonly agent: Agent;
  readonly breakage: Breakage;
}

async function serve(exchange: Exchange): Promise<void> {
  const { req, res, target, breakage } = exchange;
  const url = new URL(req.url ?? "/", target);
  const ask: Ask = {
    method: req.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: { ...req.headers, host: url.host },
    authorizations: req.headersDistinct["authorization"] ?? [],
    connection: req.socket,
    isWatch: ["true", "1"].includes(url.searchParams.get("watch") ?? ""),
    aside: async (path) => {
      const { authorization = "" } = req.headers;
      return (await (await fetch(new URL(path, target), { headers: { authorization } })).json()) as Told["object"];
    },
  };
  const instead = await breakage.ask?.(ask);
  if (instead !== undefined) return send(res, instead);
  const from = await sent(exchange, { url, ask });
  if (ask.isWatch && from.statusCode === 200) return relay(exchange, from, ask);
  const reply = await readReply(from);
  send(res, breakage.reply?.(reply, ask) ?? reply);
}

async function sent(
  { req, res, agent, breakage }: Exchange,
  { url, ask }: { url: URL; ask: Ask },
): Promise<IncomingMessage> {
  const hasBody = breakage.body !== undefined && Number(req.headers["content-length"] ?? 0) > 0;
  const body = hasBody ? await breakage.body?.(await buffer(req), ask) : undefined;
  url.pathname = ask.path;
  const length = body === undefined ? {} : { "content-length": body.length };
  const out = request(url, { method: ask.method, headers: { ...ask.headers, ...length }, agent });
  res.once("close", () => out.destroy());
  if (body === undefined) req.pipe(out);
  else out.end(body);
  const answered = once(out, "response");
  out.on("error", () => res.destroy());
  const [from] = (await answered) as [IncomingMessage];
  return from;
}

async function readReply(from: IncomingMessage): Promise<Reply> {
  const body: Buffer[] = [];
  for await (const piece of from as AsyncIterable<Buffer>) body.push(piece);
  const {
    "content-length": _length,
    "transfer-encoding": _encoding,
    ...headers
  } = from.headers as Record<string, string>;
  return { status: from.statusCode ?? 0, headers, body: Buffer.concat(body) };
}

function send(res: ServerResponse, { status, headers, body }: Reply): void {
  res.writeHead(status, headers).end(body);
}

async function relay({ res, breakage }: Exchange, from: IncomingMessage, ask: Ask): Promise<void> {
  const {
    "content-length": _length,
    "transfer-encoding": _encoding,
    ...headers
  } = from.headers as Record<string, string>;
  const type = breakage.watchType === undefined ? {} : { "content-type": breakage.watchType };
  res.writeHead(200, { ...headers, ...type });
  const { holdHeaders } = breakage;
  const timer = setTimeout(() => res.flushHeaders(), holdHeaders ?? 0);
  if (holdHeaders === undefined) res.flushHeaders();
  res.once("close", () => clearTimeout(timer));
  const change = breakage.events?.(ask) ?? ((event: Told) => [event]);
  // The breakages change events as JSON. A watch as CBOR passes as it is.
  if (from.headers["content-type"] === CBOR_SEQ) for await (const piece of from) res.write(piece);
  else
    for await (const line of createInterface({ input: from })) {
      for (const event of change(JSON.parse(line) as Told)) res.write(`${JSON.stringify(event)}\n`);
    }
  // The written data still arrives, but the chunk that ends the stream does not.
  if (breakage.cutsWatches === true) res.socket?.destroySoon();
  else res.end();
}
