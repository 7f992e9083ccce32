// A server within another, for what a server asks itself: audited and counted there, each request once.
import {
  allow,
  authenticated,
  createServer,
  defineVirtualWorkspace,
  type Server,
  staticTokens,
} from "@virtual-workspaces/framework";
import { type AuditPolicy, audit } from "@virtual-workspaces/framework/audit";
import { metrics } from "@virtual-workspaces/framework/server";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";
import { callsTo } from "../_support/plain.ts";

const POLICY: AuditPolicy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };
const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

interface Told {
  readonly stage: string;
  readonly user: string;
  readonly path: string;
}

async function started() {
  const notes = Note.collection();
  notes.in("root").set("a", { text: "here" });
  const { log } = testLog();
  const inner: { server?: Server } = {};
  const own = new Upstream({
    url: "http://within",
    credentials: { get: () => ({ headers: ["Authorization", "Bearer self"] }) },
    dial: async () => inner.server?.connect() ?? expect.fail("it is not there yet"),
  });
  const events: Told[] = [];
  const to = (line: string): void => {
    const { stage, user, requestURI } = JSON.parse(line);
    events.push({ stage, user: user.username, path: requestURI });
  };
  const server = createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "passes",
        path: "/",
        authorize: authenticated(),
        // Ends what it has under way.
        setup: () => own,
        handle: async (req, res) => {
          const watch = req.url?.includes("watch") === true;
          await using answer = await own.stream({ path: NOTES + (watch ? "?watch=true" : ""), long: watch });
          for await (const piece of answer.body) res.write(piece);
          res.end();
        },
      }),
    ],
    authentication: [staticTokens({ alice: { name: "alice" } })],
    audit: audit({ policy: POLICY, to }),
    metrics: metrics({ authorize: () => allow(), process: false }),
    closeTimeout: 0,
    log,
  });
  inner.server = createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: authenticated(),
        resources: [Note.serve(notes)],
      }),
    ],
    authentication: [staticTokens({ self: { name: "self" } })],
    closeTimeout: 0,
    within: server,
    log,
  });
  const { url } = await server.listen({ port: 0 });
  await inner.server.start();
  return { server, events, ...callsTo(url), [Symbol.asyncDispose]: () => server.close() };
}

describe("a server within another", () => {
  const alice = { user: "alice" };

  it("has its requests in that one's metrics, beside those that they are made for", async () => {
    await using server = await started();
    expect((await server.get("/services/passes/x", alice)).status).to.equal(200);
    await using watch = await server.watch("/services/passes/x?watch=true", alice);
    await watch.take(1);
    const { text } = await server.get("/metrics", alice);
    const value = (series: RegExp): string[] => text.split("\n").filter((line) => series.test(line));
    expect(value(/^apiserver_request_total\{virtual_workspace="notes"/)).to.deep.equal([
      'apiserver_request_total{virtual_workspace="notes",verb="LIST",group="test.dev",version="v1",resource="notes",subresource="",scope="cluster",code="200"} 1',
    ]);
    expect(value(/^apiserver_request_total\{virtual_workspace="passes"/)).to.have.length(1);
    expect(value(/^virtual_workspaces_watch_subscribers /)).to.deep.equal(["virtual_workspaces_watch_subscribers 1"]);
    expect(value(/^apiserver_watch_events_total\{/)).to.have.length(1);
    expect(value(/^apiserver_longrunning_requests\{virtual_workspace="notes"/)).to.have.length(1);
  });

  it("has them in that one's audit log, each once, and what its end ends as well", async () => {
    const { server, events, get, watch } = await started();
    expect((await get("/services/passes/x", alice)).status).to.equal(200);
    const open = await watch("/services/passes/x?watch=true", alice);
    await open.take(1);
    await server.close();
    await open[Symbol.asyncDispose]();
    const ended = events.filter(({ stage }) => stage === "ResponseComplete").map(({ user, path }) => `${user} ${path}`);
    expect(ended).to.have.members([
      "alice /services/passes/x",
      "alice /services/passes/x?watch=true",
      `self ${NOTES}`,
      `self ${NOTES}?watch=true`,
    ]);
  });

  it("has no audit log and no metrics of its own", async () => {
    await using whole = createServer({ virtualWorkspaces: [], authentication: [] });
    for (const own of [{ metrics: metrics() }, { audit: audit({ policy: POLICY, to: () => undefined }) }])
      expect(() => createServer({ virtualWorkspaces: [], authentication: [], within: whole, ...own })).to.throw(
        "invalid options audit, metrics and component of a server with within: set them on the outer server",
      );
  });
});
