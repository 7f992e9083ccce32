// Spaces by name: lookup, errors of unusable Spaces, rotated credentials, and closing.
import { CoreV1Api, Watch } from "@kubernetes/client-node";
import type { ApiError } from "@virtual-workspaces/apimachinery";
import { type FollowSpacesOptions, followSpaces, namespaceOf, Space, type Spaces } from "@virtual-workspaces/spaces";
import { kubeConfig } from "@virtual-workspaces/spaces/client-node";
import { expect } from "chai";
import { Lent, when } from "../support/lent.ts";
import { isReady, MAP, NAMESPACE } from "../support/management.ts";

const USER = {
  group: "authentication.k8s.io",
  version: "v1",
  kind: "SelfSubjectReview",
  plural: "selfsubjectreviews",
  scope: "Cluster",
} as const;

describe("client of Spaces", function () {
  this.timeout(60_000);
  let lent: Lent;
  let spaces: Spaces;
  const failures: unknown[] = [];

  before(async () => {
    lent = await Lent.start("one", "two");
  });
  after(() => lent?.[Symbol.asyncDispose]());
  afterEach(async () => {
    await spaces[Symbol.asyncDispose]();
    failures.length = 0;
  });

  const follow = async (options: Partial<FollowSpacesOptions> = {}): Promise<Spaces> => {
    const onError = ({ error }: { readonly error: unknown }): void => void failures.push(error);
    spaces = followSpaces({ client: lent.management.client, namespace: "default", onError, ...options });
    await spaces.synced;
    return spaces;
  };
  const fault = (name: string): ApiError => {
    try {
      spaces.space(name);
    } catch (error) {
      return error as ApiError;
    }
    throw new Error(`there is a space ${name}`);
  };
  const isReadyNow = (name: string): boolean =>
    spaces.states.some((one) => one.name === `default/${name}` && one.ready);
  const whoIn = async (name: string): Promise<string> => {
    const { status } = (await spaces.client(name).resource(USER).create({ metadata: {} })) as never as Reviewed;
    return status.userInfo.username;
  };

  it("finds Spaces by name and explains why one cannot be used", async () => {
    await follow({ namespace: undefined as never });
    expect(spaces.space("default/one").name).to.equal("default/one");
    expect(fault("one")).to.include({ code: 404 });
    expect(fault("one").message).to.equal('spaces.space.kubestellar.io "spaceprovider-default/one" not found');
    expect(fault("default/none")).to.include({ code: 404 });
    for (const wrong of ["a/b/c", "", "/", "a/", "/a", "A/b", "../x"]) expect(fault(wrong)).to.include({ code: 400 });
    expect(fault("A/b").message).to.match(/^invalid space name "A\/b": use <namespace>\/<name>, or a name/);
    await lent.management.make("default", "late", { Type: "imported", accessscopetype: "External" });
    await lent.management.until("default", "late", (space) => space?.status?.Phase === "NotReady");
    await when(spaces, () => spaces.states.some(({ reason }) => reason === "AccessMissing"));
    expect(fault("default/late")).to.include({ code: 503 });
    expect(fault("default/late").message).to.match(/default\/late is not available: AccessMissing: the Secret/);
    await lent.management.keep("external-late", { kubeconfig: "clusters: [" });
    await when(spaces, () => spaces.states.some(({ message }) => message.includes("neither YAML nor JSON")));
    const waited = spaces.when("default/late");
    await lent.management.keep("external-late", { kubeconfig: lent.management.kubeconfig("root:two") });
    expect((await waited).name).to.equal("default/late");
    expect(spaces.engaged.map(({ name }) => name)).to.eql(["default/late", "default/one", "default/two"]);
    expect(await whoIn("default/late")).to.equal("shard-admin");
    await using near = followSpaces({ client: lent.management.client, scope: "incluster", onError: () => undefined });
    await near.synced;
    expect(near.states.find(({ name }) => name === "default/late")).to.include({ ready: false, reason: "NoAccess" });
    await lent.remove("late");
    await when(spaces, () => spaces.states.length === 2);
    expect(fault("default/late")).to.include({ code: 404 });
    expect(failures).to.eql([]);
  });

  it("waits for a Space until its signal aborts or the Spaces are closed", async () => {
    await follow();
    const stop = new AbortController();
    const told = spaces.when("none", { signal: stop.signal }).catch((error) => error);
    const closed = spaces.when("none").catch((error) => error);
    stop.abort(new Error("enough"));
    expect((await told).message).to.equal("enough");
    await spaces[Symbol.asyncDispose]();
    expect((await closed).message).to.equal("space default/none: the Spaces are closed");
    expect(await spaces.when("A b").catch(({ code }) => code)).to.equal(400);
  });

  it("returns one client per Space, which uses the current credential", async () => {
    await follow();
    const client = spaces.client("one");
    expect(await whoIn("one")).to.equal("shard-admin");
    const made = (): string => spaces.of("one", tokenOf);
    expect([made(), made()]).to.eql(["root", "root"]);
    const first = spaces.of("one", objectOf);
    expect(spaces.of("one", objectOf)).to.equal(first);
    expect(spaces.of("two", objectOf)).not.to.equal(first);
    await lent.rotate("one", "alice");
    await when(spaces, () => made() === "alice");
    expect(spaces.client("one")).to.equal(client);
    expect(await whoIn("one").catch(({ code }) => code)).to.equal(403); // alice has no rights there.
    expect(spaces.of("one", objectOf)).not.to.equal(first);
    await lent.rotate("one", "admin");
    await when(spaces, () => made() === "admin");
    expect(await whoIn("one")).to.equal("kcp-admin");
    await lent.rotate("one", "root");
    await when(spaces, () => made() === "root");
  });

  it("keeps existing clients of a Space that is not Ready, and rejects new calls for one", async () => {
    await follow();
    const client = spaces.client("one");
    await lent.conceal("one");
    await when(spaces, () => !isReadyNow("one"));
    expect(fault("one")).to.include({ code: 503 });
    expect(spaces.engaged.map(({ name }) => name)).to.eql(["default/two"]);
    expect((await client.resource(NAMESPACE).get("default")).metadata.name).to.equal("default");
    await lent.rotate("one", "root");
    await when(spaces, () => isReadyNow("one"));
    expect(spaces.client("one")).to.equal(client);
    expect(failures).to.eql([]);
  });

  it("connects to rewritten URLs and rejects what the rewrite rejects", async () => {
    const url = lent.management.server.url;
    await follow({
      rewrite: (address, { metadata }) => {
        if (metadata.name === "two") throw new Error("not at such an address");
        return address.replace(/^http:\/\/[^/]+/, url);
      },
    });
    expect(spaces.space("one").config.server).to.equal(`${url}/clusters/root:one`);
    await lent.wires.get("one")?.[Symbol.asyncDispose]();
    expect((await spaces.client("one").resource(NAMESPACE).get("default")).metadata.name).to.equal("default");
    expect(fault("two").message).to.equal("space default/two is not available: Refused: not at such an address");
    expect(failures.map(String)).to.eql(["Error: not at such an address"]);
    await lent.show("one");
  });

  it("opens connections with the given dialer", async () => {
    const { client } = lent.management;
    const asked: string[] = [];
    await using guarded = followSpaces({
      client,
      onError: () => undefined,
      dial:
        ({ metadata }) =>
        async ({ host, port }) => {
          asked.push(`${metadata.name} ${host} ${port > 0}`);
          throw new Error("nobody goes there from here");
        },
    });
    const one = await guarded.when("default/one");
    const refused = await one.client
      .resource(MAP)
      .list({ limit: 1 })
      .catch((error) => error);
    expect(String(refused.cause ?? refused)).to.include("nobody goes there from here");
    expect(new Set(asked)).to.eql(new Set(["one 127.0.0.1 true"]));
  });

  it("yields to other work while many Spaces are connected, and serves a requested Space at once", async () => {
    for (const asks of [false, true]) {
      let turn = 0;
      let isOver = false;
      const count = (): void => {
        turn += 1;
        if (!isOver) setImmediate(count);
      };
      count();
      const looked: number[] = [];
      await follow({
        rewrite: (url) => {
          looked.push(turn);
          // The second Space has changed again by then.
          if (asks && looked.length === 1) queueMicrotask(() => spaces.engaged);
          for (const end = performance.now() + 15; performance.now() < end; );
          return url;
        },
      });
      isOver = true;
      expect(looked).to.have.length(2);
      expect(looked[0] === looked[1]).to.equal(asks);
      expect(spaces.engaged.map(({ name }) => name)).to.eql(["default/one", "default/two"]);
      await spaces[Symbol.asyncDispose]();
    }
  });

  it("needs access only to the selected namespace", async () => {
    const { client } = lent.management;
    await client
      .resource(ROLES)
      .in("default")
      .create({
        metadata: { name: "user" },
        rules: [
          { apiGroups: [Space.group], resources: [Space.plural], verbs: ["list", "watch"] },
          { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] },
        ],
      } as never);
    const subjects = [{ kind: "User", apiGroup: ROLES.group, name: "alice" }];
    const roleRef = { kind: "Role", apiGroup: ROLES.group, name: "user" };
    await client
      .resource(BINDINGS)
      .in("default")
      .create({ metadata: { name: "user" }, subjects, roleRef } as never);
    await client.resource(CLUSTER_BINDINGS).create({
      metadata: { name: "access" },
      subjects,
      roleRef: { ...roleRef, kind: "ClusterRole", name: "system:kcp:workspace:access" },
    } as never);
    await using alice = lent.management.as("alice");
    await follow({ client: alice, labels: "!hidden" });
    expect(spaces.states.map(({ name }) => name)).to.eql(["default/one", "default/two"]);
    await lent.management.client
      .resource(Space)
      .in("default")
      .mergePatch("two", { metadata: { labels: { hidden: "" } } });
    await when(spaces, () => spaces.states.length === 1);
    expect(fault("two")).to.include({ code: 404 });
    await lent.management.client
      .resource(Space)
      .in("default")
      .mergePatch("two", { metadata: { labels: { hidden: null } } });
    await when(spaces, () => spaces.states.length === 2);
    await spaces[Symbol.asyncDispose]();
    const told = Promise.withResolvers<ApiError>();
    spaces = followSpaces({ client: alice, onError: ({ error }) => told.resolve(error as ApiError) });
    expect(await told.promise).to.include({ code: 403 });
  });

  it("lets unchanged code of the official client work across Spaces", async () => {
    await follow();
    await lent.put("one", "menu", { soup: "leek" });
    await lent.put("two", "menu", { soup: "pea" });
    const config = kubeConfig(spaces);
    const core = config.makeApiClient(CoreV1Api);
    const soup = async (): Promise<string | undefined> =>
      (await core.readNamespacedConfigMap({ name: "menu", namespace: "default" })).data?.["soup"];
    expect(await Promise.all(["one", "two", "one"].map((name) => spaces.within(name, soup)))).to.eql([
      "leek",
      "pea",
      "leek",
    ]);
    expect(await soup().catch(({ message }) => message)).to.match(/^no Space is selected: call this in spaces\.within/);
    expect(() => spaces.within("none", soup)).to.throw("not found");
    const seen = Promise.withResolvers<string>();
    const watching = await spaces.within("two", () =>
      new Watch(config).watch(
        "/api/v1/namespaces/default/configmaps",
        {},
        (type, { metadata }) => metadata.name === "menu" && seen.resolve(type),
        () => undefined,
      ),
    );
    expect(await seen.promise).to.equal("ADDED");
    watching.abort();
    await lent.rotate("two", "bob");
    await when(spaces, () => spaces.of("two", tokenOf) === "bob");
    expect(await spaces.within("two", soup).catch(({ code }) => code)).to.equal(403);
    await lent.rotate("two", "root");
  });

  it("leaves nothing open after it is closed or its signal aborts", async () => {
    const stop = new AbortController();
    await follow({ signal: stop.signal });
    const client = spaces.client("one");
    stop.abort();
    await spaces[Symbol.asyncDispose]();
    const closed = await client
      .resource(MAP)
      .in("default")
      .list()
      .catch((error) => error);
    expect(closed).to.be.instanceOf(Error);
    await follow({ signal: AbortSignal.abort() }).catch(() => undefined);
    await spaces[Symbol.asyncDispose]();
    expect(spaces.engaged).to.eql([]);
  });

  it("returns the namespace of a provider", async () => {
    await lent.management.provide("made");
    await lent.management.untilProvider("made", (one) => one?.status?.Phase === "Ready");
    await lent.management.make(namespaceOf("made"), "own");
    await lent.management.until(namespaceOf("made"), "own", isReady);
    await follow({ namespace: namespaceOf("made") });
    expect(spaces.space("own").name).to.equal("spaceprovider-made/own");
    expect(await whoIn("own")).to.equal("system:serviceaccount:default:space-access");
  });
});

interface Reviewed {
  readonly status: { readonly userInfo: { readonly username: string } };
}

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const ROLES = { ...RBAC, kind: "Role", plural: "roles", scope: "Namespaced" } as const;
const BINDINGS = { ...RBAC, kind: "RoleBinding", plural: "rolebindings", scope: "Namespaced" } as const;
const CLUSTER_BINDINGS = {
  ...RBAC,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  scope: "Cluster",
} as const;

const tokenOf = ({ config }: { readonly config: { readonly credential?: { readonly token?: string } } }): string =>
  config.credential?.token ?? "";
const objectOf = (space: object): object => ({ ...space });
