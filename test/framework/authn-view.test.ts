// Authenticators of a view: called after the server's, only for the view's own requests.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { type Authenticator, allow, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { until } from "../_support/until.ts";
import { Wire } from "../_support/wire.ts";

type Own = NonNullable<Parameters<typeof views>[0]>;

/** One view with an authenticator, and one without. */
function views(
  authentication?: (
    params: { readonly cluster: string },
    path: { readonly prefix: string; readonly tail: string },
  ) => readonly Authenticator[],
) {
  const common = {
    path: "/clusters/:cluster",
    wildcard: true,
    locate: (said: string) => said.replaceAll(":", "-"),
    authorize: () => allow(),
    handle: (
      _req: unknown,
      res: { end(text: string): void },
      { user, params }: { user: { name: string }; params: { cluster: string } },
    ) => res.end(`${user.name} in ${params.cluster}`),
  } as const;
  return [
    defineVirtualWorkspace({ ...common, name: "own", ...(authentication && { authentication }) }),
    defineVirtualWorkspace({ ...common, name: "plain" }),
  ];
}

/** Returns the result of a request with a token. */
async function said(server: PlainServer, path: string, user: string): Promise<string | number> {
  const { status, text } = await server.get(`/services${path}`, { user });
  return status === 200 ? text : status;
}

const guests = staticTokens({ guest: { name: "guest" }, alice: { name: "mallory" } });

describe("a view's own authentication", () => {
  it("accepts users of its own only in that view, and never renames a user that the server recognizes", async () => {
    await using server = await startPlain(views(() => [guests]));
    expect(await said(server, "/own/clusters/a/x", "guest")).to.equal("guest in a");
    expect(await said(server, "/own/clusters/a/x", "alice")).to.equal("alice in a");
    for (const path of ["/plain/clusters/a/x", "/own", "/own/clusters", "/", "/other/clusters/a/x"])
      expect(await said(server, path, "guest"), path).to.equal(401);
    for (const path of ["/metrics", "/apis"]) expect((await server.get(path, { user: "guest" })).status).to.equal(401);
  });

  it("receives the path parameters, and is called only for unrecognized callers", async () => {
    const asked: string[] = [];
    const own: Own = ({ cluster }, { prefix, tail }) => {
      asked.push(cluster);
      expect([prefix, tail]).to.deep.equal([`/services/own/clusters/${cluster}`, "/x"]);
      return cluster === "root:a" ? [guests] : [];
    };
    await using server = await startPlain(views(own));
    for (const cluster of ["root:a", "root:b", "*"])
      expect(await said(server, `/own/clusters/${cluster}/x`, "guest")).to.equal(
        cluster === "root:a" ? "guest in root-a" : 401,
      );
    expect(await said(server, "/own/clusters/root:a/x", "alice")).to.equal("alice in root-a");
    expect(asked).to.deep.equal(["root:a", "root:b", "*"]);
  });

  it("can have several authenticators, called in order; one that fails has no opinion", async () => {
    const broken = { name: "broken", authenticate: async () => Promise.reject(new Error("oh")) };
    const others = staticTokens({ guest: { name: "somebody else" }, late: { name: "late" } });
    await using server = await startPlain(views(() => [broken, guests, others]));
    expect(await said(server, "/own/clusters/a/x", "guest")).to.equal("guest in a");
    expect(await said(server, "/own/clusters/a/x", "late")).to.equal("late in a");
    expect(await said(server, "/own/clusters/a/x", "nobody")).to.equal(401);
    expectFault(/authenticator failed.*oh/);
  });

  it("applies to upgrades too", async () => {
    await using server = await startPlain(views(() => [guests]));
    const answer = async (token: string) => {
      using wire = await Wire.open(Number(new URL(server.url).port));
      wire.request(
        "GET /services/own/clusters/a/x HTTP/1.1",
        "Host: x",
        `Authorization: Bearer ${token}`,
        "Connection: Upgrade",
        "Upgrade: websocket",
      );
      return (await wire.answer())?.status;
    };
    expect(await answer("nobody")).to.equal(401);
    // The user is authenticated, but the view has no upgrades.
    expect(await answer("guest")).not.to.equal(401);
  });

  it("authenticates no one by failing", async () => {
    const fails = (error: Error): never => {
      throw error;
    };
    const away = ApiError.serviceUnavailable("its issuer is away", 1);
    const bad = ApiError.badRequest("a token twice");
    const ways: readonly (readonly [Own, number])[] = [
      [() => fails(new Error("oh")), 401],
      [() => [{ name: "broken", authenticate: () => fails(new Error("oh")) }], 401],
      [() => [{ name: "late", authenticate: async () => fails(new Error("oh")) }], 401],
      [() => [{ name: "no user", authenticate: () => null as never }], 401],
      [() => [{ name: "no user", authenticate: async () => ({}) as never }], 401],
      [() => fails(away), 503],
      [() => [{ name: "away", authenticate: async () => fails(away) }], 503],
      [() => [{ name: "malformed", authenticate: () => fails(bad) }], 400],
    ];
    for (const [own, code] of ways) {
      await using server = await startPlain(views(own));
      expect(await said(server, "/own/clusters/a/x", "guest")).to.equal(code);
      expect(await said(server, "/own/clusters/a/x", "alice")).to.equal("alice in a");
      if (code === 401) expectFault(/authenticator failed/);
    }
  });

  it("is not logged as unavailable while the view is not ready: the request is 503 anyway", async () => {
    const away: Authenticator = {
      name: "away",
      authenticate: () => Promise.reject(ApiError.serviceUnavailable("the users are away: try again", 1)),
    };
    const { promise: started, resolve: begin } = Promise.withResolvers<void>();
    const { log, records } = testLog();
    const starting = views().map((view) => ({ ...view, ready: () => started }));
    await using server = await startPlain(starting, { authentication: [away], log });
    const logged = () => records.filter(({ message }) => message === "authenticator failed").length;
    expect([(await server.get("/services/own/clusters/a/x")).status, logged()]).to.deep.equal([503, 0]);
    begin();
    await until(async () => (await server.get("/readyz")).status === 200 || undefined);
    expect([(await server.get("/services/own/clusters/a/x")).status, logged()]).to.deep.equal([503, 1]);
  });
});
