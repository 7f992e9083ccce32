// Quotas limit the number of objects, and show it.
import { expect } from "chai";
import { outcome } from "../../_support/plain.ts";
import { until } from "../../_support/until.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { makeMap, makeNamespace, makeQuota, mapsIn, quotasIn, untilRootCa, untilUsed } from "./support.ts";

const ADMIN = { user: "admin" } as const;

function exceeded(name: string, about: { quota?: string; used: string; limit: string; of?: string }): string {
  const { quota = "q", used, limit, of = "count/configmaps" } = about;
  return `configmaps "${name}" is forbidden: exceeded quota: ${quota}, requested: ${of}=1, used: ${of}=${used}, limited: ${of}=${limit}`;
}

async function started(): Promise<{ server: Workspaces; cluster: string }> {
  const server = await startWorkspaces();
  const cluster = await makeWorkspace(server, "org");
  await untilRootCa(server, cluster);
  return { server, cluster };
}

describe("a quota", () => {
  it("rejects objects beyond the limit with Kubernetes' text, shows the usage, and has room after a delete", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    expect((await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "2" } })).status).to.equal(201);
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "1" });
    expect((await makeMap(server, cluster, "a")).status).to.equal(201);
    const full = await makeMap(server, cluster, "b");
    expect([full.status, full.body.reason, full.body.message]).to.deep.equal([
      403,
      "Forbidden",
      exceeded("b", { used: "2", limit: "2" }),
    ]);
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "2" });
    const { body } = await server.get(`${quotasIn(cluster)}/q`, ADMIN);
    expect(body.status.hard).to.deep.equal({ "count/configmaps": "2" });
    for (let round = 0; round < 20; round++) {
      const names = [`a${round || ""}`, `a${round + 1}`];
      expect((await server.send(`DELETE ${mapsIn(cluster)}/${names[0]}`, undefined, ADMIN)).status).to.equal(200);
      expect((await makeMap(server, cluster, names[1] ?? "")).status).to.equal(201);
    }
    expect((await makeMap(server, cluster, "b")).status).to.equal(403);
    // Another namespace and another workspace have limits of their own.
    await makeNamespace(server, cluster, "other");
    expect((await makeMap(server, `${cluster}/other`, "b")).status).to.equal(201);
    const second = await makeWorkspace(server, "second");
    await untilRootCa(server, second);
    expect((await makeMap(server, second, "b")).status).to.equal(201);
    expect((await makeMap(server, second, "c")).status).to.equal(201);
  });

  it("is never exceeded by concurrent creations, of which as many as fit succeed", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "6" } });
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "1" });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => makeMap(server, cluster, `m${at}`)));
    expect(answers.filter(({ status }) => status === 201)).to.have.length(5);
    expect(answers.filter(({ status }) => status === 403)).to.have.length(35);
    // Creations of one name count once.
    await server.send(`DELETE ${mapsIn(cluster)}`, undefined, ADMIN);
    await untilRootCa(server, cluster);
    await makeQuota(server, cluster, { name: "small", hard: { "count/configmaps": "3" } });
    const same = await Promise.all(Array.from({ length: 10 }, () => makeMap(server, cluster, "same")));
    expect(same.filter(({ status }) => status === 201)).to.have.length(1);
    expect((await makeMap(server, cluster, "next")).status).to.equal(201);
    expect((await makeMap(server, cluster, "last")).status).to.equal(403);
  });

  it("takes nothing for dry runs and failed creations, which it rejects when full", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "3" } });
    await makeMap(server, cluster, "a");
    const dry = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "dry" } };
    for (let at = 0; at < 5; at++) {
      const tried = await server.send(`POST ${mapsIn(cluster)}?dryRun=All`, dry, ADMIN);
      expect(tried.status).to.equal(201);
      expect((await makeMap(server, cluster, "a")).status).to.equal(409);
      expect((await server.send(`POST ${mapsIn(cluster)}`, { ...dry, data: { "/": "" } }, ADMIN)).status).to.equal(422);
    }
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "2" });
    expect((await makeMap(server, cluster, "b")).status).to.equal(201);
    const late = await server.send(`POST ${mapsIn(cluster)}?dryRun=All`, dry, ADMIN);
    expect(outcome(late)[2]).to.equal(exceeded("dry", { used: "3", limit: "3" }));
    // As in Kubernetes, a taken name is not recognized before the quota.
    expect((await makeMap(server, cluster, "a")).status).to.equal(403);
  });

  it("limits creations by generateName and server-side apply, but no updates", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "3" } });
    const generated = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "g-" } };
    const create = () => server.send(`POST ${mapsIn(cluster)}`, generated, ADMIN);
    const apply = (name: string, data = {}) =>
      server.send(
        `PATCH ${mapsIn(cluster)}/${name}?fieldManager=t`,
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data },
        { ...ADMIN, headers: { "content-type": "application/apply-patch+yaml" } },
      );
    expect((await create()).status).to.equal(201);
    expect((await apply("applied")).status).to.equal(201);
    expect((await apply("applied", { a: "b" })).status).to.equal(200);
    expect((await apply("second")).body.message).to.equal(exceeded("second", { used: "3", limit: "3" }));
    expect((await create()).body.message).to.match(/^configmaps "g-[a-z0-9]{5}" is forbidden: exceeded quota: q,/);
  });

  it("follows changes: a raised, a lowered and a second limit, and its own deletion", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    const patch = (most: string) =>
      server.send(
        `PATCH ${quotasIn(cluster)}/q`,
        { spec: { hard: { "count/configmaps": most } } },
        { ...ADMIN, headers: { "content-type": "application/merge-patch+json" } },
      );
    await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "2", configmaps: "9", secrets: "1k" } });
    await makeMap(server, cluster, "a");
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "2", configmaps: "2", secrets: "0" });
    await patch("3");
    await until(async () => (await makeMap(server, cluster, "b")).status === 201);
    await patch("1");
    await until(
      async () => (await makeMap(server, cluster, "c")).body.message === exceeded("c", { used: "3", limit: "1" }),
    );
    await server.send(`DELETE ${quotasIn(cluster)}/q`, undefined, ADMIN);
    await until(async () => (await makeMap(server, cluster, "c")).status === 201);
    await makeQuota(server, cluster, { name: "one", hard: { configmaps: 5 } });
    await makeQuota(server, cluster, { name: "two", hard: { "count/configmaps": "1k" } });
    await until(async () => (await makeMap(server, cluster, `d-${crypto.randomUUID()}`)).status === 403);
    expect((await makeMap(server, cluster, "e")).body.message).to.equal(
      exceeded("e", { quota: "one", used: "5", limit: "5", of: "configmaps" }),
    );
    // A status of a client does not stay.
    await server.send(
      `PATCH ${quotasIn(cluster)}/one/status`,
      { status: { used: { configmaps: "0" } } },
      { ...ADMIN, headers: { "content-type": "application/merge-patch+json" } },
    );
    await untilUsed(server, `${quotasIn(cluster)}/one`, { configmaps: "5" });
  });

  it("counts objects of the server's controllers, and rejects none", async () => {
    const { server, cluster } = await started();
    await using _ = server;
    await makeQuota(server, cluster, { name: "q", hard: { "count/configmaps": "0" } });
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "1" });
    await server.send(`DELETE ${mapsIn(cluster)}/kube-root-ca.crt`, undefined, ADMIN);
    await untilRootCa(server, cluster);
    await untilUsed(server, `${quotasIn(cluster)}/q`, { "count/configmaps": "1" });
    expect((await makeMap(server, cluster, "a")).body.message).to.equal(exceeded("a", { used: "1", limit: "0" }));
  });
});
