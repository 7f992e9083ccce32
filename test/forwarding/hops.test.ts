// Views that forward to one another: number of hops, and their headers.
import { forward } from "@virtual-workspaces/forwarding";
import {
  allow,
  createServer as createApiServer,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";
import type { Scope } from "@virtual-workspaces/framework/storage";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { freePort } from "../_support/free-ports.ts";
import { Note } from "../_support/note.ts";
import { outcome } from "../_support/plain.ts";
import { as, startChain } from "./support.ts";

const PATH = "apis/test.dev/v1/notes";
const NOTE = { apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "a" }, spec: { text: "x" } };

describe("views that forward to one another", () => {
  it("end a loop after four hops, with the route in the response", async () => {
    const port = await freePort();
    const upstreams: Upstream[] = [];
    const view = (name: string, next: string) => {
      const credentials = { get: () => ({ headers: ["Authorization", "Bearer alice"] }) };
      const upstream = new Upstream({ url: `http://127.0.0.1:${port}/services/${next}`, credentials });
      upstreams.push(upstream);
      const resources = [Note.serve(forward({ resource: Note, upstream, identity: "none" }))];
      return defineVirtualWorkspace({ name, path: "/", authorize: () => allow(), resources });
    };
    const server = createApiServer({
      virtualWorkspaces: [view("a", "b"), view("b", "c"), view("c", "a")],
      authentication: [staticTokens({ alice: { name: "alice" } })],
      log: testLog().log,
    });
    await server.listen({ port });
    const answer = await fetch(`http://127.0.0.1:${port}/services/a/${PATH}`, {
      method: "POST",
      body: JSON.stringify(NOTE),
      headers: { authorization: "Bearer alice", "content-type": "application/json" },
    });
    const { code, reason, message } = (await answer.json()) as Record<string, unknown>;
    expect([answer.status, code, reason]).to.deep.equal([500, 500, "InternalError"]);
    expect(message).to.include("(X-Kcp-Virtual-Resource-Hops): a -> b -> c -> a -> b. One of them");
    expect(upstreams.map(({ stats }) => stats.requests)).to.deep.equal([2, 1, 1]);
    await server.close();
    for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
  });

  it("send the number and names of hops upstream, and drop other values", async () => {
    const scopes: Scope[] = [];
    const create = (scope: Scope, object: never) => {
      scopes.push(scope);
      return object;
    };
    await using chain = await startChain({ resource: Note, kept: { create } });
    const headers = { ...as({ name: "ann" }).headers, "X-Kcp-Virtual-Resource-Hops": "2", Via: "1.1 far" };
    expect((await chain.front.send(`POST ${chain.path}`, NOTE, { headers })).status).to.equal(201);
    expect(scopes.map(({ hops, via }) => [hops, via])).to.deep.equal([[3, "1.1 far, 1.1 notes, 1.1 notes"]]);
    const over = { headers: { ...headers, "X-Kcp-Virtual-Resource-Hops": "4" } };
    expect(outcome(await chain.front.send(`POST ${chain.path}`, NOTE, over))[0]).to.equal(500);
  });
});
