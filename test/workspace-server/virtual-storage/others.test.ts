// A view at another server that stores a resource: it authenticates the shard by certificate, and receives the caller from
// it.
import type { Authenticator } from "@virtual-workspaces/framework";
import { clientCertificates, requestHeader } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { createAuthority, startTls } from "../../_support/server.ts";
import { echo, failed, GROUP, Kept, root, type Told, WIDGETS } from "./support/kept.ts";

const ALL = { matchAll: true };

describe("a resource that a view at another server stores", function () {
  this.timeout(30_000);
  const told: Told[] = [];
  const views = createAuthority();
  const shards = createAuthority();
  const pair = shards.client("shard", ["system:masters"]);
  const warned: unknown[] = [];
  let kept: Kept;

  const believes = (): readonly Authenticator[] => [
    requestHeader({ ca: shards.ca, allowedNames: ["shard"] }),
    clientCertificates({ ca: shards.ca }),
  ];
  const away = (authentication = believes(), authority = views) =>
    startTls([echo("echo", told)], { authority, authentication, tls: { ...authority.server, clientCa: shards.ca } });

  before(async () => {
    kept = await Kept.start({
      virtualStorage: { others: { tls: { ca: views.ca }, credentials: { get: () => pair } } },
      log: ({ level, message }) => void (level === "warn" && warned.push(message)),
    });
  });

  beforeEach(() => {
    told.length = 0;
    warned.length = 0;
  });

  after(() => kept[Symbol.asyncDispose]());

  it("is forwarded as the caller in X-Remote-*, whatever the client sends", async () => {
    await using there = await away();
    await kept.says({ url: `https://127.0.0.1:${there.port}/services/echo/x`, shards: ALL });
    const headers = { "x-remote-user": "mallory", "x-remote-group": "system:masters", "x-remote-extra-a": "b" };
    const { status, text } = await kept.in.get(WIDGETS, { user: "alice", headers });
    expect(status, text).to.equal(200);
    const asked = {
      ...root,
      headers: { "impersonate-user": "alice", "impersonate-extra-Example.dev%2Fscopes": "a b" },
    };
    expect((await kept.in.get(WIDGETS, asked)).status).to.equal(200);
    expect(told.map(({ user, path, hops }) => [user.name, user.groups, path, hops])).to.deep.equal(
      [1, 2].map(() => ["alice", ["system:authenticated"], `/x/clusters/${kept.shop}${WIDGETS}`, 1]),
    );
    expect(told.flatMap(({ headers: lines }) => lines).join("\n")).to.not.match(/mallory|authorization|impersonate/i);
  });

  it("appears in discovery with the verbs that server shows to the shard", async () => {
    await using there = await away();
    await kept.says({ url: `https://127.0.0.1:${there.port}/services/echo`, shards: ALL });
    const { body } = await kept.in.get(GROUP, { user: "alice", headers: { "x-remote-user": "mallory" } });
    expect(body.resources[0].verbs).to.deep.equal(["get", "list", "watch"]);
    expect(told.map(({ user }) => user)).to.deep.equal([
      { name: "shard", groups: ["system:masters", "system:authenticated"] },
    ]);
  });

  it("is 503 while that server is unavailable, without its address, and recovers by itself", async () => {
    const there = await away();
    const { port } = there;
    await kept.says({ url: `https://127.0.0.1:${port}/services/echo`, shards: ALL });
    expect((await kept.in.get(WIDGETS)).status).to.equal(200);
    await there.close();
    const { code, reason, message } = failed(await kept.in.get(WIDGETS));
    expect([code, reason]).to.deep.equal([503, "ServiceUnavailable"]);
    expect(message)
      .to.match(/^the view that stores this resource /)
      .and.not.match(/127\.0\.0\.1/);
    const listed = await kept.in.get(GROUP);
    expect([listed.status, listed.body.resources]).to.deep.equal([200, []]);
    expect(listed.headers["warning"]).to.include("temporarily unavailable: [widgets.example.dev]");
    expect(warned).to.deep.equal(["a view that stores resources fails"]);
    await using _ = await startTls([echo("echo", told)], {
      ...{ port, authority: views, authentication: believes() },
      tls: { ...views.server, clientCa: shards.ca },
    });
    expect((await kept.in.get(WIDGETS)).status).to.equal(200);
  });

  it("is never forwarded to a server with another authority's certificate, or without TLS", async () => {
    await using stranger = await away(believes(), createAuthority());
    await kept.says({ url: `https://127.0.0.1:${stranger.port}/services/echo`, shards: ALL });
    expect(failed(await kept.in.get(WIDGETS))).to.include({ code: 503 });
    await kept.says({ url: `http://127.0.0.1:${stranger.port}/services/echo`, shards: ALL });
    expect(failed(await kept.in.get(WIDGETS)).message).to.match(/use a URL that begins with https/);
    expect(told).to.deep.equal([]);
  });

  it("is 503, not 401, from a server that does not trust the shard", async () => {
    await using there = await away([]);
    await kept.says({ url: `https://127.0.0.1:${there.port}/services/echo`, shards: ALL });
    expect(failed(await kept.in.get(WIDGETS))).to.include({ code: 503 });
    expect(told).to.deep.equal([]);
  });
});
