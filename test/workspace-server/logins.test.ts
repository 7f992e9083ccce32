// Why: whoever makes a workspace type says who may log in to the workspaces of it, by issuers of their own. What these say must
// let their users in there, at once, and nowhere else; and must make nobody more than a user of that workspace.
import { expect } from "chai";
import { TestIssuer } from "../_support/issuer.ts";
import { makeAdmin, makeWorkspace } from "./support/logical-clusters.ts";
import { configure, makeType, mapped } from "./support/logins.ts";
import { startWorkspaces, type Workspaces } from "./support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

describe("issuers that a workspace's type names", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let a: TestIssuer;
  let b: TestIssuer;
  const clusters = { "team-a": "", "team-b": "", "team-c": "" };
  type Team = keyof typeof clusters;

  before(async () => {
    server = await startWorkspaces();
    a = await TestIssuer.start();
    b = await TestIssuer.start();
    for (const [name, issuer] of [
      ["a", a],
      ["b", b],
    ] as const)
      expect((await configure(server, name, [mapped(issuer, `${name}:`)])).status).to.equal(201);
    for (const [team, configurations] of [
      ["team-a", ["a"]],
      ["team-b", ["b"]],
      ["team-c", ["a", "b"]],
    ] as const) {
      await makeType(server, `of-${team}`, configurations);
      clusters[team] = await makeWorkspace(server, team, `of-${team}`);
      for (const user of ["a:jane", "b:jane"]) await makeAdmin(server, clusters[team], user);
    }
  });

  after(async () => {
    await server[Symbol.asyncDispose]();
    await Promise.all([a, b].map((issuer) => issuer[Symbol.asyncDispose]()));
  });

  const at = async (place: string, user: string): Promise<number> =>
    (await server.get(`${place}${MAPS}`, { user })).status;

  it("let their users in there, and nowhere else", async () => {
    const where = async (token: string) =>
      Object.fromEntries(
        await Promise.all(
          (Object.keys(clusters) as Team[]).map(async (team) => [
            team,
            [await at(`/clusters/${clusters[team]}`, token), await at(`/clusters/root:${team}`, token)],
          ]),
        ),
      );
    expect(await where(a.token())).to.deep.equal({ "team-a": [200, 200], "team-b": [401, 401], "team-c": [200, 200] });
    expect(await where(b.token())).to.deep.equal({ "team-a": [401, 401], "team-b": [200, 200], "team-c": [200, 200] });
    expect(await where("alice")).to.deep.equal({ "team-a": [403, 403], "team-b": [403, 403], "team-c": [403, 403] });
  });

  it("say who they are, and where", async () => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const { body: review } = await server.send(`POST /clusters/root:team-a${SELF}`, body, {
      user: a.token({ groups: ["dev"] }),
    });
    console.log(JSON.stringify(review));
  });
});
