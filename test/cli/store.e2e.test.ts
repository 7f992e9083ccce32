// `virtual-workspaces store`: a backup of a store during writes, and its restoration.
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { kubectl } from "../go/support/kubectl.ts";
import { type CliEnd, cli, Dev } from "./support/dev.ts";
import { create, list, NOTES, Writers } from "./support/notes.ts";
import { hostedText } from "./support/views.ts";

describe("virtual-workspaces store", function () {
  this.timeout(60_000);
  before(needsKubectl);

  const flags = (data: string): string[] => ["--port", "0", "--quiet", "--data-dir", data];
  const said = async (dev: Dev, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(kubectls()[0] ?? "", dev.home, args);
    return `${code} ${stdout}${stderr}`;
  };
  /** Runs `backup a.backup data`, in the folder. */
  const store = (dev: Dev, words: string): Promise<CliEnd> => {
    const [action = "", file = "", data = "data"] = words.split(" ");
    const path = (name: string): string => join(dev.folder.path, name);
    return cli("store", action, action === "backup" ? "--to" : "--from", path(file), "--data-dir", path(data));
  };
  /** Expects one line and exit code 1. */
  const refused = async (end: Promise<CliEnd>, why: RegExp): Promise<void> => {
    const { code, stdout, stderr } = await end;
    expect(stderr)
      .to.match(why)
      .and.match(/^virtual-workspaces store: .*\n$/);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
  };

  it("backs up objects while others are written; after the restoration all are there, and old watches get 410", async () => {
    await using dev = await Dev.start({ files: { "note.ts": hostedText() }, flags: flags("data") });
    const note = (name: string): string =>
      JSON.stringify({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name }, spec: {} });
    writeFileSync(join(dev.folder.path, "milk.json"), note("milk"));
    expect(await said(dev, "create", "-f", join(dev.folder.path, "milk.json"))).to.equal(
      "0 note.test.dev/milk created",
    );
    await using writers = new Writers(dev);
    await writers.more(20);
    const { version } = await list(dev);
    const before = ["milk", ...writers.acknowledged];
    const { code, stdout, stderr } = await store(dev, "backup a.backup");
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    expect(stdout).to.match(/^backed up \d+ keys into \S*a\.backup \(revision \d+\)\n$/);
    await writers.more(5);
    await writers.stop();
    expect([...writers.codes.keys()]).to.deep.equal([201]);
    expect(statSync(join(dev.folder.path, "a.backup")).mode & 0o777).to.equal(0o600);
    const last = await list(dev);
    await dev.end("SIGKILL");

    const restored = await store(dev, "restore a.backup elsewhere");
    expect({ ...restored, stdout: "" }).to.deep.equal({ code: 0, stdout: "", stderr: "" });
    expect(restored.stdout).to.match(
      /^restored \d+ keys into \S+\/elsewhere, from a backup of 20\d\d-\d\d-\d\dT[\d:.]+Z \(revision \d+\)\n$/,
    );
    await using heir = await Dev.start({ in: dev.folder.path, flags: flags("elsewhere") });
    const { names, version: now } = await list(heir);
    expect(names).to.include.members(before);
    expect([...names].filter((name) => !last.names.includes(name))).to.deep.equal([]);
    expect(await said(heir, "get", "note", "milk", "-o", "name")).to.equal("0 note.test.dev/milk");
    for (const old of [version, last.version]) {
      const { body } = await heir.get(`${NOTES}?watch=true&resourceVersion=${old}&timeoutSeconds=5`);
      expect(JSON.parse(body)).to.have.nested.property("object.code", 410);
    }
    expect(Number(now)).to.be.above(Number(last.version));
    expect(await create(heir, "after")).to.equal(201);
  });

  it("backs up a store without a server, and replaces an older backup", async () => {
    await using dev = await Dev.start({ files: { "note.ts": hostedText() }, flags: flags("data") });
    expect(await create(dev, "one")).to.equal(201);
    await dev.end("SIGINT");
    dev.save("a.backup", "older");
    expect(await store(dev, "backup a.backup")).to.include({ code: 0 });
    expect(readdirSync(dev.folder.path).sort()).to.deep.equal(["a.backup", "data", "note.ts", "state"]);
    expect(await store(dev, "restore a.backup b")).to.include({ code: 0 });
    await using heir = await Dev.start({ in: dev.folder.path, flags: flags("b") });
    expect((await list(heir)).names).to.deep.equal(["one"]);
  });

  it("rejects commands that would damage something, and invalid ones, in one line", async () => {
    await using dev = await Dev.start({ files: { "note.ts": hostedText() }, flags: flags("data") });
    expect(await create(dev, "one")).to.equal(201);
    expect(await store(dev, "backup a.backup")).to.include({ code: 0 });
    await refused(store(dev, "restore a.backup"), /data is not empty: restore into a new or empty folder/);
    await refused(store(dev, "restore none b"), /the backup .*none does not exist: name another file/);
    await refused(store(dev, "backup b.backup none"), /folder .*none does not exist: use the folder of the server/);
    for (const data of ["note.ts", "note.ts/b"])
      await refused(
        store(dev, `restore a.backup ${data}`),
        /cannot restore into .*: it is not a folder, or below a file; use a new or empty folder/,
      );
    for (const data of ["note.ts", "state"])
      await refused(store(dev, `backup b.backup ${data}`), /.* contains no store: use the folder of the server/);
    await refused(
      store(dev, "backup no/b.backup"),
      /cannot write the backup .*: its directory does not exist: create it/,
    );
    symlinkSync("data", join(dev.folder.path, "link"));
    for (const file of ["data/store/data.mdb", "data/a.backup", "link/store/format.json"])
      await refused(
        store(dev, `backup ${file}`),
        /--to .* is in .*data, the store itself: write the backup to another/,
      );
    expect(existsSync(join(dev.folder.path, "data/a.backup"))).to.equal(false);
    const bytes = readFileSync(join(dev.folder.path, "a.backup"));
    for (const [wrong, why] of [
      [bytes.subarray(0, -1), /is damaged: .*: use another backup; nothing was restored/],
      [Buffer.from(bytes).fill(0xff, bytes.length - 1), /is damaged: .*: use another backup; nothing was restored/],
      [Buffer.from("something else"), /is not a backup of a store/],
    ] as const) {
      writeFileSync(join(dev.folder.path, "b.backup"), wrong);
      await refused(store(dev, "restore b.backup b"), why);
    }
    expect(existsSync(join(dev.folder.path, "b")), "nothing was made").to.equal(false);
    expect((await list(dev)).names).to.deep.equal(["one"]);
  });

  it("does not restore an etcd", async () => {
    using folder = tree({});
    const etcd = ["--etcd-servers", "http://127.0.0.1:1"];
    const { code, stderr } = await cli("store", "restore", "--from", join(folder.path, "x"), ...etcd);
    expect(stderr).to.match(/restore an etcd from its own snapshots, with `etcdutl snapshot restore/);
    expect(code).to.equal(2);
  });
});
