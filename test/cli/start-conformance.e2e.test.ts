// The conformance suite as users run it, on a workspace of `virtual-workspaces start`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { Admin } from "../workspace-server/faults/support/admin.ts";
import { gadgets, paths, within, workspace } from "../workspace-server/faults/support/tree.ts";
import { cli } from "./support/dev.ts";
import { Start } from "./support/start.ts";

describe("a workspace of virtual-workspaces start", () => {
  it("passes the conformance suite, with owners and namespaces, and users of different rights", async () => {
    const users = { "tokens.csv": "bob-token,bob,2\n" };
    await using server = await Start.ready({ files: users, flags: ["--anonymous-auth=false"] });
    using admin = new Admin(server);
    await admin.ok("POST", within("root", paths.WORKSPACES), workspace("checked"));
    await admin.until(within("root", `${paths.WORKSPACES}/checked`), ({ body }) => body.status?.phase === "Ready");
    await admin.ok("POST", within("root:checked", paths.CRDS), gadgets());
    await admin.until(within("root:checked", "/apis/own.dev/v1/gadgets"), ({ status }) => status === 200);
    const token = (name: string, text: string): string => {
      const file = join(server.folder.path, name);
      writeFileSync(file, text);
      return file;
    };
    const { code, stdout } = await cli(
      "conformance",
      `${server.url}/clusters/root:checked`,
      `--certificate-authority=${server.path("apiserver.crt")}`,
      `--token-file=${token("admin.token", server.token("shard-admin"))}`,
      `--other-token-file=${token("bob.token", "bob-token")}`,
      "--resource=configmaps",
      "--resource=gadgets.own.dev",
      "--write",
      "--collects",
      "--json",
    );
    const { results, left } = JSON.parse(stdout);
    const of = (outcome: string): string[] =>
      results
        .filter((one: { outcome: string }) => one.outcome === outcome)
        .map(({ id, resource = "", reason = "", failure }: Record<string, unknown>) =>
          [id, resource, reason, JSON.stringify(failure)].join(" "),
        );
    expect(of("failed")).to.deep.equal([]);
    expect(code).to.equal(0);
    expect(left).to.deep.equal([]);
    const passed = results.filter(
      ({ outcome, id }: Record<string, string>) => outcome === "passed" && /^T10/.test(id ?? ""),
    );
    expect(passed, "all of T10; one kind is in no namespace").to.have.length(15 + 13);
  }).timeout(120_000);
});
