// Proxy in front of the oracle, which is one API server without an aggregator. It answers the aggregator's requests and adds
// credentials, so that a client sees a complete server.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import { type Listener, startListener } from "../../_support/listener.ts";
import type { Oracle } from "../../differential/oracle.ts";

/** Serves the oracle's group over plain HTTP, as the user of the oracle's credentials. */
export async function startFront(oracle: Oracle, group: string): Promise<Listener> {
  const agent = new Agent({ keepAlive: true, ...oracle.tls });
  const listener = await startListener((req, res) => {
    const path = req.url ?? "/";
    if (path.split("?", 1)[0] === "/apis") groups({ oracle, agent, group, res });
    else forward({ oracle, agent, req, res });
  });
  return {
    url: listener.url,
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      await listener[Symbol.asyncDispose]();
    },
  };
}

interface Way {
  readonly oracle: Oracle;
  readonly agent: Agent;
  readonly res: ServerResponse;
}

function forward({ oracle, agent, req, res }: Way & { readonly req: IncomingMessage }): void {
  const { host: _host, ...headers } = req.headers;
  const out = request(new URL(req.url ?? "/", oracle.url), {
    method: req.method,
    agent,
    headers: { ...headers, ...oracle.headers },
  });
  out.on("response", (from) => {
    res.writeHead(from.statusCode ?? 500, from.headers);
    res.flushHeaders();
    from.pipe(res);
  });
  out.on("error", () => res.destroy());
  res.on("close", () => out.destroy());
  req.pipe(out);
}

function groups({ oracle, agent, group, res }: Way & { readonly group: string }): void {
  const out = request(new URL(`/apis/${group}`, oracle.url), { agent, headers: { ...oracle.headers } });
  out.on("response", async (from) => {
    let text = "";
    for await (const piece of from.setEncoding("utf8")) text += piece;
    const { kind: _kind, apiVersion: _version, ...own } = JSON.parse(text) as Record<string, unknown>;
    const body = { kind: "APIGroupList", apiVersion: "v1", groups: [own] };
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  out.on("error", () => res.destroy());
  out.end();
}
