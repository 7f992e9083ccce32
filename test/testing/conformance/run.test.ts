// Behavior of a conformance run towards its user, whatever the server does.
import type { RequestListener } from "node:http";
import { createServer } from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import {
  type CheckResult,
  type ConformanceOptions,
  matchResources,
  runConformance,
  startTestServer,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../../_setup/log.ts";
import { startListener } from "../../_support/listener.ts";
import { createAuthority } from "../../_support/server.ts";
import { startBroken } from "../broken/proxy.ts";
import { notesView } from "../notes.ts";

const notes = notesView();
const log = (): { log: ReturnType<typeof testLog>["log"] } => ({ log: testLog().log });

describe("a conformance run", function () {
  this.timeout(30_000);

  it("only reads without hooks, and reports what it skipped", async () => {
    await using server = await startTestServer([notes.view], log());
    const methods = new Set<string>();
    const posted = new Set<string>();
    await using spy = await startBroken(server.url, {
      name: "nothing, but it is watched",
      fails: [],
      ask: ({ method, query, path }) => {
        methods.add(`${method} ${query.get("dryRun") ?? ""}`.trim());
        if (method === "POST" && !query.has("dryRun")) posted.add(path.slice(path.lastIndexOf("/") + 1));
        return undefined;
      },
    });
    const report = await runConformance({ url: `${spy.url}${notes.path}`, credentials: server.credentials });
    expect([...methods].sort()).to.deep.equal([
      "DELETE All",
      "GET",
      "PATCH All",
      "POST",
      "POST All",
      "PROPFIND All",
      "PUT All",
    ]);
    const reviews = ["selfsubjectaccessreviews", "selfsubjectreviews", "selfsubjectrulesreviews"];
    expect([...posted].sort(), "reviews, which are not stored").to.deep.equal(reviews);
    const left = report.results.filter(({ reason }) => reason === "it changes objects, and the run only reads");
    expect(left.map(({ id, outcome }) => `${id} ${outcome}`)).to.deep.equal(
      ["T1.3", "T3.13", "T3.14", "T4.4", "T4.5", "W6"].map((id) => `${id} skipped`),
    );
  });

  it("deletes the objects that its hooks created", async () => {
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

  it("treats writes of other clients as no fault", async () => {
    const { view, path, mutate } = notesView();
    await using server = await startTestServer([view], log());
    const url = `${server.url}${path}`;
    const besides = { group: "example.dev", version: "v1", name: "notes", kind: "Note", namespaced: true, verbs: [] };
    const create: typeof mutate.create = async (resource) => {
      const other = await mutate.create(besides);
      const made = await mutate.create(resource);
      if (other !== undefined) await mutate.delete(besides, other);
      return made;
    };
    const { credentials } = server;
    const { results } = await runConformance({ url, credentials, mutate: { ...mutate, create } });
    const failed = results.filter(({ outcome }) => outcome === "failed");
    expect(failed.map(({ id, failure }) => `${id}: ${failure?.actual}`)).to.deep.equal([]);
    const mutating = results.filter(({ id }) => ["T3.13", "T3.14", "T4.4", "T4.5", "W6"].includes(id));
    expect(mutating.map(({ outcome }) => outcome)).to.deep.equal(Array(5).fill("passed"));
  });

  it("reports the original error instead of an error of the cleanup", async () => {
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

  it("reports each result as it arrives, and all of them in order at the end", async () => {
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

  it("checks only the resources that the filter selects", async () => {
    await using server = await startTestServer([notes.view], log());
    const url = `${server.url}${notes.path}`;
    const { credentials } = server;
    const { resources, results } = await runConformance({ url, credentials, resources: matchResources(["pods"]) });
    expect(resources).to.deep.equal([]);
    expect(results.filter(({ resource }) => resource !== undefined)).to.deep.equal([]);
  });

  it("ends with the reason when there is no server", async () => {
    const gone = await startListener(() => undefined);
    await gone[Symbol.asyncDispose]();
    const report = await runConformance({ url: gone.url, credentials: { token: "any" } });
    expect(report.unreachable).to.match(/ECONNREFUSED/);
    expect(report).to.deep.include({ results: [], passed: 0, failed: 0, left: [] });
  });

  it("does not wait for a server that never answers, or never ends an answer", async () => {
    const stalling: readonly RequestListener[] = [
      () => undefined,
      (_, res) => void res.writeHead(200, { "content-type": "application/json" }).write("{"),
    ];
    const check = async (listener: RequestListener): Promise<void> => {
      await using server = await startListener(listener);
      const report = await runConformance({
        url: server.url,
        credentials: { token: "any" },
        deadlines: { answer: 200, prompt: 100 },
      });
      expect(report.unreachable).to.equal("no answer within 200 ms");
      expect([report.passed, report.duration < 5_000]).to.deep.equal([0, true]);
    };
    await Promise.all(stalling.map(check));
  });

  it("survives answers that are not JSON, and JSON that is no document", async () => {
    for (const body of [
      "<html>",
      "null",
      "[]",
      '"text"',
      '{"items":[null,1,{}],"groups":[null],"resources":[null],"versions":[null],"paths":[null]}',
    ]) {
      await using server = await startListener(
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

  it("ends when its signal aborts", async () => {
    await using server = await startListener(() => undefined);
    const stop = new AbortController();
    const run = runConformance({ url: server.url, signal: stop.signal });
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await run.catch((error: unknown) => error)).to.equal(reason);
  });

  it("rejects an invalid URL", async () => {
    expect(await runConformance({ url: "not a url" }).catch((error: unknown) => error)).to.be.instanceOf(TypeError);
  });
});

describe("a filter of resources", () => {
  const pods = { group: "", version: "v1", name: "pods", kind: "Pod", namespaced: true, verbs: [] };
  const quotes = { ...pods, group: "example.dev", name: "quotes" };

  it("accepts names in kubectl's format", () => {
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

  it("may be a client certificate, over TLS that is verified by default", async () => {
    const authority = createAuthority();
    const { cert, key } = authority.client("admin", ["admins"]);
    const { view, path } = notesView();
    await using server = createServer({
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
    expect(untrusted.unreachable).to.match(/certificate/);
    expect(nobody.results.find(({ id }) => id === "T7.9")?.failure?.actual).to.match(/^401/);
    expect(nobody.results.find(({ id }) => id === "S1")?.reason).to.equal("the run has no credentials to leave out");
  });
});
