// Errors of `virtual-workspaces start`, in one line with the remedy: exit code 2 for the command line, 1 for the environment.
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { signingKey } from "../_support/issuer.ts";
import { cli } from "./support/dev.ts";
import { Start } from "./support/start.ts";

describe("virtual-workspaces start rejects", function () {
  this.timeout(60_000);

  /** Runs the command in a folder with the files of its flags, and expects one line. */
  async function refusal(flags: readonly string[], folder: string): Promise<{ code: number | null; line: string }> {
    const rooted = flags.map((flag) => flag.replace("=tokens.csv", `=${join(folder, "tokens.csv")}`));
    const { code, stdout, stderr } = await cli("start", "--root-directory", join(folder, "kcp"), ...rooted);
    expect(stderr).to.match(/^virtual-workspaces start: .*\n$/);
    expect(stdout).to.equal("");
    return { code, line: stderr };
  }

  it("a mistake in one line, with 2, before it creates anything", async () => {
    using folder = tree({ "tokens.csv": "alice\n" });
    const { code, line } = await refusal(["--token-auth-file=tokens.csv"], folder.path);
    expect(line).to.match(/tokens\.csv, line 1: .*; see virtual-workspaces start --help\n$/);
    expect(code).to.equal(2);
    expect(existsSync(join(folder.path, "kcp"))).to.equal(false);
  });

  it("a port in use, and an address of another machine", async () => {
    using folder = tree({});
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const taken = await refusal(["--bind-address=127.0.0.1", `--secure-port=${port}`], folder.path);
    other.close();
    expect(taken.line).to.include(
      `127.0.0.1:${port} is in use: stop the process that listens there, or set another port with --secure-port`,
    );
    const foreign = await refusal(["--bind-address=192.0.2.77"], folder.path);
    expect(foreign.line).to.include(
      "192.0.2.77 is not an address of this machine: set another one with --bind-address",
    );
    expect([taken.code, foreign.code]).to.deep.equal([1, 1]);
  });

  it("a folder that is in use, a file, not writable, or kcp's", async () => {
    await using first = await Start.ready();
    await using second = new Start({ in: first.folder.path });
    expect(await second.ended).to.include({ code: 1 });
    expect(second.stderr).to.match(
      /^virtual-workspaces start: \S+kcp is in use by process \d+, which serves at https:\S+ since .*--root-directory.*\n$/,
    );
    expect((await first.get("/readyz")).body).to.equal("ok");
    await using third = await other(first.path("data"));
    expect(await third.ended).to.include({ code: 1 });
    expect(third.stderr).to.match(/^virtual-workspaces start: the store in \S+data is in use by process \d+.*\n$/);

    using folder = tree({ kcp: "" });
    const file = await refusal([], folder.path);
    expect(file.line).to.match(/"\S+kcp" is a file, please delete or select another location/);
    const written = await cli("start", "--root-directory", "/sys/kcp");
    expect(written.stderr).to.match(
      /^virtual-workspaces start: cannot create directory "\/sys\/kcp": .*or name another folder with --root-directory\n$/,
    );
    using theirs = tree({ "kcp/etcd-server/member/wal": "" });
    const kcp = await refusal([], theirs.path);
    expect(kcp.line).to.match(/contains the data of a kcp, which this server cannot read: set another folder/);
    expect([file.code, written.code, kcp.code]).to.deep.equal([1, 1, 1]);
  });

  /** Starts a server with its own root directory, on the data of another one. */
  async function other(data: string): Promise<Start> {
    return new Start({ flags: ["--embedded-etcd-directory", data] });
  }

  it("damaged or lost files of its own, and files of another server", async () => {
    await using first = await Start.ready();
    expect(await first.end("SIGTERM")).to.equal(0);
    const kept = new Map(
      ["admin.kubeconfig", "apiserver.crt", "client-ca.crt", "sa.key"].map((name) => [name, first.text(name)]),
    );
    const data = readFileSync(first.path("data/store/data.mdb"));
    const { privateKey } = signingKey();
    const foreign = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const cases: readonly (readonly [string, string | Buffer, RegExp])[] = [
      ["admin.kubeconfig", "users: [", /invalid kubeconfig ".*admin\.kubeconfig": restore the previous file/],
      ["admin.kubeconfig", "", /an empty token for the shard-admin user: put .* back, or remove/],
      [
        "admin.kubeconfig",
        (kept.get("admin.kubeconfig") ?? "").replaceAll(/token: .*/g, "token: other"),
        /is not valid anymore\. Remove file ".*\.admin-token-store" and restart kcp/,
      ],
      ["apiserver.crt", "nothing", /no PEM certificate and key in ".*apiserver\.crt" and ".*": restore the files/],
      ["client-ca.key", foreign, /client-ca\.key" does not match the certificate in/],
      ["sa.key", "", /sa\.key contains no PEM private key: restore it, or remove it/],
      ["data/store/data.mdb", data.subarray(0, 10_000), /the store in \S+data.*it is damaged: restore a backup/],
    ];
    for (const [name, content, why] of cases) {
      const before = readFileSync(first.path(name));
      writeFileSync(first.path(name), content);
      await using again = new Start({ in: first.folder.path });
      expect(await again.ended, name).to.include({ code: 1 });
      expect(again.stderr)
        .to.match(why)
        .and.match(/^virtual-workspaces start: .*\n$/);
      writeFileSync(first.path(name), before);
    }
    await using again = await Start.ready({ in: first.folder.path });
    expect(again.token("shard-admin"), "nothing was replaced").to.equal(
      /name: shard-admin\n {2}user:\n {4}token: (\S+)/
        .exec(kept.get("admin.kubeconfig") ?? "")?.[1]
        ?.replaceAll('"', ""),
    );
  });

  it("an unreachable etcd", async () => {
    using folder = tree({});
    mkdirSync(join(folder.path, "kcp"));
    const { code, line } = await refusal(["--etcd-servers=http://127.0.0.1:1"], folder.path);
    expect(line).to.match(/Check that etcd runs, that --etcd-servers names it/);
    expect(code).to.equal(1);
  });
});
