// Default content of namespaces and token Secrets, reconciled over collections of a real server.
import { ApiError, type KubeObject } from "@virtual-workspaces/apimachinery";
import { type Collection, defineResource } from "@virtual-workspaces/framework";
import { expect } from "chai";
import type {
  KeptKey,
  KeptObjects,
} from "../../../packages/workspace-server/src/service-accounts/namespace-defaults.ts";
import { NamespaceDefaults } from "../../../packages/workspace-server/src/service-accounts/namespace-defaults.ts";
import { TokenSecrets } from "../../../packages/workspace-server/src/service-accounts/token-secrets.ts";
import { AccountServer } from "../support/accounts.ts";

const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } },
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const place = { cluster: "one", namespace: "default" };

/** Collections as controllers see them, with a record of writes. */
class Objects implements KeptObjects {
  readonly configMaps = ConfigMap.collection();
  readonly server: AccountServer;
  readonly writes: string[] = [];
  /** Error that writes throw. */
  fault: ApiError | undefined;

  constructor(server: AccountServer) {
    this.server = server;
  }

  get({ name, ...key }: KeptKey): KubeObject | undefined {
    return this.#in(key).get(name) as KubeObject | undefined;
  }

  create(key: KeptKey, object: KubeObject): void {
    this.#write("create", key, object);
  }

  update(key: KeptKey, object: KubeObject): void {
    this.#write("update", key, object);
  }

  delete({ name, ...key }: KeptKey, { uid }: { readonly uid: string }): void {
    this.writes.push(`delete ${key.resource}/${name}`);
    expect(this.#in(key).get(name)?.metadata.uid).to.equal(uid);
    this.#in(key).delete(name);
  }

  #write(verb: string, { name, ...key }: KeptKey, object: KubeObject): void {
    this.writes.push(`${verb} ${key.resource}/${name}`);
    if (this.fault !== undefined) throw this.fault;
    const { apiVersion: _version, kind: _kind, metadata, ...content } = object;
    const { labels = {}, annotations = {} } = metadata;
    this.#in(key).set(name, content, { labels, annotations });
  }

  #in({ resource, cluster, namespace }: Omit<KeptKey, "name">): ReturnType<Collection<object>["in"]> {
    const all = { configmaps: this.configMaps, secrets: this.server.secrets, serviceaccounts: this.server.accounts };
    return (all[resource] as unknown as Collection<object>).in(cluster, namespace);
  }
}

describe("controllers of service accounts", () => {
  let server: AccountServer;
  let objects: Objects;
  let ca: string;
  beforeEach(async () => {
    server = await AccountServer.start();
    objects = new Objects(server);
    ca = "CA";
  });
  afterEach(() => server[Symbol.asyncDispose]());
  const since = (): string[] => objects.writes.splice(0);

  describe("of namespaces", () => {
    const namespace: KubeObject = {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "default" },
      status: { phase: "Active" },
    };
    const reconcile = (one: KubeObject = namespace): Promise<void> =>
      new NamespaceDefaults({ objects, rootCa: () => ca }).reconcile("one", one);

    it("create the default content once, and restore it after deletion or change", async () => {
      await reconcile();
      expect(since()).to.deep.equal(["create serviceaccounts/default", "create configmaps/kube-root-ca.crt"]);
      await reconcile();
      expect(since()).to.deep.equal([]);
      const map = objects.configMaps.in("one", "default");
      expect(map.get("kube-root-ca.crt")).to.have.deep.property("data", { "ca.crt": "CA" });
      map.set("kube-root-ca.crt", { data: { "ca.crt": "evil", more: "x" } }, { labels: { own: "1" } });
      server.accounts.in("one", "default").delete("default");
      await reconcile();
      expect(since()).to.deep.equal(["create serviceaccounts/default", "update configmaps/kube-root-ca.crt"]);
      expect(map.get("kube-root-ca.crt")).to.have.deep.property("data", { "ca.crt": "CA" });
      expect(map.get("kube-root-ca.crt")?.metadata.labels).to.deep.equal({ own: "1" });
      ca = "NEXT";
      await reconcile();
      expect(since()).to.deep.equal(["update configmaps/kube-root-ca.crt"]);
    });

    it("ignore namespaces under deletion", async () => {
      await reconcile({ ...namespace, status: { phase: "Terminating" } });
      await reconcile({ ...namespace, metadata: { name: "default", deletionTimestamp: "2026-01-01T00:00:00Z" } });
      expect(since()).to.deep.equal([]);
      objects.fault = ApiError.alreadyExists({ group: "", resource: "serviceaccounts" }, "default");
      await reconcile();
      objects.fault = ApiError.internalError("away");
      expect(await reconcile().catch((error: Error) => error.message)).to.match(/away/);
    });
  });

  describe("of Secrets with tokens", () => {
    const type = "kubernetes.io/service-account-token";
    const make = (annotations: Record<string, string>, content: object = { type }): KubeObject =>
      server.secrets.in("one", "default").set("key", content, { annotations }) as KubeObject;
    const reconcile = (): Promise<void> =>
      new TokenSecrets({ objects, minter: server.minter, rootCa: () => ca }).reconcile({ ...place, name: "key" });
    const data = (): Record<string, string> => server.secrets.in("one", "default").get("key")?.data ?? {};
    const own = { "kubernetes.io/service-account.name": "builder" };

    it("fill in a valid token, once", async () => {
      const { uid } = server.account().metadata;
      make(own, { type, data: { extra: base64("stays") } });
      await reconcile();
      const { token = "", ...rest } = data();
      expect(rest).to.deep.equal({ extra: base64("stays"), namespace: base64("default"), "ca.crt": base64("CA") });
      const bearer = Buffer.from(token, "base64").toString();
      expect((await server.ask(bearer))?.uid).to.equal(uid);
      const { annotations } = server.secrets.in("one", "default").get("key")?.metadata ?? {};
      expect(annotations).to.deep.include({ ...own, "kubernetes.io/service-account.uid": uid });
      expect(since()).to.deep.equal(["update secrets/key"]);
      ca = "NEXT";
      await reconcile();
      await reconcile();
      expect([since(), data()["token"], data()["ca.crt"]]).to.deep.equal([
        ["update secrets/key"],
        token,
        base64("NEXT"),
      ]);
    });

    it("delete Secrets of accounts that are gone or replaced", async () => {
      make(own);
      await reconcile();
      expect(since()).to.deep.equal(["delete secrets/key"]);
      server.account();
      make({ ...own, "kubernetes.io/service-account.uid": "of before" });
      await reconcile();
      await reconcile();
      expect(since()).to.deep.equal(["delete secrets/key"]);
    });

    it("ignore other Secrets", async () => {
      make({});
      await reconcile();
      make(own, { type: "Opaque" });
      await reconcile();
      expect(since()).to.deep.equal([]);
    });
  });
});
