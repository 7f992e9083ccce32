// Effects of a writing run on the server, above all those that must never occur.
import { allow, defineResource, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import {
  type CheckResult,
  type ConformanceReport,
  type ConformanceWrites,
  parseSamples,
  runConformance,
  startTestServer,
  type TestViewServer,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../../_setup/log.ts";
import { type Breakage, forget, isDeleteCollection, passOverMalformed, refusal } from "../broken/breakage.ts";
import { startBroken } from "../broken/proxy.ts";
import { writableNotesView } from "../notes.ts";

const start = (view: VirtualWorkspace): Promise<TestViewServer> => startTestServer([view], { log: testLog().log });

/** Returns a view with this number of writable kinds. */
function manyKinds(count: number): { readonly view: VirtualWorkspace; readonly path: string } {
  const resources = Array.from({ length: count }, (_, at) => {
    const kind = defineResource({
      group: "example.dev",
      version: "v1",
      kind: `Kind${at}`,
      scope: "Cluster",
      spec: { type: "object" },
    });
    return kind.serve(kind.collection());
  });
  const path = "/clusters/:cluster";
  const view = defineVirtualWorkspace({ name: "many", path, authorize: () => allow(), resources });
  return { view, path: "/services/many/clusters/root" };
}

describe("a conformance run with writes", function () {
  this.timeout(30_000);
  const writing = /^(T5|T9|T10|V)/;

  it("deletes its objects, and reports one that it cannot delete", async () => {
    const { view, path } = writableNotesView();
    await using server = await start(view);
    const { credentials } = server;
    const run = (url: string): Promise<ConformanceReport> =>
      runConformance({ url: `${url}${path}`, credentials, writes: {}, checks: (id) => id === "V1" });
    expect((await run(server.url)).left).to.deep.equal([]);
    await using stuck = await startBroken(server.url, {
      name: "cannot delete",
      fails: [],
      ask: ({ method }) => (method === "DELETE" ? refusal(500, "InternalError") : undefined),
    });
    const { left, passed } = await run(stuck.url);
    expect(passed).to.equal(1);
    expect(left).to.have.length(4);
    // Digits alone, even hexadecimal ones, may be a number in YAML: 51e08781.
    expect(left[0]).to.match(/^notes\.v1\.example\.dev default\/conformance-run[0-9a-f]{8}-\d+$/);
  });

  it("deletes its objects when it is aborted", async () => {
    const { view, path } = writableNotesView();
    await using server = await start(view);
    const { url, credentials } = server;
    const stop = new AbortController();
    const report = runConformance({
      url: `${url}${path}`,
      credentials,
      writes: {},
      checks: (id) => writing.test(id),
      signal: stop.signal,
      onResult: () => stop.abort(new Error("enough")),
    });
    expect(await report.catch(String)).to.equal("Error: enough");
    const list = await fetch(`${url}${path}/apis/example.dev/v1/notes`, {
      headers: { authorization: `Bearer ${credentials.token}` },
    });
    expect(((await list.json()) as { items: unknown[] }).items).to.deep.equal([]);
  });

  /** Runs the checks of deletecollection on a server with changed requests, where a user has an object. */
  const endanger = async (
    ask: NonNullable<Breakage["ask"]>,
  ): Promise<{ results: readonly CheckResult[]; kept: boolean }> => {
    const { view, path } = writableNotesView();
    await using server = await start(view);
    await using broken = await startBroken(server.url, { name: "reads selectors badly", fails: [], ask });
    const here = `${server.url}${path}/apis/example.dev/v1/namespaces/default/notes`;
    const { credentials } = server;
    const headers = { authorization: `Bearer ${credentials.token}`, "content-type": "application/json" };
    const precious = {
      apiVersion: "example.dev/v1",
      kind: "Note",
      metadata: { name: "precious" },
      spec: { color: "red" },
    };
    const made = await (await fetch(here, { method: "POST", headers, body: JSON.stringify(precious) })).text();
    const checks = (id: string): boolean => id.startsWith("T10.");
    const { results } = await runConformance({ url: `${broken.url}${path}`, credentials, writes: {}, checks });
    return { results, kept: (await (await fetch(`${here}/precious`, { headers })).text()) === made };
  };

  it("never deletes a collection whose list has objects of others", async () => {
    const deletes: string[] = [];
    const { results, kept } = await endanger((ask) => {
      // A selector for a name still selects only that name.
      if (isDeleteCollection(ask) && ask.query.get("fieldSelector")?.startsWith("metadata.name") !== true)
        deletes.push(String(ask.query));
      return forget(ask, "labelSelector");
    });
    expect(deletes).to.deep.equal([]);
    expect(results.filter(({ reason }) => reason?.includes("also returns precious"))).to.have.length(7);
    expect(kept).to.equal(true);
  });

  it("loses nothing on a server that ignores malformed selectors and dry runs", async () => {
    const { results, kept } = await endanger((ask) => {
      if (isDeleteCollection(ask)) passOverMalformed(ask);
      return forget(ask, "dryRun");
    });
    expect(results.find(({ id }) => id === "T10.7")?.failure?.actual).to.match(/^200 /);
    expect(kept).to.equal(true);
  });

  it("requests an OpenAPI document once, for any number of resources and checks", async () => {
    const { view, path } = manyKinds(3);
    await using server = await start(view);
    let asked = 0;
    await using counting = await startBroken(server.url, {
      name: "nothing, but it is watched",
      fails: [],
      ask: (ask) => {
        if (ask.path.endsWith("/openapi/v3/apis/example.dev/v1")) asked += 1;
        return undefined;
      },
    });
    const { credentials } = server;
    const checks = (id: string): boolean => ["T8.6", "V1", "V24"].includes(id);
    const { passed } = await runConformance({ url: `${counting.url}${path}`, credentials, writes: {}, checks });
    expect([passed, asked]).to.deep.equal([6, 1]);
  });

  it("limits the load on a server with many resources", async () => {
    const { view, path } = manyKinds(30);
    await using server = await start(view);
    let underWay = 0;
    let most = 0;
    await using counting = await startBroken(server.url, {
      name: "nothing, but it is watched",
      fails: [],
      ask: ({ method }) => {
        if (method !== "GET") most = Math.max(most, ++underWay);
        return undefined;
      },
      reply: (reply, { method }) => {
        if (method !== "GET") underWay -= 1;
        return reply;
      },
    });
    const { credentials } = server;
    const checks = (): boolean => false;
    const { left } = await runConformance({ url: `${counting.url}${path}`, credentials, writes: {}, checks });
    expect(left).to.deep.equal([]);
    expect(most).to.be.within(2, 12);
  });

  it("says why no object can be built, and uses a sample when it gets one", async () => {
    const Odd = defineResource({
      group: "example.dev",
      version: "v1",
      kind: "Odd",
      scope: "Cluster",
      spec: {
        type: "object",
        required: ["code"],
        properties: { code: { type: "string", pattern: "^[a-z]{3}-x{17}$" } },
      },
    });
    const view = defineVirtualWorkspace({
      name: "odd",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [Odd.serve(Odd.collection())],
    });
    await using server = await start(view);
    const run = async (samples: ConformanceWrites["samples"] = []): Promise<CheckResult | undefined> => {
      const url = `${server.url}/services/odd/clusters/root`;
      const { credentials } = server;
      return (await runConformance({ url, credentials, writes: { samples }, checks: (id) => id === "V1" })).results[0];
    };
    expect((await run())?.reason).to.match(/^no valid object could be built; give a sample\. .*spec\.code must match/);
    const [sample] = parseSamples(`{apiVersion: example.dev/v1, kind: Odd, spec: {code: abc-${"x".repeat(17)}}}`);
    expect((await run(sample === undefined ? [] : [sample]))?.outcome).to.equal("passed");
  });
});
