// Mounts that lead back to themselves: each mount in the cycle says so, and no request is redirected for ever.
import { workspaceMounts } from "@virtual-workspaces/mounts";
import { expect } from "chai";
import type { Answer } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { define } from "../../workspace-server/support/logical-clusters.ts";
import { isReady, MERGE, type Mounted, reasonOf, refTo, secret, startMounted } from "./support/mounted.ts";

const root = { user: "root" };
const alice = { user: "alice" };
const REMOTES = "/apis/example.dev/v1/remotes";
const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "remotes.example.dev" },
  spec: {
    group: "example.dev",
    scope: "Cluster",
    names: { kind: "Remote", plural: "remotes", singular: "remote", listKind: "RemoteList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        subresources: { status: {} },
      },
    ],
  },
};

describe("a cycle of mounts", function () {
  this.timeout(60_000);
  const running = new AsyncDisposableStack();
  let mounted: Mounted;

  before(async () => {
    mounted = running.use(await startMounted());
    running.use(workspaceMounts({ upstream: mounted.itself, onError: (error) => mounted.errors.push(error) }));
    await define(mounted.server, mounted.team, [CRD]);
  });
  after(() => running.disposeAsync());

  const redirect = (name: string, path: string) => mounted.make("Mount", name, { spec: { type: "Redirect", path } });
  const link = (name: string, path: string) => mounted.make("Mount", name, { spec: { type: "Workspace", path } });
  const show = (name: string, ref: object = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name }) =>
    mounted.make("Workspace", name, { spec: { mount: { ref } } });
  const isCycle = (mount: Answer["body"]): boolean => reasonOf(mount) === "Cycle";
  const messageOf = (mount: Answer["body"]): string => mount.status.conditions.find(isReachable).message;
  const isReachable = ({ type }: { readonly type: string }): boolean => type === "Reachable";
  const remove = async (plural: string, name: string): Promise<void> => {
    const path = `/clusters/${mounted.team}${plural}/${name}` as const;
    expect((await mounted.server.send(`DELETE ${path}`, undefined, root)).status).to.equal(200);
  };
  /** Waits for the answer of a workspace that leads to no other. */
  const unavailable = async (name: string): Promise<string> => {
    const { body } = await untilAnswer(
      () => mounted.server.get(`/clusters/root:team:${name}/api`, alice),
      ({ status }) => status === 503,
    );
    return body.message;
  };

  it("of the type Redirect is in the status and the answer of each mount, with the workspaces in between", async () => {
    await redirect("r1", "root:team:r2");
    await mounted.until("r1", isReady);
    await show("r1");
    expect(
      (
        await untilAnswer(
          () => mounted.at("r1").get("/api"),
          ({ status }) => status === 307,
        )
      ).headers.location,
    ).to.equal("/clusters/root:team:r2/api");
    await redirect("r2", "root:team:r1");
    await show("r2");
    for (const [name, other] of [
      ["r1", "r2"],
      ["r2", "r1"],
    ] as const) {
      const mount = await mounted.until(name, isCycle);
      expect(mount.status.phase, name).to.equal("Unknown");
      const why = `the mounts form a cycle: this mount leads to root:team:${other} leads to root:team:${name}: mount another workspace`;
      expect(messageOf(mount), name).to.equal(why);
      const { status, body, headers } = await mounted.at(name).get("/api");
      expect([status, body.reason, headers["retry-after"]], name).to.deep.equal([503, "ServiceUnavailable", "1"]);
      expect(body.message, name).to.match(/^the mount "r[12]" is not ready: Unknown since .*Z: /);
      expect(body.message, name).to.contain(why);
      expect(await unavailable(name), name).to.contain(
        `root:team:${name} is mounted on Mount "${name}", which is not ready`,
      );
    }
    const upgrade = { connection: "Upgrade", upgrade: "websocket" };
    expect((await mounted.at("r1").get("/api/v1/namespaces/a/pods/b/exec", { headers: upgrade })).status).to.equal(503);
  });

  it("ends when another write opens it", async () => {
    await remove(WORKSPACES, "r2");
    for (const name of ["r1", "r2"]) {
      await mounted.until(name, isReady);
      expect((await mounted.at(name).get("/api")).status).to.equal(307);
    }
    await show("r2");
    for (const name of ["r1", "r2"]) await mounted.until(name, isCycle);
  });

  it("of one mount of the type Redirect, and a redirect into a cycle, are found", async () => {
    await redirect("self", "root:team:self");
    await show("self");
    await mounted.until("self", isCycle);
    await redirect("into", "root:team:r1");
    expect(messageOf(await mounted.until("into", isCycle))).to.equal(
      "the mounts form a cycle: this mount leads to root:team:r1 leads to root:team:r2 leads to root:team:r1: mount another workspace",
    );
  });

  it("of the types Redirect and Workspace is found, whichever mount closes it", async () => {
    await redirect("m1", "root:team:m2");
    await link("m2", "root:team:m3");
    await redirect("m3", "root:team:m1");
    for (const name of ["m3", "m2", "m1"]) await show(name);
    for (const name of ["m1", "m2", "m3"]) {
      await mounted.until(name, isCycle);
      await unavailable(name);
    }
  });

  it("through the type URL is found where the URL is this server's", async () => {
    const { server, team } = mounted;
    const urls = { u1: `${server.url}/clusters/root:team:u2/`, u3: `${server.url}/services/mounts/${team}/u4` };
    for (const [name, url] of Object.entries(urls)) {
      const kubeconfig = {
        ...{ apiVersion: "v1", kind: "Config", "current-context": "it" },
        contexts: [{ name: "it", context: { cluster: "it", user: "" } }],
        clusters: [{ name: "it", cluster: { server: url } }],
      };
      await mounted.make("Secret", name, secret({ kubeconfig: JSON.stringify(kubeconfig) }));
      await mounted.make("Mount", name, { spec: { ref: refTo(name), identity: { type: "None" } } });
      await show(name);
    }
    await redirect("u2", "root:team:u1");
    await show("u2");
    await redirect("u4", "root:team:u3");
    for (const name of ["u1", "u2", "u3", "u4"]) await mounted.until(name, isCycle);
    expect(messageOf(await mounted.until("u4", isCycle))).to.equal(
      `the mounts form a cycle: this mount leads to root:team:u3 leads to Mount "u4" of ${team}: mount another workspace`,
    );
    for (const name of ["u1", "u2", "u3"]) await unavailable(name);
  });

  it("through a Mount in spec.ref is found, and does not come and go", async () => {
    await redirect("v1", "root:team:v2");
    await mounted.until("v1", isReady);
    const ref = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name: "v1" };
    await mounted.make("Mount", "v2", { spec: { ref } });
    await mounted.until("v2", isReady);
    await show("v2");
    const { metadata } = await mounted.until("v1", isCycle);
    await mounted.until("v2", isCycle);
    await unavailable("v2");
    const after = await mounted.until("v1", () => true);
    expect(after.metadata.resourceVersion).to.equal(metadata.resourceVersion);
  });

  it("through a workspace on an object of another kind is found, and ends when that leads elsewhere", async () => {
    const at = `/clusters/${mounted.team}${REMOTES}` as const;
    const remote = { apiVersion: "example.dev/v1", kind: "Remote", metadata: { name: "k2" } };
    expect((await mounted.server.send(`POST ${at}`, remote, root)).status).to.equal(201);
    const lead = async (path: string): Promise<void> => {
      const status = { phase: "Ready", URL: `${mounted.server.url}/clusters/${path}` };
      expect((await mounted.server.send(`PATCH ${at}/k2/status`, { status }, MERGE)).status).to.equal(200);
    };
    await lead("root:team:k1");
    await redirect("k1", "root:team:k2");
    await show("k1");
    await show("k2", { apiVersion: "example.dev/v1", kind: "Remote", name: "k2" });
    await mounted.until("k1", isCycle);
    await unavailable("k1");
    await unavailable("k2");
    await lead("root");
    await mounted.until("k1", isReady);
    expect((await mounted.at("k1").get("/api")).status).to.equal(307);
  });

  it("is not seen in a redirect to a workspace that does not exist", async () => {
    await redirect("away", "root:team:none");
    await mounted.until("away", isReady);
    expect((await mounted.at("away").get("/api")).status).to.equal(307);
  });

  it("reports no error to the operator", () => {
    expect(mounted.errors).to.deep.equal([]);
  });
});
