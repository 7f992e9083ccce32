// Mounts of other workspaces, and of objects with the URL of their API.
import { expect } from "chai";
import { define } from "../../workspace-server/support/logical-clusters.ts";
import { isReady, MERGE, type Mounted, reasonOf, secret, startMounted, startTarget } from "./support/mounted.ts";

const KEEP = "x-kubernetes-preserve-unknown-fields";
const REMOTES = "/apis/example.dev/v1/remotes";
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
        schema: { openAPIV3Schema: { type: "object", [KEEP]: true } },
        subresources: { status: {} },
      },
    ],
  },
};

describe("a mount of", function () {
  this.timeout(60_000);
  let mounted: Mounted;

  before(async () => {
    mounted = await startMounted();
  });

  after(async () => mounted?.[Symbol.asyncDispose]());

  describe("the type Redirect", () => {
    it("redirects callers to the workspace, with path and query unchanged", async () => {
      await mounted.make("Mount", "away", { spec: { type: "Redirect", path: "root:other" } });
      const { status } = await mounted.until("away", isReady);
      expect(status.URL).to.equal(`${mounted.server.url}/services/mounts/${mounted.team}/away`);
      for (const call of ["GET /api/v1/namespaces/%61?x=%2F", "DELETE /api/v1/namespaces/%61?x=%2F"] as const) {
        const answer = await mounted.at("away").send(call);
        expect([answer.status, answer.headers.location], call).to.deep.equal([
          307,
          "/clusters/root:other/api/v1/namespaces/%61?x=%2F",
        ]);
      }
      const upgrade = { connection: "Upgrade", upgrade: "websocket" };
      const answer = await mounted.at("away").get("/api/v1/namespaces/a/pods/b/exec", { headers: upgrade });
      expect([answer.status, answer.headers.location]).to.deep.equal([
        307,
        "/clusters/root:other/api/v1/namespaces/a/pods/b/exec",
      ]);
      expect((await mounted.at("away").get("/api", { user: "bob" })).status).to.equal(403);
    });
  });

  describe("the type Workspace", () => {
    const mount = (name: string, path: string) => mounted.make("Mount", name, { spec: { type: "Workspace", path } });
    const show = (name: string, from: string) =>
      mounted.make("Workspace", name, {
        spec: { mount: { ref: { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name: from } } },
      });

    it("has the URL of the workspace once that exists", async () => {
      await mount("sibling", "root:team:late");
      expect((await mounted.until("sibling", (one) => reasonOf(one) === "TargetNotFound")).status.URL).to.equal(
        undefined,
      );
      await mounted.make("Workspace", "late", { spec: { type: { name: "universal", path: "root" } } });
      const { status } = await mounted.until("sibling", isReady);
      expect(status.URL).to.equal(`${mounted.server.url}/clusters/root:team:late`);
      await mount("top", "root");
      await mounted.until("top", isReady);
      expect((await mounted.at("top").get("/api")).body.message).to.equal(
        'the mount "top" is of the type Workspace: it is served at /clusters/root',
      );
    });

    it("reports the cycle on each mount in it", async () => {
      await mount("one", "root:team:two");
      await mount("two", "root:team:three");
      await mount("three", "root:team:one");
      await mount("self", "root:team:self");
      for (const name of ["one", "two", "three", "self"]) await show(name, name);
      for (const name of ["one", "two", "three", "self"]) {
        const found = await mounted.until(name, (one) => reasonOf(one) === "Cycle");
        expect(found.status.phase, name).to.equal("Unknown");
      }
      const path = `/clusters/${mounted.team}/apis/tenancy.kcp.io/v1alpha1/workspaces/three` as const;
      expect((await mounted.server.send(`DELETE ${path}`, undefined, { user: "root" })).status).to.equal(200);
      for (const name of ["one", "two"])
        await mounted.until(name, (one) => reasonOf(one) === "TargetNotReady" || reasonOf(one) === "TargetNotFound");
    });
  });

  describe("an object that follows kcp's contract", () => {
    it("is Ready and has the object's URL, with the credential of a Secret, and reacts to changes", async () => {
      await using target = await startTarget();
      await mounted.make("Secret", "credential", secret({ token: "of-ours", "ca.crt": target.authority.ca }));
      const ref = { apiVersion: "example.dev/v1", kind: "Remote", name: "far" };
      await mounted.make("Mount", "far", { spec: { ref, secretRef: { namespace: "default", name: "credential" } } });
      await mounted.until("far", (one) => reasonOf(one) === "RefNotFound");
      await define(mounted.server, mounted.team, [CRD]);
      const at = `/clusters/${mounted.team}${REMOTES}` as const;
      const made = await mounted.server.send(
        `POST ${at}`,
        { ...ref, name: undefined, metadata: { name: "far" } },
        { user: "root" },
      );
      expect(made.status, made.text).to.equal(201);
      await mounted.until("far", (one) => reasonOf(one) === "RefNotReady");
      const say = async (status: object) => {
        const answer = await mounted.server.send(`PATCH ${at}/far/status`, { status }, MERGE);
        expect(answer.status, answer.text).to.equal(200);
      };
      await say({ phase: "Ready" });
      await mounted.until("far", (one) => reasonOf(one) === "URLMissing");
      await say({ URL: "https://user@cluster.example" });
      await mounted.until("far", (one) => reasonOf(one) === "URLInvalid");
      await say({ URL: `${target.url}/below` });
      await mounted.until("far", isReady);
      expect((await mounted.at("far").get("/api")).text).to.equal("GET /below/api");
      await say({ phase: "Connecting" });
      await mounted.until("far", (one) => one.status.phase === "Connecting");
      expect((await mounted.at("far").get("/api")).status).to.equal(503);
    });
  });

  describe("an invalid object name", () => {
    it("is not found, and no other object is used instead", async () => {
      await mounted.make("Secret", "real", secret({ token: "of-ours" }));
      for (const [at, name] of [
        "real,metadata.namespace=default",
        "real=real",
        "..",
        "a/b",
        "real?watch=true",
      ].entries()) {
        const ref = { apiVersion: "v1", kind: "Secret", namespace: "default", name };
        await mounted.make("Mount", `odd-${at}`, { spec: { ref } });
        await mounted.until(`odd-${at}`, (one) => reasonOf(one) === "SecretNotFound");
      }
      for (const [at, namespace] of ["..", "a/b", "*"].entries()) {
        const ref = { apiVersion: "v1", kind: "Secret", namespace, name: "real" };
        await mounted.make("Mount", `odd-in-${at}`, { spec: { ref } });
        await mounted.until(`odd-in-${at}`, (one) => reasonOf(one) === "SecretNotFound");
      }
      const ref = { apiVersion: "a/b/c", kind: "Remote", name: "far" };
      await mounted.make("Mount", "odd-version", { spec: { ref } });
      await mounted.until("odd-version", (one) => reasonOf(one) === "RefNotFound");
    });
  });

  describe("an unknown type", () => {
    it("lists the known types", async () => {
      await mounted.make("Mount", "odd", { spec: { type: "Tape" } });
      const found = await mounted.until("odd", (one) => reasonOf(one) === "TypeUnknown");
      expect(found.status.conditions[0].message).to.equal(
        "spec.type: unknown mount type Tape: use one of URL, Redirect, Workspace",
      );
    });
  });
});
