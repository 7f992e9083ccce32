// A view that leaves it to a server behind who may go on as whom: it is told of that as it came, and of who asks.
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

  it("tells the handler as whom the caller wants to go on, and takes that off the request", async () => {
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

  it("refuses what is no UTF-8", async () => {
    await using server = await startPlain([view("passes", true)]);
    expect((await server.get("/services/passes", { headers: { "impersonate-user": "\xff" } })).status).to.equal(400);
  });

  it("is asked of no other view, whose server has a rule", async () => {
    await using server = await startPlain([view("asks", false)]);
    const { status } = await server.get("/services/asks", { headers: { "impersonate-user": "bob" } });
    expect(status).to.equal(403);
  });

  it("may not serve resources besides", () => {
    const both = { name: "both", path: "/", authorize: authenticated(), passesImpersonation: true, resources: [] };
    expect(() => defineVirtualWorkspace({ ...both, handle: () => undefined })).to.throw(
      "leave out passesImpersonation or resources",
    );
  });
});
