// `virtual-workspaces conformance <url>` against a server of this project, with the credentials of `dev`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AuthorizeRequest,
  allow,
  type Decision,
  defineResource,
  defineVirtualWorkspace,
  deny,
  staticTokens,
} from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import { generatedTls } from "@virtual-workspaces/framework/tls";
import type { ConformanceReport } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { type Tree, tree } from "../_setup/tree.ts";
import { Note } from "../_support/note.ts";
import { createAuthority, startTls, type TlsServer } from "../_support/server.ts";
import { cli, startCli } from "./support/dev.ts";

const Task = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Task",
  scope: "Cluster",
  spec: { type: "object" },
});

const notes = Note.collection();

/** Callback for every create that a user is allowed. */
let onCreate = (): void => undefined;

const USERS = { secret: { name: "alice" }, other: { name: "bob" }, patching: { name: "patcher" } };

function asked({ user, verb }: AuthorizeRequest): Decision {
  if (user.name === "patcher" && verb !== "patch") return deny("patches only");
  if (verb === "create") onCreate();
  return allow();
}

describe("virtual-workspaces conformance", function () {
  this.timeout(60_000);
  let folder: Tree;
  let server: TlsServer;
  let url: string;

  before(async () => {
    folder = tree({});
    notes.in("root").set("a", {});
    const resources = [Note.serve(notes), Task.serve(Task.collection())];
    const options = { name: "test", path: "/clusters/:cluster", authorize: asked, resources } as const;
    const authority = createAuthority();
    const authentication = [clientCertificates({ ca: authority.ca }), staticTokens(USERS)];
    server = await startTls([defineVirtualWorkspace(options)], { authority, authentication });
    url = `https://127.0.0.1:${server.port}/services/test/clusters/root`;
    writeFileSync(join(folder.path, "ca.crt"), authority.ca);
    const { cert, key } = authority.client("admin", []);
    writeFileSync(join(folder.path, "admin.crt"), cert);
    writeFileSync(join(folder.path, "admin.key"), key);
    for (const token of Object.keys(USERS)) writeFileSync(join(folder.path, `${token}.token`), `${token}\n`);
  });
  after(async () => {
    await server.close();
    folder[Symbol.dispose]();
  });

  const file = (name: string): string => join(folder.path, name);
  const trust = (): string[] => ["--certificate-authority", file("ca.crt")];

  it("reports on every resource, with a client certificate or a token, and ends with 0 or 1 by the result", async () => {
    const certificate = ["--client-certificate", file("admin.crt"), "--client-key", file("admin.key")];
    for (const identity of [certificate, ["--token-file", file("secret.token")]]) {
      const { code, stdout, stderr } = await cli("conformance", url, ...trust(), ...identity, "--json");
      const report = JSON.parse(stdout) as ConformanceReport;
      expect(report.resources).to.deep.equal(["notes.v1.test.dev", "tasks.v1.test.dev"]);
      expect(report.passed).to.be.above(50);
      expect({ code, stderr }).to.deep.equal({ code: report.failed === 0 ? 0 : 1, stderr: "" });
    }
  });

  it("--other-token-file mixes the requests of several users", async () => {
    const others = ["--other-token-file", file("other.token"), "--other-token-file", file("patching.token")];
    const own = [...trust(), "--token-file", file("secret.token"), "--check", "T12.1", "--json"];
    const { code, stdout, stderr } = await cli("conformance", url, ...own, ...others);
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: "" });
    const none = await cli("conformance", url, ...own, "--other-token-file", file("none"));
    expect(none).to.include({ code: 2 });
    expect(none.stderr).to.match(/cannot read --other-token-file .*none: /);
  });

  describe("--write", () => {
    const token = (): string[] => [...trust(), "--token-file", file("secret.token")];

    it("writes the given resources, runs the requested checks, and leaves nothing behind", async () => {
      writeFileSync(
        file("sample.yaml"),
        "apiVersion: test.dev/v1\nkind: Note\nmetadata: { generateName: sample- }\nspec: {}\n",
      );
      const narrow = ["--resource", "notes", "--check", "V1", "--check", "T10"];
      const { code, stdout, stderr } = await cli(
        ...["conformance", url, ...token(), "--write", "--sample", file("sample.yaml"), ...narrow, "--json"],
      );
      const { results, left } = JSON.parse(stdout) as ConformanceReport;
      expect({ code, stderr, left }).to.deep.equal({ code: 0, stderr: "", left: [] });
      expect(results.map(({ id }) => id)).to.deep.equal([
        ...Array.from({ length: 15 }, (_, at) => `T10.${at + 1}`),
        "V1",
      ]);
      // The checks of owners and namespaces need --collects.
      const others = results.filter(({ outcome }) => outcome !== "passed").map(({ id, outcome }) => `${id} ${outcome}`);
      expect(others).to.deep.equal(Array.from({ length: 7 }, (_, at) => `T10.${at + 9} skipped`));
      expect(notes.in("root").list()).to.have.length(1);
    });

    it("trusts the same server as another user", async () => {
      const narrow = ["--resource", "notes", "--check", "T9.8", "--patch-only-token-file", file("patching.token")];
      const { code, stdout } = await cli("conformance", url, ...token(), "--write", ...narrow);
      expect(stdout).to.include("1 passed, 0 failed, 0 skipped");
      expect(code).to.equal(0);
    });

    it("deletes its objects when it is interrupted", async () => {
      let creates = 0;
      const { child, end } = startCli(...["conformance", url, ...token(), "--write", "--resource", "notes"]);
      onCreate = () => void (++creates === 20 && child.kill("SIGINT"));
      const { code, stderr } = await end;
      onCreate = () => undefined;
      expect(code).to.equal(1);
      expect(stderr).to.match(/^virtual-workspaces conformance: interrupted; any object left behind has /);
      expect(creates).to.be.at.least(20);
      expect(notes.in("root").list()).to.have.length(1);
    });

    it("requires --resource, rejects its own flags without --write, and requires objects as samples", async () => {
      const complaint = async (...args: readonly string[]): Promise<string> => {
        const { code, stderr } = await cli("conformance", url, ...token(), ...args);
        expect(code).to.equal(2);
        return stderr;
      };
      expect(await complaint("--write")).to.include("--write needs --resource");
      expect(await complaint("--namespace", "other")).to.include("--namespace has no effect without --write");
      writeFileSync(file("text.yaml"), "just a text\n");
      const sample = ["--write", "--resource", "notes", "--sample"];
      expect(await complaint(...sample, file("text.yaml"))).to.include(
        "must be an object with an apiVersion and a kind",
      );
      expect(await complaint(...sample, file("none.yaml"))).to.include("cannot read --sample");
    });
  });

  it("checks only the --resource, and prints text without --json", async () => {
    const { stdout } = await cli(
      "conformance",
      url,
      ...trust(),
      "--token-file",
      file("secret.token"),
      "--resource",
      "notes",
    );
    expect(stdout)
      .to.match(/^https:.*\nnotes\.v1\.test\.dev\n/)
      .and.match(/\d+ passed, \d+ failed, \d+ skipped in /);
    expect(stdout, "no colours in a file").not.to.include("\u001b");
  });

  it("ends with 1 when it cannot read: an unknown certificate authority, or no server", async () => {
    await generatedTls({ dir: file("other") });
    const distrust = await cli("conformance", url, "--certificate-authority", file("other/ca.crt"));
    expect(distrust.code).to.equal(1);
    expect(distrust.stdout).to.match(/0 passed|failed/);
    expect((await cli("conformance", "http://127.0.0.1:1")).code).to.equal(1);
  });
});
