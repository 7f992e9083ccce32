// How a run of the conformance suite behaves towards its user, whatever the server does.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  allow,
  clientCertificates,
  createServer as createApiServer,
  defineResource,
  defineVirtualWorkspace,
} from "@virtual-workspaces/framework";
import {
  type CheckResult,
  type ConformanceOptions,
  type ConformanceReport,
  type ConformanceWrites,
  matchResources,
  parseSamples,
  runConformance,
  startTestServer,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { createAuthority } from "../_support/server.ts";
import { type Breakage, forget, isDeleteCollection, passOverMalformed, refusal } from "./broken/breakage.ts";
import { startBroken } from "./broken/proxy.ts";
import { notesView, writableNotesView } from "./notes.ts";

/** Starts a server that knows nothing of Kubernetes. */
async function startOther(listener: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server: Server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const notes = notesView();
const log = (): { log: ReturnType<typeof testLog>["log"] } => ({ log: testLog().log });

describe("a run of the conformance suite", function () {
  this.timeout(30_000);

  it("only reads, unless it is given hooks, and says what it left out", async () => {
    await using server = await startTestServer([notes.view], log());
    const methods = new Set<string>();
    await using spy = await startBroken(server.url, {
      name: "nothing, but it is watched",
      fails: [],
      ask: ({ method, query }) => {
        methods.add(`${method} ${query.get("dryRun") ?? ""}`.trim());
        return undefined;
      },
    });
    const report = await runConformance({ url: `${spy.url}${notes.path}`, credentials: server.credentials });
    expect([...methods].sort()).to.deep.equal([
      "DELETE All",
      "GET",
      "PATCH All",
      "POST All",
      "PROPFIND All",
      "PUT All",
    ]);
    const left = report.results.filter(({ reason }) => reason === "it changes objects, and the run only reads");
    expect(left.map(({ id, outcome }) => `${id} ${outcome}`)).to.deep.equal(
      ["T1.3", "T3.13", "T3.14", "T4.4", "T4.5", "W6"].map((id) => `${id} skipped`),
    );
  });

  it("leaves nothing behind of what its hooks made", async () => {
    const { view, path, mutate } = notesView();
    await using server = await startTestServer([view], log());
    const list = async (): Promise<string> =>
      (
        await fetch(`${server.url}${path}/apis/example.dev/v1/notes`, {
          headers: { authorization: `Bearer ${server.credentials.token}` },
        })
      ).text();
    const names = (text: string): string[] =>
      (JSON.parse(text) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
    const before = names(await list());
    const { failed } = await runConformance({ url: `${server.url}${path}`, credentials: server.credentials, mutate });
    expect(failed).to.equal(0);
    expect(names(await list())).to.deep.equal(before);
  });

  it("tells what went wrong first, not what went wrong with cleaning up after it", async () => {
    const { view, path, mutate } = notesView();
    await using server = await startTestServer([view], log());
    const broken = (text: string) => (): never => {
      throw new Error(text);
    };
    const { results } = await runConformance({
      url: `${server.url}${path}`,
      credentials: server.credentials,
      mutate: { ...mutate, update: broken("the first"), delete: broken("the second") },
      checks: (id) => id === "T4.4",
    });
    expect(results[0]?.failure?.actual).to.match(/^Error: the first\n/);
  });

  describe("that may write", () => {
    const writing = /^(T5|T9|T10|V)/;

    it("leaves nothing behind, and says of an object that it cannot delete that it is left", async () => {
      const { view, path } = writableNotesView();
      await using server = await startTestServer([view], log());
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
      expect(left[0]).to.match(/^notes\.v1\.example\.dev default\/conformance-[0-9a-f]{8}-\d+$/);
    });

    it("deletes what it has made when it is told to stop", async () => {
      const { view, path } = writableNotesView();
      await using server = await startTestServer([view], log());
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

    /** A run of the deletes of collections on a server whose requests are changed, where somebody has an object. */
    const endanger = async (
      ask: NonNullable<Breakage["ask"]>,
    ): Promise<{ results: readonly CheckResult[]; kept: boolean }> => {
      const { view, path } = writableNotesView();
      await using server = await startTestServer([view], log());
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

    it("never sends the delete of a collection whose list shows what is not its own", async () => {
      const deletes: string[] = [];
      const { results, kept } = await endanger((ask) => {
        // One by its name is of that name all the same.
        if (isDeleteCollection(ask) && ask.query.get("fieldSelector")?.startsWith("metadata.name") !== true)
          deletes.push(String(ask.query));
        return forget(ask, "labelSelector");
      });
      expect(deletes).to.deep.equal([]);
      expect(results.filter(({ reason }) => reason?.includes("shows precious too"))).to.have.length(7);
      expect(kept).to.equal(true);
    });

    it("loses nothing to a server that passes over what it cannot read, and knows no dry run", async () => {
      const { results, kept } = await endanger((ask) => {
        if (isDeleteCollection(ask)) passOverMalformed(ask);
        return forget(ask, "dryRun");
      });
      expect(results.find(({ id }) => id === "T10.7")?.failure?.actual).to.match(/^200 /);
      expect(kept).to.equal(true);
    });

    it("says why no object can be made, and makes them from a sample that it is given", async () => {
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
      await using server = await startTestServer([view], log());
      const run = async (samples: ConformanceWrites["samples"] = []): Promise<CheckResult | undefined> => {
        const url = `${server.url}/services/odd/clusters/root`;
        const { credentials } = server;
        return (await runConformance({ url, credentials, writes: { samples }, checks: (id) => id === "V1" }))
          .results[0];
      };
      expect((await run())?.reason).to.match(/^no valid object could be made; give a sample\. .*spec\.code must match/);
      const [sample] = parseSamples(`{apiVersion: example.dev/v1, kind: Odd, spec: {code: abc-${"x".repeat(17)}}}`);
      expect((await run(sample === undefined ? [] : [sample]))?.outcome).to.equal("passed");
    });
  });

  it("tells each result as it comes, and all of them in order at the end", async () => {
    await using server = await startTestServer([notes.view], log());
    const told: CheckResult[] = [];
    const report = await runConformance({
      url: `${server.url}${notes.path}/`,
      credentials: server.credentials,
      onResult: (result) => told.push(result),
    });
    expect(told).to.have.members([...report.results]);
    expect(report.results.map(({ id }) => id).slice(0, 3)).to.deep.equal(["T1.1", "T1.2", "T1.3"]);
    expect([report.passed + report.failed + report.skipped, report.failed]).to.deep.equal([told.length, 0]);
    expect([report.resources, report.serverVersion]).to.deep.equal([
      ["notes.v1.example.dev"],
      "v1.37.0+virtual-workspaces",
    ]);
    expect(report.results.find(({ id }) => id === "E1")?.reason).to.include("strict");
  });

  it("checks only the resources that the filter lets through", async () => {
    await using server = await startTestServer([notes.view], log());
    const url = `${server.url}${notes.path}`;
    const { credentials } = server;
    const { resources, results } = await runConformance({ url, credentials, resources: matchResources(["pods"]) });
    expect(resources).to.deep.equal([]);
    expect(results.filter(({ resource }) => resource !== undefined)).to.deep.equal([]);
  });

  it("goes on where there is no server, and says so", async () => {
    const gone = await startOther(() => undefined);
    await gone[Symbol.asyncDispose]();
    const report = await runConformance({ url: gone.url, credentials: { token: "any" } });
    const failure = report.results.find(({ id }) => id === "T7.1")?.failure;
    expect(failure?.expected).to.equal("an answer");
    expect(failure?.actual).to.match(/ECONNREFUSED/);
    expect(report.passed).to.equal(0);
  });

  it("does not wait for a server that does not answer, or never ends an answer", async () => {
    const stalling: readonly RequestListener[] = [
      () => undefined,
      (_, res) => void res.writeHead(200, { "content-type": "application/json" }).write("{"),
    ];
    const check = async (listener: RequestListener): Promise<void> => {
      await using server = await startOther(listener);
      const report = await runConformance({
        url: server.url,
        credentials: { token: "any" },
        deadlines: { answer: 200, prompt: 100 },
      });
      expect(report.results.find(({ id }) => id === "T7.9")?.failure?.actual).to.equal("no answer within 200 ms");
      expect([report.passed, report.duration < 5_000]).to.deep.equal([0, true]);
    };
    await Promise.all(stalling.map(check));
  });

  it("survives answers that are no JSON, and JSON that is no document", async () => {
    for (const body of [
      "<html>",
      "null",
      "[]",
      '"text"',
      '{"items":[null,1,{}],"groups":[null],"resources":[null],"versions":[null],"paths":[null]}',
    ]) {
      await using server = await startOther(
        (_, res) => void res.writeHead(200, { "content-type": "application/json" }).end(body),
      );
      const report = await runConformance({
        url: server.url,
        credentials: { token: "any" },
        deadlines: { prompt: 200 },
      });
      const broken = report.results.filter(({ failure }) => failure?.request === "none");
      expect(broken, body).to.deep.equal([]);
    }
  });

  it("ends when it is told to", async () => {
    await using server = await startOther(() => undefined);
    const stop = new AbortController();
    const run = runConformance({ url: server.url, signal: stop.signal });
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await run.catch((error: unknown) => error)).to.equal(reason);
  });

  it("refuses a URL that is none", async () => {
    expect(await runConformance({ url: "not a url" }).catch((error: unknown) => error)).to.be.instanceOf(TypeError);
  });
});

describe("a filter of resources", () => {
  const pods = { group: "", version: "v1", name: "pods", kind: "Pod", namespaced: true, verbs: [] };
  const quotes = { ...pods, group: "example.dev", name: "quotes" };

  it("takes names as kubectl does", () => {
    const matching = (...names: string[]): string[] =>
      [pods, quotes].filter(matchResources(names)).map(({ name }) => name);
    expect(matching()).to.deep.equal(["pods", "quotes"]);
    for (const name of ["quotes", "quotes.example.dev", "quotes.v1.example.dev"])
      expect(matching(name)).to.deep.equal(["quotes"]);
    for (const name of ["pods", "pods.v1"]) expect(matching(name)).to.deep.equal(["pods"]);
    expect(matching("quotes.v2.example.dev", "po")).to.deep.equal([]);
    expect(matching("pods", "quotes")).to.have.length(2);
  });
});

describe("credentials of a run", function () {
  this.timeout(30_000);

  it("may be a client certificate, over TLS that is verified unless told not to", async () => {
    const authority = createAuthority();
    const { cert, key } = authority.client("admin", ["admins"]);
    const { view, path } = notesView();
    await using server = createApiServer({
      virtualWorkspaces: [view],
      authentication: [clientCertificates({ ca: authority.ca })],
      tls: { ...authority.server, clientCa: authority.ca },
      ...log(),
    });
    const { url } = await server.listen({ port: 0 });
    const run = (credentials: ConformanceOptions["credentials"]): ReturnType<typeof runConformance> =>
      runConformance({ url: `${url}${path}`, ...(credentials && { credentials }), strict: true });
    const client = { clientCert: cert, clientKey: key };
    const [known, skipping, untrusted, nobody] = await Promise.all([
      run({ ...client, ca: authority.ca }),
      run({ ...client, insecureSkipTlsVerify: true }),
      run(client),
      run({ ca: authority.ca }),
    ]);
    expect([known.failed, skipping.failed]).to.deep.equal([0, 0]);
    expect(known.results.find(({ id }) => id === "S1")?.outcome).to.equal("passed");
    expect(untrusted.results.find(({ id }) => id === "T7.9")?.failure?.actual).to.match(/certificate/);
    expect(nobody.results.find(({ id }) => id === "T7.9")?.failure?.actual).to.match(/^401/);
    expect(nobody.results.find(({ id }) => id === "S1")?.reason).to.equal("the run has no credentials to leave out");
  });
});
