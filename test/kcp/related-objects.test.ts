// Objects that others depend on: a limit on watches, and a delay that grows with the objects that no watch reports.
import { Client } from "@virtual-workspaces/client";
import { staticTokens } from "@virtual-workspaces/framework";
import { paced, Related } from "@virtual-workspaces/kcp/informers";
import type { RelatedObject, RelatedReference } from "@virtual-workspaces/kcp/targets";
import { memoryStore } from "@virtual-workspaces/store";
import { Upstream } from "@virtual-workspaces/transport";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { reportFault } from "../_setup/faults.ts";
import { until } from "../_support/until.ts";
import { grant, makeWorkspace } from "../workspace-server/support/logical-clusters.ts";
import { startWorkspaces } from "../workspace-server/support/workspaces.ts";

const root = { user: "root" };
const SECRETS = "/api/v1/namespaces/default/secrets";
const PATCH = { headers: { "content-type": "application/merge-patch+json" }, ...root };
const NAMES = ["one", "two", "three"] as const;

describe("objects that others depend on", function () {
  this.timeout(60_000);

  it("beyond the maximum number of watches are read again, and get the watch that becomes free", async () => {
    const own = loopback();
    await using server = await startWorkspaces(memoryStore(), { loopback: own });
    const changed: string[] = [];
    const client = new Client({ upstream: own.upstream, cluster: "*" });
    await using related = new Related({
      client,
      changed: (dependent) => changed.push(dependent),
      onError: (error) => reportFault("related", error),
      maxWatches: 1,
    });
    for (const name of NAMES) await makeWorkspace(server, name);
    const place = (name: string): `/${string}` => `/clusters/root:${name}${SECRETS}`;
    const watches = async (): Promise<number> => {
      const { text } = await server.get("/metrics", root);
      const lines = text.split("\n").filter((line) => /^apiserver_longrunning_requests\{.*"secrets"/.test(line));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
    };
    const state = (name: string): RelatedObject => {
      const reference: RelatedReference = {
        ...{ cluster: `root:${name}`, apiVersion: "v1", kind: "Secret" },
        ...{ namespace: "default", name: "it" },
      };
      return related.reading(name, ({ get }) => get(reference));
    };
    const create = async (name: string): Promise<void> => {
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "it" } };
      const { status, text } = await server.send(`POST ${place(name)}`, secret, root);
      expect(status, text).to.equal(201);
    };
    for (const name of NAMES) expect(state(name)).to.deep.equal({ state: "unknown" });
    for (const name of NAMES) await until(() => state(name).state === "absent", { what: `no Secret in ${name}` });
    expect(await watches()).to.equal(1);
    for (const name of NAMES) await create(name);
    for (const name of NAMES) await until(() => state(name).state === "found", { what: `the Secret in ${name}` });
    expect([...new Set(changed)].sort()).to.deep.equal([...NAMES].sort());

    related.forget("one");
    related.forget("three");
    const before = state("two");
    const { status } = await server.send(`PATCH ${place("two")}/it`, { data: { token: "eA==" } }, PATCH);
    expect(status).to.equal(200);
    await until(() => state("two") !== before, { what: "the changed Secret" });
    await until(async () => (await watches()) === 1, { what: "its watch" });
  });

  it("are read by their names, and no other object is", async () => {
    const requests = new Set<string>();
    const masters = { groups: ["system:masters"] };
    await using server = await startWorkspaces(memoryStore(), {
      authentication: [staticTokens({ root: { name: "root", ...masters }, view: { name: "view", ...masters } })],
      onRequest: ({ user, verb, path }) => {
        if (user === "view") requests.add(`${verb} ${path}`);
      },
    });
    const headers = ["Authorization", "Bearer view"];
    await using upstream = new Upstream({ url: server.url, credentials: { get: () => ({ headers }) } });
    const client = new Client({ upstream, cluster: "*" });
    await using related = new Related({
      client,
      shard: { client, has: () => true },
      changed: () => undefined,
      onError: (error) => reportFault("related", error),
    });
    const cluster = await makeWorkspace(server, "one");
    for (const name of ["named", "other"]) {
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name } };
      expect((await server.send(`POST /clusters/${cluster}${SECRETS}`, secret, root)).status).to.equal(201);
    }
    const reference = { cluster, apiVersion: "v1", kind: "Secret", namespace: "default", name: "named" };
    await until(() => related.reading("it", ({ get }) => get(reference)).state === "found", { what: "the Secret" });
    const [all, one] = ["/clusters/*/api/v1/secrets", `/clusters/${cluster}${SECRETS}/named`];
    await until(() => requests.size === 3, { what: "the watch" });
    expect([...requests].sort()).to.deep.equal([`get ${one}`, `list ${all}`, `watch ${all}`]);
  });

  it("are read without a watch where the server allows no watch of all logical clusters", async () => {
    await using server = await startWorkspaces(memoryStore());
    const headers = ["Authorization", "Bearer alice"];
    await using upstream = new Upstream({ url: server.url, credentials: { get: () => ({ headers }) } });
    const client = new Client({ upstream, cluster: "*" });
    await using related = new Related({
      client,
      shard: { client, has: () => true },
      changed: () => undefined,
      onError: (error) => reportFault("related", error),
    });
    const cluster = await makeWorkspace(server, "one");
    await grant(server, cluster, { user: "alice", verbs: ["*"] });
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "it" } };
    const reference = { cluster, apiVersion: "v1", kind: "Secret", namespace: "default", name: "it" };
    const state = (): string => related.reading("it", ({ get }) => get(reference)).state;
    await until(() => state() === "absent", { what: "no Secret" });
    expect((await server.send(`POST /clusters/${cluster}${SECRETS}`, secret, root)).status).to.equal(201);
    await until(() => state() === "found", { what: "the Secret" });
  });

  it("are checked at most 25 times a second", () => {
    expect([1, 50, 51, 10_000].map((count) => paced(2000, count))).to.deep.equal([2000, 2000, 2040, 400_000]);
  });
});
