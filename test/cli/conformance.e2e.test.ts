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
      expect({ code, left }, stderr).to.deep.equal({ code: 0, left: [] });
      expect(stderr).to.match(
        /^virtual-workspaces conformance: run[0-9a-f]{8} writes notes: no other client may write /,
      );
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
      expect(stderr).to.match(
        /^virtual-workspaces conformance: interrupted; delete any object left behind with: virtual-workspaces \S+ .*--clean=run/m,
      );
      expect(creates).to.be.at.least(20);
      expect(notes.in("root").list()).to.have.length(1);
    });

    it("prints the command that deletes what a killed run has left", async () => {
      let creates = 0;
      const { child, end } = startCli(...["conformance", url, ...token(), "--write", "--resource", "notes"]);
      onCreate = () => void (++creates === 20 && child.kill("SIGKILL"));
      const { stderr } = await end;
      onCreate = () => undefined;
      const left = notes.in("root").list().length - 1;
      expect(left).to.be.above(0);
      const [, words = ""] = /: virtual-workspaces (conformance \S+ .*--clean=run[0-9a-f]{8})$/m.exec(stderr) ?? [];
      const { code, stdout, stderr: problems } = await cli(...words.split(" "));
      expect({ code, problems }).to.deep.equal({ code: 0, problems: "" });
      expect(stdout).to.match(new RegExp(`^deleted ${left} objects? of run[0-9a-f]{8}\n$`));
      expect(notes.in("root").list()).to.have.length(1);
      const again = await cli("conformance", url, ...token(), "--clean", "all");
      expect(again).to.include({ code: 0, stdout: "deleted 0 objects of all runs\n" });
    });

    it("ends with one line when the server is gone", async () => {
      const authority = createAuthority();
      writeFileSync(file("gone-ca.crt"), authority.ca);
      const tasks = Task.collection();
      let creates = 0;
      const rule = ({ verb }: AuthorizeRequest): Decision => {
        if (verb === "create" && ++creates === 20) void mortal.close();
        return allow();
      };
      const view = defineVirtualWorkspace({
        ...{ name: "test", path: "/clusters/:cluster", authorize: rule, resources: [Task.serve(tasks)] },
      });
      const mortal = await startTls([view], { authority, authentication: [staticTokens(USERS)] });
      const at = `https://127.0.0.1:${mortal.port}/services/test/clusters/root`;
      const identity = ["--certificate-authority", file("gone-ca.crt"), "--token-file", file("secret.token")];
      const { code, stdout, stderr } = await cli(
        ...["conformance", at, ...identity, "--write", "--resource", "tasks", "--quiet"],
      );
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
      expect(stderr).to.match(
        /^virtual-workspaces conformance: the server stopped answering after \d+ checks: .+; something may be left behind, delete it with: virtual-workspaces .*--clean=run\w+\n$/,
      );
    });

    it("--clean deletes and does nothing else", async () => {
      const said = async (...args: readonly string[]): Promise<string> => {
        const { code, stderr } = await cli("conformance", url, ...token(), ...args);
        expect(code).to.equal(2);
        return stderr;
      };
      expect(await said("--clean=run0a1b2c3d", "--write")).to.include("--write has no effect with --clean: remove it");
      expect(await said("--clean=run0a1b2c3d", "--resource=notes")).to.include("--resource has no effect with --clean");
      expect(await said("--clean=a,b")).to.include(
        'invalid value "a,b" for --clean: use the name that the run printed',
      );
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
    expect(distrust).to.include({ code: 1, stdout: "" });
    expect(distrust.stderr).to.match(/: no answer from https:\S+: .*certificate.*: use --certificate-authority .*\n$/);
    const { code, stdout, stderr } = await cli("conformance", "http://127.0.0.1:1");
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 1,
      stdout: "",
      stderr:
        "virtual-workspaces conformance: no answer from http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1: start the server, or correct the URL\n",
    });
  });
});
