// What a view over workspaces is to its clients, who cannot tell where it runs: in the server that has the workspaces, in a
// process of its own to which that passes requests on, or there by the URL that the server publishes.
import type { OutgoingHttpHeaders } from "node:http";
import { runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { Start } from "./support/start.ts";
import { type Answer, Apart, ask, MIRROR, type Place, USERS } from "./support/views-of-workspaces.ts";

describe("a view over workspaces", function () {
  this.timeout(120_000);
  let together: Start;
  let apart: Apart;
  let places: Readonly<Record<string, Place>>;

  before(async () => {
    [together, apart] = await Promise.all([Start.ready({ files: USERS, flags: ["--view", MIRROR] }), Apart.ready()]);
    places = {
      "in process": { url: `${together.url}/services`, ca: together.text("apiserver.crt") },
      "out of process": apart.throughShard,
      "at the published URL": await apart.published(),
    };
  });

  after(async () => {
    await Promise.all([together?.[Symbol.asyncDispose](), apart?.[Symbol.asyncDispose]()]);
  });

  for (const way of ["in process", "out of process", "at the published URL"])
    it(`passes the conformance suite ${way}`, async () => {
      const { url, ca } = places[way] as Place;
      const report = await runConformance({
        url: `${url}/mirror/clusters/root`,
        credentials: { token: "root-token", ca },
        others: [{ token: "alice-token" }, { token: "bob-token" }],
        writes: {},
        deadlines: { prompt: 5_000 },
      });
      expect(report.results.filter(({ outcome }) => outcome === "failed")).to.deep.equal([]);
      expect(report.passed).to.be.above(100);
      expect(report.left).to.deep.equal([]);
    });

  /** What a view is told of whoever sends this. */
  async function whoami(way: string, headers: OutgoingHttpHeaders): Promise<Answer> {
    const { url, ca } = places[way] as Place;
    return ask(`${url}/whoami/a%20b/c?d=%2F`, { ca, headers });
  }

  const ALICE = {
    name: "alice",
    uid: "uid-of-alice",
    groups: ["dev", "staff", "system:authenticated"],
    extra: {},
  };
  const bearer = (name: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${name}-token` });

  for (const way of ["in process", "out of process", "at the published URL"]) {
    it(`sees the whole caller ${way}, and no more than was asked`, async () => {
      const { code, body } = await whoami(way, bearer("alice"));
      expect(code, body).to.equal(200);
      const { user, tail, search, headers } = JSON.parse(body);
      expect({ user, tail, search }).to.deep.equal({ user: ALICE, tail: "/a%20b/c", search: "?d=%2F" });
      expect(headers.join("\n")).to.not.match(/alice/);
      const masters = JSON.parse((await whoami(way, bearer("root"))).body).user;
      expect(masters).to.deep.equal({
        name: "shard-root",
        uid: "1",
        groups: ["system:masters", "system:authenticated"],
        extra: {},
      });
      const nobody = JSON.parse((await whoami(way, {})).body).user;
      expect(nobody).to.deep.equal({
        name: "system:anonymous",
        uid: "",
        groups: ["system:unauthenticated"],
        extra: {},
      });
    });

    it(`believes nobody ${way} who says that they are somebody else`, async () => {
      const forged = {
        "x-remote-user": "mallory",
        "x-remote-group": "system:masters",
        "x-remote-extra-scopes": "all",
        x_remote_user: "mallory",
        "x-forwarded-for": "10.9.8.7",
        forwarded: "for=10.9.8.7",
      };
      const { user, headers } = JSON.parse((await whoami(way, { ...forged, ...bearer("alice") })).body);
      expect(user).to.deep.equal(ALICE);
      if (way === "out of process") expect(headers.join("\n")).to.not.match(/mallory|10\.9\.8\.7|remote/i);
      expect(JSON.parse((await whoami(way, forged)).body).user.name).to.equal("system:anonymous");
      const impersonating = { "impersonate-user": "shard-root", "impersonate-group": "system:masters" };
      expect((await whoami(way, { ...impersonating, ...bearer("alice") })).code).to.equal(403);
      const listing = { connection: "close, impersonate-user, x-remote-user" };
      expect((await whoami(way, { ...listing, ...bearer("alice") })).code).to.equal(400);
    });

    it(`lets nobody ${way} read what their workspace does not let them`, async () => {
      const { url, ca } = places[way] as Place;
      const path = `${url}/mirror/clusters/root/api/v1/configmaps`;
      expect((await ask(path, { ca, headers: bearer("root") })).code).to.equal(200);
      expect((await ask(path, { ca, headers: bearer("alice") })).code).to.equal(403);
      expect((await ask(path, { ca, headers: {} })).code).to.equal(403);
      expect((await ask(path, { ca, headers: bearer("mallory") })).code).to.be.oneOf([401, 403]);
    });

    it(`hears of what its server does not have ${way}`, async () => {
      const { url, ca } = places[way] as Place;
      expect((await ask(`${url}/nothing/clusters/root/api`, { ca, headers: bearer("root") })).code).to.equal(404);
    });
  }
});
