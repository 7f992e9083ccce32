// Many mounts: the objects that they name share few watches, whose changes still show at once.
import { expect } from "chai";
import { until, untilAnswer } from "../../_support/until.ts";
import { APIS, bindingOf } from "../../workspace-server/bindings/support/shard.ts";
import { makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import {
  isReady,
  kubeconfigOf,
  MERGE,
  type Mounted,
  reasonOf,
  refTo,
  secret,
  startMounted,
  startTarget,
  type Target,
} from "./support/mounted.ts";

const root = { user: "root" };
const MOUNTS = "/apis/proxy.kcp.io/v1alpha1/mounts";
const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const SECRETS = "/api/v1/namespaces/default/secrets";
/** Workspaces, and mounts of each type in each. */
const [CLUSTERS, MANY] = [3, 15];

describe("many mounts", function () {
  this.timeout(120_000);
  const clusters: string[] = [];
  let mounted: Mounted;
  let target: Target;
  let atFirst = 0;

  const watches = async (): Promise<number> => {
    const { text, status } = await mounted.server.get("/metrics", root);
    expect(status, text).to.equal(200);
    const lines = text
      .split("\n")
      .filter((line) => /^apiserver_longrunning_requests\{.*"(secrets|workspaces|mounts)"/.test(line));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  };
  const mountsOf = async (cluster: string): Promise<readonly unknown[]> =>
    (await mounted.server.get(`/clusters/${cluster}${MOUNTS}`, root)).body.items;

  before(async () => {
    target = await startTarget();
    mounted = await startMounted();
    atFirst = await watches();
    for (let at = 0; at < CLUSTERS; at++) {
      const cluster = await makeWorkspace(mounted.server, `team-${at}`);
      clusters.push(cluster);
      const binding = bindingOf("proxy.kcp.io", "root:proxy.kcp.io");
      const bound = await mounted.server.send(`POST /clusters/${cluster}${APIS}/apibindings`, binding, root);
      expect(bound.status, bound.text).to.equal(201);
      await untilAnswer(
        () => mounted.server.get(`/clusters/${cluster}${MOUNTS}`, root),
        ({ status }) => status === 200,
      );
      const make = mounted.makeIn(cluster);
      for (let n = 0; n < MANY; n++) {
        await make("Secret", `there-${n}`, secret({ kubeconfig: kubeconfigOf(target) }));
        await make("Mount", `there-${n}`, { spec: { ref: refTo(`there-${n}`) } });
        await make("Mount", `to-${n}`, { spec: { type: "Workspace", path: `root:team-${at}:w-${n}` } });
      }
    }
  });
  after(async () => {
    await mounted?.[Symbol.asyncDispose]();
    await target?.[Symbol.asyncDispose]();
  });

  it("are all resolved, with one watch for all Secrets and one for each workspace that they lead to", async () => {
    for (const cluster of clusters)
      await until(
        async () => {
          const all = await mountsOf(cluster);
          const resolved = (mount: unknown): boolean => isReady(mount) || reasonOf(mount) === "TargetNotFound";
          return all.length === 2 * MANY && all.every(resolved);
        },
        { what: "resolved mounts", within: 20_000 },
      );
    expect(mounted.errors).to.deep.equal([]);
    expect((await watches()) - atFirst).to.be.at.most(CLUSTERS + 2);
  });

  it("follow their Secrets at once, also those that are deleted and created again", async () => {
    const [cluster = ""] = clusters;
    const at = `/clusters/${cluster}${SECRETS}/there-3` as const;
    const found = (is: (mount: unknown) => boolean): Promise<unknown> =>
      untilAnswer(
        () => mounted.server.get(`/clusters/${cluster}${MOUNTS}/there-3`, root),
        ({ body }) => is(body),
      );
    const invalid = await mounted.server.send(`PATCH ${at}`, { data: { kubeconfig: "e30=" } }, MERGE);
    expect(invalid.status, invalid.text).to.equal(200);
    await found((mount) => reasonOf(mount) === "SecretInvalid");
    expect((await mounted.server.send(`DELETE ${at}`, undefined, root)).status).to.equal(200);
    await found((mount) => reasonOf(mount) === "SecretNotFound");
    await mounted.makeIn(cluster)("Secret", "there-3", secret({ kubeconfig: kubeconfigOf(target) }));
    await found(isReady);
  });

  it("follow the workspaces that they lead to", async () => {
    const [cluster = ""] = clusters;
    await mounted.makeIn(cluster)("Workspace", "w-3", { spec: { type: { name: "universal", path: "root" } } });
    const at = `/clusters/${cluster}${MOUNTS}/to-3` as const;
    await untilAnswer(
      () => mounted.server.get(at, root),
      ({ body }) => isReady(body),
    );
    const gone = await mounted.server.send(`DELETE /clusters/${cluster}${WORKSPACES}/w-3`, undefined, root);
    expect(gone.status, gone.text).to.equal(200);
    await untilAnswer(
      () => mounted.server.get(at, root),
      ({ body }) => reasonOf(body) === "TargetNotFound",
    );
  });
});
