// Stands before the oracle, which is one API server and not a whole cluster: what an aggregator would answer is answered
// here, and credentials are added, so that a client sees a server of its own.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import type { AddressInfo } from "node:net";
import type { Oracle } from "../../differential/oracle.ts";

export interface Front extends AsyncDisposable {
  readonly url: string;
}

/** Serves the oracle's one group over plain HTTP, as whoever the oracle's credentials are for. */
export async function startFront(oracle: Oracle, group: string): Promise<Front> {
  const agent = new Agent({ keepAlive: true, ...oracle.tls });
  const server = createServer((req, res) => {
    const path = req.url ?? "/";
    if (path.split("?", 1)[0] === "/apis") groups({ oracle, agent, group, res });
    else forward({ oracle, agent, req, res });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await once(server, "close");
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
