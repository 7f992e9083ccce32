// A writing run beside other clients, and on a server that ends.
import { type CheckResult, cleanConformance, runConformance, startTestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../../_setup/log.ts";
import { startWorkspaces } from "../../workspace-server/support/workspaces.ts";
import { refusal } from "../broken/breakage.ts";
import { startBroken } from "../broken/proxy.ts";
import { writableNotesView } from "../notes.ts";

const NOTES = "/apis/example.dev/v1/namespaces/default/notes";
const outcomes = (results: readonly CheckResult[]): Readonly<Record<string, string>> =>
  Object.fromEntries(results.map(({ id, outcome, reason }) => [id, [outcome, reason].filter(Boolean).join(": ")]));

describe("a writing conformance run", function () {
  this.timeout(60_000);

  /** Starts a server of writable notes, and returns how another client writes them. */
  async function start() {
    const { view, path } = writableNotesView();
    const server = await startTestServer([view], { log: testLog().log });
    const headers = { authorization: `Bearer ${server.credentials.token}` };
    const write = async (method: string, name: string, body: object): Promise<void> => {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const url = `${server.url}${path}${NOTES}${name}?fieldManager=meddler`;
      const answer = await fetch(url, {
        method,
        body: JSON.stringify(body),
        headers: { ...headers, "content-type": type },
      });
      expect(answer.status, await answer.text()).to.be.below(300);
    };
    return { server, path, write, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  }

  it("reports a check as disturbed when another client changes its object, and names both", async () => {
    await using started = await start();
    const { server, path, write } = started;
    await using between = await startBroken(server.url, {
      name: "nothing, but a controller is faster than each update",
      fails: [],
      ask: async ({ method, path: asked }) => {
        if (method !== "PUT" || !/conformance-run[^/]*$/.test(asked)) return undefined;
        await write("PATCH", asked.slice(asked.lastIndexOf("/")), {
          metadata: { annotations: { "example.com/by": "c" } },
        });
        return undefined;
      },
    });
    const { credentials } = server;
    const checks = (id: string): boolean => ["V1", "V7", "V8"].includes(id);
    const report = await runConformance({ url: `${between.url}${path}`, credentials, writes: {}, checks });
    const found = outcomes(report.results);
    expect(found["V1"]).to.equal("passed");
    const disturbed = report.results.filter(({ outcome }) => outcome === "disturbed");
    expect(disturbed, JSON.stringify(found)).to.not.have.length(0);
    for (const { reason, failure } of disturbed) {
      expect(reason).to.match(
        /^another client wrote notes\.v1\.example\.dev default\/conformance-run\w+-\d+, by meddler: repeat the check while /,
      );
      expect(failure?.request).to.match(/^[A-Z]+ http/);
    }
    expect(report).to.include({ failed: 0, disturbed: disturbed.length });
  });

  it("reports a check as disturbed when another client creates an object meanwhile", async () => {
    await using started = await start();
    const { server, path, write } = started;
    let made = 0;
    await using between = await startBroken(server.url, {
      name: "nothing, but another client creates objects",
      fails: [],
      ask: async ({ method, path: asked, query }) => {
        if (method !== "POST" || !asked.endsWith("/notes") || query.has("dryRun")) return undefined;
        await write("POST", "", {
          apiVersion: "example.dev/v1",
          kind: "Note",
          metadata: { name: `other-${++made}` },
          spec: { color: "red" },
        });
        return refusal(500, "InternalError");
      },
    });
    const { credentials } = server;
    const checks = (id: string): boolean => id === "V1";
    const sample = { apiVersion: "example.dev/v1", kind: "Note", spec: { color: "red" } };
    const report = await runConformance({
      ...{ url: `${between.url}${path}`, credentials, writes: { samples: [sample] }, checks },
    });
    expect(outcomes(report.results)["V1"]).to.match(/default\/other-\d+, by meddler/);
  });

  it("does not blame others for what the server itself does", async () => {
    await using started = await start();
    const { server, path, write } = started;
    const note = { apiVersion: "example.dev/v1", kind: "Note", spec: { color: "red" } };
    await write("POST", "", { ...note, metadata: { name: "kept" } });
    await using broken = await startBroken(server.url, {
      name: "deletes everything with an object",
      fails: [],
      ask: async ({ method, path: asked, headers }) => {
        if (method === "DELETE" && !asked.endsWith("/kept"))
          await fetch(`${server.url}${path}${NOTES}/kept`, {
            method,
            headers: { authorization: headers.authorization ?? "" },
          });
        return method === "PUT" ? refusal(500, "InternalError") : undefined;
      },
    });
    const { credentials } = server;
    const checks = (id: string): boolean => /^V\d/.test(id);
    const report = await runConformance({ url: `${broken.url}${path}`, credentials, writes: {}, checks });
    expect(report.failed).to.be.above(0);
    expect(report.disturbed).to.equal(0);
  });

  it("ends soon when the server is gone, with the reason and the objects that may be left", async () => {
    await using started = await start();
    const { server, path } = started;
    const { credentials } = server;
    let done = 0;
    const report = await runConformance({
      url: `${server.url}${path}`,
      credentials,
      writes: { run: "run0a1b2c3d" },
      onResult: () => void (++done === 10 && server.server.close()),
    });
    expect(report.unreachable).to.match(/ECONNREFUSED|ECONNRESET|socket hang up/);
    expect(report.results.filter(({ failure }) => failure?.expected === "an answer")).to.deep.equal([]);
    expect(report.results.length).to.be.within(10, 60);
    expect(report.left[0]).to.match(/^notes\.v1\.example\.dev default\/conformance-run0a1b2c3d-\d+$/);
    expect(report.duration).to.be.below(15_000);
  });
});

describe("cleanConformance", function () {
  this.timeout(120_000);

  it("deletes what every check has made, with its finalizers and namespaces, and nothing else", async () => {
    await using server = await startWorkspaces(undefined, { log: testLog().log });
    const url = `${server.url}/clusters/root`;
    const credentials = { token: "root" };
    const names = async (): Promise<readonly string[]> => {
      const found: string[] = [];
      for (const plural of ["namespaces", "configmaps", "secrets"]) {
        const answer = await fetch(`${url}/api/v1/${plural}`, { headers: { authorization: "Bearer root" } });
        const { items } = (await answer.json()) as { items: { metadata: { name: string; namespace?: string } }[] };
        // A controller of the server creates this one in each namespace, at any time.
        for (const { metadata } of items)
          if (metadata.name !== "kube-root-ca.crt")
            found.push(`${plural} ${metadata.namespace ?? ""}/${metadata.name}`);
      }
      return found.sort();
    };
    const before = await names();
    await using broken = await startBroken(server.url, {
      name: "deletes nothing",
      fails: [],
      ask: ({ method, query }) =>
        method === "DELETE" && !query.has("dryRun") ? refusal(500, "InternalError") : undefined,
    });
    const run = "run0a1b2c3d";
    const { left } = await runConformance({
      url: `${broken.url}/clusters/root`,
      credentials,
      resources: ({ name }) => ["configmaps", "secrets"].includes(name),
      writes: { collects: true, run },
      deadlines: { answer: 2_000 },
    });
    const during = (await names()).filter((name) => !before.includes(name));
    expect(during.length, "left by the run").to.be.above(50);
    expect(left.length).to.be.above(50);
    expect((await cleanConformance({ url, credentials, run: "run99999999" })).deleted).to.deep.equal([]);
    const cleaned = await cleanConformance({ url, credentials, run });
    expect(cleaned.left).to.deep.equal([]);
    expect(await names()).to.deep.equal(before);
  });
});
