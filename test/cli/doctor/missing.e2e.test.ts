// `virtual-workspaces doctor` on URLs of views that are missing, denied or not ready.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Authorizer, allow, defineVirtualWorkspace, deny, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { type Tree, tree } from "../../_setup/tree.ts";
import { Note } from "../../_support/note.ts";
import { createAuthority, startTls, type TlsServer } from "../../_support/server.ts";
import { cli } from "../support/dev.ts";

describe("virtual-workspaces doctor, of a view", function () {
  this.timeout(60_000);
  let folder: Tree;
  let server: TlsServer;
  let problem: string | undefined;

  before(async () => {
    folder = tree({});
    const authority = createAuthority();
    writeFileSync(join(folder.path, "ca.crt"), authority.ca);
    const only: Authorizer<unknown> = ({ user }) => (user.name === "ann" ? allow() : deny("ask ann"));
    const notes = Note.collection();
    notes.in("one").set("a", { text: "hello" });
    const view = (name: string, authorize: Authorizer<unknown>) =>
      defineVirtualWorkspace({
        ...{ name, path: "/clusters/:cluster", authorize, resources: [Note.serve(notes)] },
        ready: () => {
          if (name === "drafts" && problem !== undefined) throw new Error(problem);
        },
      });
    const broken: Authorizer<unknown> = () => {
      throw new Error("the server needs another credential");
    };
    const views = [view("quotes", () => allow()), view("letters", only), view("drafts", () => allow())];
    server = await startTls([...views, view("broken", broken)], {
      authority,
      authentication: [staticTokens({ ann: { name: "ann" }, bob: { name: "bob" } })],
    });
  });
  after(async () => {
    await server.close();
    folder[Symbol.dispose]();
  });

  /** Returns all output. */
  async function doctor(path: string, token = "bob"): Promise<string> {
    const url = `https://127.0.0.1:${server.port}${path}`;
    const flags = ["--certificate-authority", join(folder.path, "ca.crt"), `--token=${token}`];
    writeFileSync(join(folder.path, "kubeconfig"), "apiVersion: v1\nkind: Config\n");
    const { stdout, stderr } = await cli("doctor", url, "--kubeconfig", join(folder.path, "kubeconfig"), ...flags);
    return (stdout + stderr).trimEnd();
  }
  async function failure(path: string, token?: string): Promise<string> {
    const lines = (await doctor(path, token)).split("\n");
    return lines.slice(lines.findIndex((line) => line.startsWith("FAILED"))).join("\n");
  }

  it("counts its objects", async () => {
    const count = / a watch syncs: notes: (\d+ \w+) in /;
    expect(count.exec(await doctor("/services/quotes/clusters/one"))?.[1]).to.equal("1 object");
    expect(count.exec(await doctor("/services/quotes/clusters/none"))?.[1]).to.equal("0 objects");
  });

  it("says that it is missing, and suggests the name that was meant", async () => {
    const said = await failure("/services/quote/clusters/root");
    expect(said).to.include('there is nothing at this path: there is no virtual workspace "quote"');
    expect(said).to.include("did you mean /services/quotes? check each name in the path of the URL");
    expect(await failure("/servces/quotes/clusters/root")).to.include("did you mean /services/…?");
  });

  it("lists the names that exist when none is near", async () => {
    expect(await failure("/services/nothing/clusters/root")).to.include(
      "/readyz lists: quotes, letters, drafts, broken.",
    );
  });

  it("says that it exists and denies the user", async () => {
    const said = await failure("/services/letters/clusters/root");
    expect(said).to.include("ask ann").and.include("the path exists and denies this user");
    expect(said).to.not.include("did you mean");
    expect(await failure("/services/letters/clusters/root", "ann")).to.not.include("FAILED");
  });

  it("sends the user to the operator of a view that fails with 500, and does not ask to wait", async () => {
    const said = await failure("/services/broken/clusters/root");
    expect(said)
      .to.match(/^FAILED {2}the user has access: 500: Internal error occurred: request \S+ failed: /)
      .and.include('ask the operator of the server: the log has the reason, as "request failed" with the id of this')
      .and.not.include("wait");
    expectFault(/request failed .*the server needs another credential/);
  });

  it("names the checks of /readyz that fail, and the reason that the view gives to the user", async () => {
    problem = "waiting for the archive";
    try {
      const said = await failure("/services/quotes/clusters/root");
      expect(said)
        .to.include("not ready: drafts: reason withheld")
        .and.include('logs "virtual workspace is not ready"');
      expect(said).to.not.include("quotes:");
      expect(await failure("/services/drafts/clusters/root")).to.match(
        /not ready: drafts: reason withheld; .*drafts is not ready: .*/,
      );
      expectFault(/virtual workspace is not ready .*waiting for the archive/);
    } finally {
      problem = undefined;
    }
  });
});
