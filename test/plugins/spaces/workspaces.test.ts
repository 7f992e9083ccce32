// Spaces that are workspaces: created, discovered, adopted, accessed, rotated and deleted.
import { Workspace } from "@virtual-workspaces/kcp";
import { namespaceOf, Space, SpaceProviderDesc, workspacesProvider } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import {
  conditionOf,
  isReady,
  MAP,
  Management,
  messageOf,
  NAMESPACE,
  SECRET,
  type SecretData,
} from "./support/management.ts";

const HERE = namespaceOf("here");

describe("Spaces that are workspaces", function () {
  this.timeout(60_000);
  let management: Management;

  before(async () => {
    management = await Management.start();
  });
  after(() => management?.[Symbol.asyncDispose]());

  const workspaces = () => management.below.resource(Workspace);
  const names = async (): Promise<readonly (string | undefined)[]> =>
    (await workspaces().list()).items.map(({ metadata }) => metadata.name);

  it("are created with objects, reached by Secrets as administrator of them only, and deleted with the objects", async () => {
    await using manager = management.manager();
    await manager.started;
    await management.provide("here");
    const provider = await management.untilProvider("here", (one) => one?.status?.Phase === "Ready");
    expect(conditionOf(provider, "Ready")).to.equal("True");
    await management.make(HERE, "one");
    const one = await management.until(HERE, "one", isReady);
    expect(one?.spec).to.deep.equal({ SpaceProviderDescName: "here", Type: "managed", accessscopetype: "Both" });
    expect(one?.metadata.finalizers).to.deep.equal(["SpaceFinalizer"]);
    expect(one?.status?.inClusterSecretRef).to.deep.equal({ name: "incluster-one", namespace: HERE });
    expect(one?.status?.externalSecretRef).to.deep.equal({ name: "external-one", namespace: HERE });
    const workspace = await workspaces().get("one");
    expect(one?.status?.spaceID).to.equal(workspace.spec.cluster);
    for (const scope of ["inClusterSecretRef", "externalSecretRef"] as const) {
      const client = await management.reached(one as never, scope);
      const made = await client
        .resource(MAP)
        .in("default")
        .create({ metadata: { name: scope.toLowerCase() } });
      expect(made.metadata.name).to.equal(scope.toLowerCase());
      // Security: in another workspace the credential has no rights.
      const refused = await client
        .cluster("root:mgmt")
        .resource(MAP)
        .in("default")
        .list()
        .catch((error) => error);
      expect(refused.code).to.be.oneOf([401, 403]);
    }
    await management.client.resource(Space).in(HERE).delete("one");
    await management.until(HERE, "one", (space) => space === undefined);
    expect(await names()).not.to.include("one");
    const secrets = await management.client.resource(SECRET).in(HERE).list();
    expect(secrets.items.map(({ metadata }) => metadata.name)).not.to.include.members([
      "incluster-one",
      "external-one",
    ]);
    await management.removeProvider("here");
  });

  it("are discovered by a prefix, appear and disappear with their workspaces, and can be adopted and released", async () => {
    await using manager = management.manager();
    await manager.started;
    await management.provide("found", { SpacePrefixForDiscovery: "f-" });
    const there = namespaceOf("found");
    await workspaces().create({ metadata: { name: "f-one" } });
    await workspaces().create({ metadata: { name: "other" } });
    const one = await management.until(there, "f-one", isReady);
    expect(one?.spec).to.include({ Type: "unmanaged", SpaceProviderDescName: "found" });
    expect(one?.metadata.finalizers).to.equal(undefined);
    const client = await management.reached(one as never);
    await client
      .resource(MAP)
      .in("default")
      .create({ metadata: { name: "a" } });
    // A user deletes the object: the workspace stays, and the object comes back.
    const { uid } = one?.metadata ?? {};
    await management.client.resource(Space).in(there).delete("f-one");
    const back = await management.until(there, "f-one", (space) => isReady(space) && space?.metadata.uid !== uid);
    expect(back?.status?.spaceID).to.equal(one?.status?.spaceID);
    // An adopted workspace is deleted with its object; a released one is not.
    const spaces = management.client.resource(Space).in(there);
    await spaces.mergePatch("f-one", { spec: { Type: "managed" } });
    await management.until(there, "f-one", (space) => space?.metadata.finalizers?.length === 1);
    await spaces.mergePatch("f-one", { spec: { Type: "unmanaged" } });
    await management.until(there, "f-one", (space) => space?.metadata.finalizers === undefined);
    expect(await names()).to.include("f-one");
    await workspaces().delete("f-one");
    await management.until(there, "f-one", (space) => space === undefined);
    const all = await spaces.list();
    expect(all.items.map(({ metadata }) => metadata.name)).to.deep.equal([]);
    await management.removeProvider("found");
  });

  it("are below other workspaces if Spaces name them", async () => {
    await using manager = management.manager();
    await manager.started;
    await management.provide("deep", { SpacePrefixForDiscovery: "none" });
    await workspaces().create({ metadata: { name: "team" } });
    const there = namespaceOf("deep");
    await management.untilProvider("deep", (one) => one?.status?.Phase === "Ready");
    await management.make(there, "app", {
      metadata: { annotations: { "kubestellar.io/space-path": "root:below:team" } },
    });
    const app = await management.until(there, "app", isReady);
    const client = await management.reached(app as never);
    expect(client.clusterName).to.equal("root:below:team:app");
    await management.client.resource(Space).in(there).delete("app");
    await management.until(there, "app", (space) => space === undefined);
    await management.removeProvider("deep");
  });

  it("have tokens that are rotated in time", async () => {
    let clock = Date.now();
    const now = Date.now;
    Date.now = () => clock;
    try {
      await using manager = management.manager({ types: { workspaces: workspacesProvider({ tokenLifetime: 900 }) } });
      await manager.started;
      await management.provide("turning", { SpacePrefixForDiscovery: "none" });
      const there = namespaceOf("turning");
      await management.untilProvider("turning", (one) => one?.status?.Phase === "Ready");
      await management.make(there, "turning");
      await management.until(there, "turning", isReady);
      const secrets = management.client.resource(SECRET).in(there);
      const before = await secrets.get("external-turning");
      clock += 301_000;
      await workspaces().mergePatch("turning", { metadata: { labels: { looked: "at" } } });
      for await (const { type, object } of secrets.watch({ fields: "metadata.name=external-turning" }))
        if (type !== "BOOKMARK" && object.data?.["kubeconfig"] !== before.data?.["kubeconfig"]) break;
      await management.client.resource(Space).in(there).delete("turning");
      await management.until(there, "turning", (space) => space === undefined);
      await management.removeProvider("turning");
    } finally {
      Date.now = now;
    }
  });

  it("are listed again after a watch has started, since the earlier list may be older", async () => {
    const { log } = console;
    const type = workspacesProvider({ own: { client: management.below, url: management.server.url } });
    const over = new AbortController();
    const provider = await type.open({ name: "it", secret: {}, log, signal: over.signal });
    const changes = provider.watch?.({ parent: undefined, signal: over.signal })[Symbol.asyncIterator]();
    expect((await changes?.next())?.value).to.eql({});
    const next = changes?.next();
    await workspaces().create({ metadata: { name: "next" } });
    expect((await next)?.value).to.eql({ name: "next" });
    over.abort();
    await workspaces().delete("next");
  });

  it("are reached at the server's current address after a restart at another one", async () => {
    const { url } = management.server;
    const at = (place: string) => ({
      workspaces: workspacesProvider({ own: { client: management.below, url: place } }),
    });
    const there = namespaceOf("moving");
    const secrets = management.client.resource(SECRET).in(there);
    const moved = url.replace("127.0.0.1", "localhost");
    {
      await using manager = management.manager({ types: at(url) });
      await manager.started;
      const spec = { ProviderType: "workspaces", SpacePrefixForDiscovery: "none" };
      await management.client.resource(SpaceProviderDesc).create({ metadata: { name: "moving" }, spec });
      await management.untilProvider("moving", (one) => one?.status?.Phase === "Ready");
      await management.make(there, "moving");
      await management.until(there, "moving", isReady);
    }
    await using manager = management.manager({ types: at(moved) });
    await manager.started;
    const kubeconfig = ({ data }: SecretData): string => Buffer.from(data?.["kubeconfig"] ?? "", "base64").toString();
    for await (const { type, object } of secrets.watch({ fields: "metadata.name=external-moving" }))
      if (type !== "BOOKMARK" && kubeconfig(object).includes(`${moved}/clusters/`)) break;
    await management.removeSpace(there, "moving");
    await management.removeProvider("moving");
  }).timeout(10_000);

  it("show what a provider lacks and continue when it is there; managed ones stay when it is deleted", async () => {
    await using manager = management.manager();
    await manager.started;
    const providers = management.client.resource(SpaceProviderDesc);
    const problem = async (name: string): Promise<string> => {
      const provider = await management.untilProvider(
        name,
        (one) => conditionOf(one, "Ready").startsWith("False") && !conditionOf(one, "Ready").endsWith("Initializing"),
      );
      return `${conditionOf(provider, "Ready")}: ${messageOf(provider, "Ready")}`;
    };
    await providers.create({ metadata: { name: "odd" }, spec: { ProviderType: "odd" } });
    expect(await problem("odd")).to.equal(
      'False UnknownType: spec.ProviderType: unknown type "odd": use one of workspaces',
    );
    await providers.create({ metadata: { name: "bare" }, spec: { ProviderType: "workspaces" } });
    expect(await problem("bare")).to.match(
      /^False SecretMissing: spec\.secretRef: required for type "workspaces": name a Secret/,
    );
    const secretRef = { name: "late", namespace: "default" };
    await providers.create({ metadata: { name: "late" }, spec: { ProviderType: "workspaces", secretRef } });
    expect(await problem("late")).to.equal(
      "False SecretNotFound: spec.secretRef: the Secret default/late does not exist: create it",
    );
    await management.keep("late", { kubeconfig: "}" });
    await management.untilProvider("late", (one) => conditionOf(one, "Ready") === "False OpenFailed");
    await management.keep("late", { kubeconfig: management.kubeconfig("root:below", "bob") });
    await management.untilProvider("late", (one) => conditionOf(one, "Ready") === "False ProviderUnreachable");
    await management.keep("late", { kubeconfig: management.kubeconfig("root:below") });
    await management.untilProvider(
      "late",
      (one) => one?.status?.Phase === "Ready" && conditionOf(one, "Ready") === "True",
    );

    const there = namespaceOf("late");
    await management.make(there, "stays");
    await management.until(there, "stays", isReady);
    await workspaces().create({ metadata: { name: "seen" } });
    await management.until(there, "seen", isReady);
    await providers.delete("late");
    await management.untilProvider("late", (one) => one === undefined);
    await management.until(there, "seen", (space) => space === undefined);
    const left = await management.until(there, "stays", (space) => space?.status?.Phase === "NotReady");
    expect(conditionOf(left, "Ready")).to.equal("False ProviderNotFound");
    expect(await names()).to.include("stays");
    // Created again, the provider has its earlier Spaces and discovers others.
    await providers.create({ metadata: { name: "late" }, spec: { ProviderType: "workspaces", secretRef } });
    await management.until(there, "stays", isReady);
    await management.until(there, "seen", isReady);
    await management.client.resource(Space).in(there).delete("stays");
    await management.until(there, "stays", (space) => space === undefined);
    await workspaces().delete("seen");
    await management.until(there, "seen", (space) => space === undefined);
    for (const name of ["team", "other"]) await workspaces().delete(name);
    await management.untilProvider("late", (one) => one?.status?.spaces === 0);
    await providers.delete("late");
    await management.untilProvider("late", (one) => one === undefined);
    const namespaces = management.client.resource(NAMESPACE);
    for (;;) if ((await namespaces.get(there).catch(({ code }) => code)) === 404) break;
  });
});
