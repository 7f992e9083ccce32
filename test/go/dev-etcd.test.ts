// Runs the real command `dev --etcd-servers` over a real etcd: two processes serve the same objects.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../tools/install.mjs";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Dev, type DevOptions } from "../cli/support/dev.ts";
import { create, list, Writers } from "../cli/support/notes.ts";
import { hostedText } from "../cli/support/views.ts";
import { kubectls } from "../e2e/support/kubectls.ts";
import { EtcdCluster, etcdThere, versions } from "./support/etcd.ts";
import { kubectl, startKubectl } from "./support/kubectl.ts";

for (const version of versions)
  describe(`virtual-workspaces dev over etcd ${version}`, function () {
    this.timeout(60_000);
    let etcd: EtcdCluster;
    before(async function () {
      await etcdThere(version).call(this);
      etcd = await EtcdCluster.start({ version });
    });
    after(() => etcd?.[Symbol.asyncDispose]());

    const start = (prefix: string): Promise<Dev> =>
      Dev.start({ files: { "note.ts": hostedText() }, flags: [...flagsOf(etcd), "--etcd-prefix", prefix] });

    it("shows kubectl's writes through one process in a watch of the other, and either may die", async () => {
      const prefix = etcd.prefix();
      await using one = await start(prefix);
      await using other = await start(prefix);
      expect(one.text).to.include(`keep them in etcd at ${etcd.endpoints.join(", ")}.`);
      await using watch = startKubectl(kubectls()[0] ?? "", one.home, ["get", "notes", "--watch-only", "-o", "name"]);
      await one.until(/^\S+ WATCH .* begins$/m);
      const file = join(other.folder.path, "milk.json");
      other.save(
        "milk.json",
        JSON.stringify({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "milk" }, spec: {} }),
      );
      expect(await kubectl(kubectls()[0] ?? "", other.home, ["create", "-f", file])).to.include({
        code: 0,
        stderr: "",
      });
      await watch.until("the write through the other", () => watch.lines.includes("note.test.dev/milk"));
      const { version: before } = await list(one);
      expect((await list(other)).version).to.equal(before);

      await using writers = new Writers(one);
      await writers.more(20);
      await other.end("SIGKILL");
      await writers.more(20);
      const stopped = writers.stop();
      await one.end("SIGKILL");
      await stopped;
      await using third = await start(prefix);
      expect((await list(third)).names).to.include.members(["milk", ...writers.acknowledged]);
    });

    it("reloads without losing or rejecting a write", async () => {
      await using dev = await start(etcd.prefix());
      await using writers = new Writers(dev);
      for (const times of [1, 2]) {
        await writers.more(5);
        dev.save("note.ts", hostedText());
        await dev.until(/^Reloaded in/m, times);
      }
      await writers.stop();
      expect(writers.refusals.join("\n")).to.equal("");
      expect([...writers.codes.keys()]).to.deep.equal([201]);
      expect((await list(dev)).names).to.have.members(writers.acknowledged);
    });

    it("keeps prefixes apart", async () => {
      await using one = await start(etcd.prefix());
      await using other = await start(etcd.prefix());
      expect(await create(one, "mine")).to.equal(201);
      expect((await list(other)).names).to.deep.equal([]);
    });
  });

describe("virtual-workspaces dev, authentication to etcd", function () {
  this.timeout(60_000);
  before(etcdThere("3.6"));

  /** Expects a failed start: one line with the reason, without a secret, and exit code 1. */
  const refused = async (options: DevOptions, why: RegExp): Promise<void> => {
    await using dev = new Dev({ files: { "note.ts": hostedText() }, ...options });
    expect((await dev.ended).code, dev.text).to.equal(1);
    expect(dev.text)
      .to.match(why)
      .and.match(/^virtual-workspaces dev: .*\n$/);
    expect(dev.text).not.to.match(/wrong|secret/);
  };

  it("reports that no etcd answers within 15 s", async () => {
    const flags = ["--port", "0", "--etcd-servers", "http://127.0.0.1:1"];
    await refused({ flags }, /127\.0\.0\.1:1.*Check that etcd runs, that --etcd-servers names it/);
  });

  it("uses the client certificate of the guide's command, and trusts the given authority", async () => {
    const authority = Authority.root("etcd");
    const server = authority.issue({ name: "etcd", usages: [SERVER_AUTH] });
    const { cert, key } = authority.issue({ name: "us" });
    using folder = tree({ "etcd-ca.crt": authority.cert, "server.crt": server.cert, "server.key": server.key });
    const file = (name: string): string => join(folder.path, name);
    await using etcd = await EtcdCluster.start({
      version: "3.6",
      tls: true,
      flags: {
        "cert-file": file("server.crt"),
        "key-file": file("server.key"),
        "trusted-ca-file": file("etcd-ca.crt"),
        "client-cert-auth": true,
      },
    });
    const files = { "view.ts": hostedText(), "etcd-ca.crt": authority.cert, "client.crt": cert, "client.key": key };
    const guide = readFileSync(join(root, "docs/how-to/stores.md"), "utf8");
    const [, command = ""] = /^```sh\n(.* --etcd-servers [\s\S]*?)^```$/m.exec(guide) ?? [];
    const shown = command.trim().split(/[\s\\]+/);
    expect(shown.slice(0, 4)).to.deep.equal(["virtual-workspaces", "dev", "./view.ts", "--etcd-servers"]);
    const flags = [...flagsOf(etcd), ...shown.slice(5)];
    await using dev = await Dev.start({ files, paths: ["./view.ts"], flags });
    expect(await create(dev, "one")).to.equal(201);
    const stranger = Authority.root("stranger").cert;
    await refused({ files: { ...files, "etcd-ca.crt": stranger }, flags }, /--etcd-cafile/);
  });

  it("uses the user of the file or of the environment, and reports a wrong password without showing it", async () => {
    await using etcd = await EtcdCluster.start({ version: "3.6" });
    await (await etcd.store())[Symbol.asyncDispose](); // etcd answers
    const tell = (path: string, body: object): Promise<Response> =>
      fetch(`${etcd.endpoints[0]}/v3/auth/${path}`, { method: "POST", body: JSON.stringify(body) });
    await tell("user/add", { name: "root", password: "secret" });
    await tell("user/grant", { user: "root", role: "root" });
    expect((await tell("enable", {})).ok).to.equal(true);

    const files = { "note.ts": hostedText(), right: "root:secret\n", bad: "root:wrong" };
    const credentials = (file: string): string[] => [...flagsOf(etcd), "--etcd-credentials-file", file];
    {
      await using dev = await Dev.start({ files, flags: credentials("right") });
      expect(await create(dev, "one")).to.equal(201);
      const { output } = await run("ps", ["-A", "-o", "args"]);
      expect(output).to.include("--etcd-credentials-file").and.not.include("root:secret");
    }
    await using dev = await Dev.start({
      files,
      flags: flagsOf(etcd),
      env: { ETCD_USERNAME: "root", ETCD_PASSWORD: "secret" },
    });
    expect((await list(dev)).names).to.deep.equal(["one"]);
    await refused({ files, flags: credentials("bad") }, /Use a user who may read and write below --etcd-prefix/);
    await refused({ files, flags: flagsOf(etcd) }, /Use a user who may read and write below --etcd-prefix/);
  });
});

function flagsOf({ endpoints }: EtcdCluster): string[] {
  return ["--port", "0", "--etcd-servers", endpoints.join(",")];
}
