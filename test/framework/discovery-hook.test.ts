// The discovery hook: the served resources depend on the caller and on time.
import { allow, defineResource, defineVirtualWorkspace, type ServedResource } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { label, startPlain } from "../_support/plain.ts";

const define = (kind: string, spec: "string" | "integer" = "string") =>
  defineResource({
    group: "test.dev",
    version: "v1",
    kind,
    scope: "Cluster",
    spec: { type: "object", properties: { x: { type: spec } } },
  });
const Public = define("Public");
const Secret = define("Secret");
const BASE = "/services/who/clusters/root";
const api = (plural: string) => `${BASE}/apis/test.dev/v1/${plural}`;

function setUp() {
  const collections = { publics: Public.collection(), secrets: Secret.collection() };
  collections.publics.in("root").set("p", {});
  collections.secrets.in("root").set("s", {});
  const resources: Record<"publics" | "secrets", ServedResource> = {
    publics: Public.serve(collections.publics),
    secrets: Secret.serve(collections.secrets),
  };
  let heard: () => void = () => undefined;
  const state = {
    forAlice: [resources.publics, resources.secrets] as readonly ServedResource[],
    fails: false,
    /** How often the hook was called, and when the next call happens. */
    asked: 0,
    next: (): Promise<void> => new Promise((resolve) => (heard = resolve)),
  };
  const view = defineVirtualWorkspace({
    name: "who",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: ({ user }) => {
      state.asked += 1;
      heard();
      if (state.fails) throw new Error("cannot tell");
      return user.name === "alice" ? state.forAlice : [resources.publics];
    },
  });
  return { state, resources, collections, views: [view] };
}

describe("the discovery hook", () => {
  it("gives each caller its own discovery, OpenAPI and objects", async () => {
    await using server = await startPlain(setUp().views);
    const alice = await server.get(`${BASE}/apis/test.dev/v1`);
    const bob = await server.get(`${BASE}/apis/test.dev/v1`, { user: "bob" });
    const names = (body: { resources: { name: string }[] }): string[] => body.resources.map(({ name }) => name);
    expect(names(alice.body)).to.deep.equal(["publics", "secrets"]);
    expect(names(bob.body)).to.deep.equal(["publics"]);
    expect(alice.headers.etag).not.to.equal(bob.headers.etag);
    expect((await server.get(api("secrets"))).status).to.equal(200);
    expect((await server.get(api("secrets"), { user: "bob" })).status).to.equal(404);
    const openapi = `${BASE}/openapi/v3/apis/test.dev/v1`;
    expect((await server.get(openapi)).text).to.contain("dev.test.v1.Secret");
    expect((await server.get(openapi, { user: "bob" })).text).not.to.contain("Secret");
  });

  it("changes the ETag when the resources change", async () => {
    const { state, resources, views } = setUp();
    await using server = await startPlain(views);
    const { headers } = await server.get(`${BASE}/apis`);
    const again = { headers: { "if-none-match": String(headers.etag) } };
    expect((await server.get(`${BASE}/apis/test.dev/v1`, { headers: {} })).status).to.equal(200);
    expect((await server.get(`${BASE}/apis`, again)).status).to.equal(304);
    const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const before = await server.get(`${BASE}/apis`, { headers: { accept: aggregated } });
    state.forAlice = [resources.publics];
    const options = { headers: { accept: aggregated, "if-none-match": String(before.headers.etag) } };
    const after = await server.get(`${BASE}/apis`, options);
    expect(after.status).to.equal(200);
    expect(after.headers.etag).not.to.equal(before.headers.etag);
    expect(
      (
        await server.get(`${BASE}/apis`, {
          headers: { ...options.headers, "if-none-match": String(after.headers.etag) },
        })
      ).status,
    ).to.equal(304);
  });

  it("ends open watches of removed resources with 410 within a second, and keeps the others", async () => {
    const { state, resources, collections, views } = setUp();
    await using server = await startPlain(views);
    await using gone = await server.watch(`${api("secrets")}?watch=true`);
    await using stays = await server.watch(`${api("publics")}?watch=true`);
    await gone.next();
    await stays.next();
    const changed = performance.now();
    state.forAlice = [resources.publics];
    expect((await gone.rest()).map(label)).to.deep.equal(["ERROR 410"]);
    expect(performance.now() - changed).to.be.lessThan(1_000);
    collections.publics.in("root").set("q", {});
    expect(await stays.take(1)).to.deep.equal(["ADDED q"]);
  });

  it("ends open watches when the schema changes, and not when an equal one is created", async () => {
    const { state, resources, collections, views } = setUp();
    await using server = await startPlain(views);
    await using watch = await server.watch(`${api("secrets")}?watch=true`);
    await watch.next();
    state.forAlice = [resources.publics, define("Secret").serve(collections.secrets)];
    const asked = state.asked;
    while (state.asked < asked + 2) await state.next();
    collections.secrets.in("root").set("t", {});
    expect(await watch.take(1)).to.deep.equal(["ADDED t"]);
    state.forAlice = [resources.publics, define("Secret", "integer").serve(collections.secrets as never)];
    expect((await watch.rest()).map(label)).to.deep.equal(["ERROR 410"]);
  });

  it("has no effect on open watches when it fails, and causes a 500 for requests", async () => {
    const { state, collections, views } = setUp();
    await using server = await startPlain(views);
    await using watch = await server.watch(`${api("secrets")}?watch=true`);
    await watch.next();
    state.fails = true;
    const answer = await server.get(api("secrets"));
    expect(answer.status).to.equal(500);
    expect(answer.text).not.to.contain("cannot tell");
    expectFault(/cannot tell/);
    state.fails = false;
    collections.secrets.in("root").set("t", {});
    expect(await watch.take(1)).to.deep.equal(["ADDED t"]);
  });

  it("is called for open watches with a signal that outlives the request of the first one", async () => {
    const publics = Public.collection();
    const resource = Public.serve(publics);
    let served: readonly ServedResource[] = [resource];
    let aborted = false;
    const view = defineVirtualWorkspace({
      name: "who",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: ({ signal }) => {
        aborted ||= signal.aborted;
        return served;
      },
    });
    await using server = await startPlain([view]);
    const first = await server.watch(`${api("publics")}?watch=true`);
    await using second = await server.watch(`${api("publics")}?watch=true`);
    await first[Symbol.asyncDispose]();
    served = [];
    expect((await second.rest()).map(label)).to.deep.equal(["ERROR 410"]);
    expect(aborted).to.equal(false);
  });
});
