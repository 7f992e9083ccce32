// Text documents that a view serves at its own paths.
import { allow, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { outcome, startPlain } from "../_support/plain.ts";

const about = (documents: Readonly<Record<string, () => { contentType: string; body: string }>>) =>
  defineVirtualWorkspace({
    name: "x",
    path: "/:cluster",
    authorize: ({ path, user }) => (path !== "/.well-known/thing" || user.name === "alice" ? allow() : deny("alice's")),
    resources: [],
    documents,
  });

describe("documents of a view", () => {
  it("are served at their paths, to callers whom the rule allows, and listed at the view's root", async () => {
    const thing = ({ prefix = "", params = {} } = {}) => ({
      contentType: "text/x-thing; charset=utf-8",
      body: `${prefix} ${JSON.stringify(params)} é`,
    });
    await using server = await startPlain([about({ "/.well-known/thing": thing, "/other": thing })]);
    const answer = await server.get("/services/x/one/.well-known/thing?a=b");
    expect([answer.status, answer.text]).to.deep.equal([200, '/services/x/one {"cluster":"one"} é']);
    expect(answer.headers).to.include({
      "content-type": "text/x-thing; charset=utf-8",
      "cache-control": "no-cache, private",
    });
    expect(outcome(await server.get("/services/x/one/.well-known/thing", { user: "bob" }))).to.deep.equal([
      403,
      "Forbidden",
      'forbidden: User "bob" cannot get path "/services/x/one/.well-known/thing": alice\'s',
    ]);
    const head = await server.send("HEAD /services/x/one/other");
    expect([head.status, head.text]).to.deep.equal([200, ""]);
    expect((await server.send("POST /services/x/one/other")).status).to.equal(404);
    for (const path of ["/nothing", "/toString", "/.well-known"])
      expect((await server.get(`/services/x/one${path}`)).status, path).to.equal(404);
    expect((await server.get("/services/x/one")).body.paths).to.include.members(["/.well-known/thing", "/other"]);
  });

  it("cannot have a path that serves something else", () => {
    for (const path of ["/", "/api", "/apis/x", "/openapi/v2", "nowhere", "//x"])
      expect(() => about({ [path]: () => ({ contentType: "", body: "" }) }), path).to.throw(
        `invalid document path ${path} of virtual workspace x: use a path of its own`,
      );
    expect(() => about({ "/apiary": () => ({ contentType: "", body: "" }) })).not.to.throw();
  });
});
