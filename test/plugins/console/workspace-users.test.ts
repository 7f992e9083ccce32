// Sessions of users whom only one workspace knows, as by the issuers of its type.
import { authenticated, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { Note } from "../../_support/note.ts";
import { MARK, startConsole } from "./support/console-server.ts";

const notesIn = (cluster: string): string => `/services/notes/clusters/${cluster}/apis/test.dev/v1/notes`;

/** A console whose workspace `shop` knows the token of ann. */
const start = (attempts = 100) =>
  startConsole(
    {},
    {
      authenticationFailures: { failures: attempts, trusted: [] },
      virtualWorkspaces: [
        defineVirtualWorkspace({
          ...{ name: "notes", path: "/clusters/:cluster", authorize: authenticated() },
          resources: [Note.serve(Note.collection())],
        }),
        defineVirtualWorkspace({
          ...{ name: "workspaces", prefix: "/clusters", path: "/:cluster", authorize: authenticated() },
          authentication: ({ cluster }) => (cluster === "shop" ? [staticTokens({ ann: { name: "shop:ann" } })] : []),
          resources: [Note.serve(Note.collection())],
        }),
      ],
    },
  );

describe("a session of a user of one workspace", () => {
  it("begins in the workspace, and is authenticated by it alone", async () => {
    await using server = await start();
    const { status, cookie } = await server.signIn({ token: "ann", workspace: "shop" });
    expect(status).to.equal(204);
    const headers = { cookie, ...MARK };
    const { body } = await server.call("/console/session", { headers });
    expect([body.user.username, body.workspace]).to.deep.equal(["shop:ann", "shop"]);
    expect((await server.call("/console/panels", { headers })).status).to.equal(200);
    const notes = "apis/test.dev/v1/notes";
    expect((await server.call(`/clusters/shop/${notes}`, { headers })).status).to.equal(200);
    for (const path of [`/clusters/root/${notes}`, `/clusters/other/${notes}`, notesIn("shop")])
      expect((await server.call(path, { headers })).status, path).to.equal(401);
    expect(server.logged.records.find(({ message }) => message === "signed in to the console")).to.include({
      ...{ user: "shop:ann", workspace: "shop", by: "token" },
    });
  });

  it("needs the workspace that knows the token", async () => {
    await using server = await start();
    for (const workspace of [undefined, "root", "other"]) {
      const { status, cookie } = await server.signIn({ token: "ann", workspace });
      expect([status, cookie], workspace).to.deep.equal([401, ""]);
    }
  });

  it("is one of the whole server if the server knows the token", async () => {
    await using server = await start();
    const { cookie } = await server.signIn({ token: "alice", workspace: "shop" });
    const headers = { cookie, ...MARK };
    expect((await server.call("/console/session", { headers })).body).to.not.have.property("workspace");
    expect((await server.call(notesIn("root"), { headers })).status).to.equal(200);
  });

  it("rejects what is no path of a workspace", async () => {
    await using server = await start();
    for (const workspace of ["../services/notes", "root/shop", "root:shop?x=1", "", "*", 5, "a".repeat(64)]) {
      const { status, message } = await server.signIn({ token: "ann", workspace });
      expect([status, message], String(workspace)).to.deep.equal([
        400,
        "invalid workspace: use the path of a workspace, such as root:shop",
      ]);
    }
  });

  it("counts failed attempts of an address", async () => {
    await using server = await start(4);
    const answers: number[] = [];
    for (let at = 0; at < 4; at++) answers.push((await server.signIn({ token: "guess", workspace: "shop" })).status);
    expect(answers).to.deep.equal([401, 401, 429, 429]);
  });
});
