// A view that leaves impersonation to an upstream: its handler receives the caller and the unchanged impersonation headers.
import { authenticated, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";

function view(name: string, passesImpersonation: boolean): VirtualWorkspace {
  return defineVirtualWorkspace({
    name,
    path: "/",
    authorize: authenticated(),
    passesImpersonation,
    handle: (req, res, { user, impersonation }) => {
      const left = Object.keys(req.headers).filter((header) => header.startsWith("impersonate-"));
      res.setHeader("content-type", "application/json").end(JSON.stringify({ user: user.name, impersonation, left }));
    },
  });
}

describe("passesImpersonation", () => {
  const as = { "Impersonate-User": "jürgen", "impersonate-group": "a", "Impersonate-Extra-X": "1" };

  it("gives the impersonation headers to the handler and removes them from the request", async () => {
    await using server = await startPlain([view("passes", true)]);
    const { body } = await server.get("/services/passes", {
      headers: { ...as, "Impersonate-User": Buffer.from("jürgen").toString("latin1") },
    });
    expect(body).to.deep.equal({
      user: "alice",
      impersonation: ["Impersonate-User", "jürgen", "impersonate-group", "a", "Impersonate-Extra-X", "1"],
      left: [],
    });
    expect((await server.get("/services/passes")).body).to.deep.equal({ user: "alice", left: [] });
  });

  it("rejects headers that are not UTF-8", async () => {
    await using server = await startPlain([view("passes", true)]);
    expect((await server.get("/services/passes", { headers: { "impersonate-user": "\xff" } })).status).to.equal(400);
  });

  it("leaves the impersonation rules of other views' servers in force", async () => {
    await using server = await startPlain([view("asks", false)]);
    const { status } = await server.get("/services/asks", { headers: { "impersonate-user": "bob" } });
    expect(status).to.equal(403);
  });

  it("cannot be combined with resources", () => {
    const both = { name: "both", path: "/", authorize: authenticated(), passesImpersonation: true, resources: [] };
    expect(() => defineVirtualWorkspace({ ...both, handle: () => undefined })).to.throw(
      "leave out passesImpersonation or resources",
    );
  });
});
