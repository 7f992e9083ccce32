// The view in a separate server, with the credentials of an administrator: the identities of its requests, and its behavior while
// the upstream is away.
import { apiExportView } from "@virtual-workspaces/apiexport";
import { sameCaller } from "@virtual-workspaces/forwarding";
import { staticTokens } from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import { Upstream } from "@virtual-workspaces/transport";
import { builtInKinds } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { type PlainServer, startPlain } from "../../_support/plain.ts";
import { type Relay, startRelay } from "../../_support/relay.ts";
import { untilAnswer } from "../../_support/until.ts";
import { startWorkspaces, type Workspaces } from "../../workspace-server/support/workspaces.ts";
import { MAPS, map, namesOf, Provider, WIDGETS, widget } from "./support/provider.ts";

const CLAIM = { group: "", resource: "configmaps", identityHash: "", verbs: ["*"] };

interface Asked {
  readonly verb: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly impersonatedUser?: {
    readonly username: string;
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly requestURI: string;
  readonly stage: string;
}

/** Waits for an entry of the audit log. */
async function written<T>(find: () => T | undefined): Promise<T | undefined> {
  for (const end = performance.now() + 5_000; find() === undefined && performance.now() < end; )
    await new Promise((resolve) => setImmediate(resolve));
  return find();
}

describe("the view of an export in a separate server", function () {
  this.timeout(60_000);
  const asked: Asked[] = [];
  const errors: unknown[] = [];
  let workspaces: Workspaces;
  let server: PlainServer;
  let upstream: Upstream;
  let relay: Relay;
  let away = false;
  let provider: Provider;
  let one: string;

  before(async () => {
    workspaces = await startWorkspaces(undefined, {
      audit: audit({
        policy: { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] },
        to: (line) => void asked.push(JSON.parse(line)),
      }),
    });
    const credentials = { get: () => ({ headers: ["Authorization", "Bearer root"] }) };
    const port = Number(new URL(workspaces.url).port);
    relay = await startRelay(() => (away ? 1 : port));
    upstream = new Upstream({ url: `http://127.0.0.1:${relay.port}`, credentials });
    const view = apiExportView({
      ...{ upstream, identity: sameCaller, allowCache: 500 },
      kinds: builtInKinds.map(({ resource }) => resource),
      onError: (error) => errors.push(error),
    });
    const tokens = staticTokens({ alice: { name: "alice" }, bob: { name: "bob" } });
    server = await startPlain([view], { authentication: [tokens] });
    provider = await Provider.make(workspaces, "provider", { permissionClaims: [CLAIM] });
    one = await provider.consumer("one", [{ ...CLAIM, selector: { matchAll: true }, state: "Accepted" }]);
    await provider.post(one, WIDGETS, widget("a"));
    await untilAnswer(
      () => server.get(provider.url(WIDGETS)),
      ({ status }) => status === 200,
    );
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
    await relay?.[Symbol.asyncDispose]();
    await workspaces?.[Symbol.asyncDispose]();
  });

  const there = (part: string): Asked[] => asked.filter(({ requestURI }) => requestURI.includes(part));

  it("acts in a workspace as the caller, with a warrant of that workspace, and in all of them as itself", async () => {
    expect(
      namesOf(
        await untilAnswer(
          () => server.get(provider.url(WIDGETS, one)),
          ({ status }) => status === 200,
        ),
      ),
    ).to.deep.equal([`${one}/a`]);
    expect((await server.send(`POST ${provider.url(MAPS, one)}`, map("made"))).status).to.equal(201);
    expect(namesOf(await server.get(provider.url("/api/v1/configmaps")))).to.include(`${one}/made`);
    const isIt = ({ verb, impersonatedUser }: Asked): boolean => verb === "create" && impersonatedUser !== undefined;
    const made = await written(() => there(`/clusters/${one}${MAPS}`).find(isIt));
    expect(made?.user.username).to.equal("shard-admin");
    expect(made?.impersonatedUser?.username).to.equal("alice");
    const [warrant = ""] = made?.impersonatedUser?.extra?.["authorization.kcp.io/warrant"] ?? [];
    expect(warrant).to.equal(
      `{"user":"system:serviceaccount:default:rest","groups":["system:kcp:admin"],"extra":{"authentication.kcp.io/cluster-name":["${one}"]}}`,
    );
    const everywhere = there("/clusters/*/").filter(({ requestURI }) => requestURI.includes("widgets:"));
    expect(everywhere).to.not.deep.equal([]);
    expect(everywhere.filter(({ impersonatedUser }) => impersonatedUser !== undefined)).to.deep.equal([]);
    const kept = await workspaces.get(`/clusters/${one}${MAPS}/made`, { user: "root" });
    expect(kept.body.metadata.managedFields[0].manager).to.not.equal("virtual-workspaces");
  });

  it("requests a resource of an export by its identity, and claimed objects by their label", () => {
    const widgets = there("/widgets");
    const own = widgets.filter(
      ({ user, impersonatedUser, verb }) => user.username === "shard-admin" && (impersonatedUser || verb === "list"),
    );
    expect(own.some(({ requestURI }) => /widgets:[0-9a-f]{64}/.test(requestURI))).to.equal(true);
    const maps = there("/configmaps?").filter(
      ({ verb, requestURI }) => verb === "list" && requestURI.includes("/clusters/*/"),
    );
    expect(maps.every(({ requestURI }) => requestURI.includes("claimed.internal.apis.kcp.io"))).to.equal(true);
  });

  it("shares one watch of all workspaces among all permitted clients", async () => {
    const count = () =>
      there("/clusters/*/").filter(
        ({ verb, requestURI, stage }) =>
          verb === "watch" && requestURI.includes("widgets:") && stage === "RequestReceived",
      ).length;
    const watches = [];
    const before = count();
    for (let index = 0; index < 20; index++)
      watches.push(await server.watch(`${provider.url(WIDGETS)}?watch=true&resourceVersion=0`));
    for (const watch of watches) expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    expect(count() - before).to.be.below(4);
    for (const watch of watches) await watch[Symbol.asyncDispose]();
  });

  it("answers 503 while the server is away, keeps watches open, and delivers missed events afterwards", async () => {
    await using watch = await server.watch(`${provider.url(WIDGETS)}?watch=true&resourceVersion=0`);
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    away = true;
    relay.cut();
    const told = await server.get(provider.url(WIDGETS));
    expect([told.status, told.body.reason]).to.deep.equal([503, "ServiceUnavailable"]);
    expect(told.text).to.not.include("127.0.0.1");
    await provider.post(one, WIDGETS, widget("meanwhile"));
    away = false;
    expect(await watch.take(1)).to.deep.equal(["ADDED meanwhile"]);
    await untilAnswer(
      () => server.get(provider.url(WIDGETS)),
      ({ status }) => status === 200,
    );
    expect(errors).to.not.deep.equal([]);
  });
});
