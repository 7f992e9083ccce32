// Faults of a data folder: the command prints one line with the remedy, ends with 1, and damages nothing.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { run } from "../../tools/run.mjs";
import { tree } from "../_setup/tree.ts";
import { Dev, type DevOptions, needsMounts } from "./support/dev.ts";
import { create, list, NOTES } from "./support/notes.ts";
import { hostedText } from "./support/views.ts";

const FLAGS = ["--port", "0", "--quiet", "--data-dir", "data"];

describe("a data folder", function () {
  this.timeout(30_000);

  const start = (options: DevOptions = {}): Promise<Dev> =>
    Dev.start({ files: { "note.ts": hostedText() }, flags: FLAGS, ...options });
  const again = (dev: Dev, options: DevOptions = {}): DevOptions => ({
    in: dev.folder.path,
    flags: FLAGS,
    ...options,
  });
  /** Serves a note, and stops. */
  const stopped = async (): Promise<Dev> => {
    const dev = await start();
    expect(await create(dev, "one")).to.equal(201);
    await dev.end("SIGINT");
    return dev;
  };
  /** Expects that the start fails with one line and ends with 1. */
  const refused = async (options: DevOptions, why: RegExp): Promise<void> => {
    await using dev = new Dev(options);
    expect((await dev.ended).code, dev.text).to.equal(1);
    expect(dev.text)
      .to.match(why)
      .and.match(/^virtual-workspaces dev: /);
    expect(dev.text.trimEnd().split("\n"), "no stack").to.have.length(1);
  };

  it("is readable for its owner only", async () => {
    await using dev = await start();
    for (const folder of ["data", "data/store"])
      expect(statSync(join(dev.folder.path, folder)).mode & 0o777).to.equal(0o700);
  });

  it("is rejected while another process uses it, with the name of that process", async () => {
    await using dev = await start();
    await refused(again(dev, { state: "other" }), /data.*process \d+/);
    expect(await create(dev, "one")).to.equal(201);
    expect((await list(dev)).names).to.deep.equal(["one"]);
  });

  it("with a damaged file stays unchanged", async () => {
    await using dev = await stopped();
    const file = join(dev.folder.path, "data/store/data.mdb");
    const bytes = readFileSync(file);
    writeFileSync(file, Buffer.from(bytes).fill("garbage", 0, 8192));
    await refused(again(dev), /data.*is damaged: restore a backup into an empty directory/);
    expect(readFileSync(file).equals(Buffer.from(bytes).fill("garbage", 0, 8192))).to.equal(true);
    writeFileSync(file, bytes);
    await using mended = await Dev.start(again(dev));
    expect((await list(mended)).names).to.deep.equal(["one"]);
  });

  it("written by a newer version stays unchanged", async () => {
    await using dev = await stopped();
    const file = join(dev.folder.path, "data/store/format.json");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, '{"format":1000}\n');
    await refused(again(dev), /data.*a newer version of this package wrote it: install that version/);
    writeFileSync(file, text);
    await using same = await Dev.start(again(dev));
    expect((await list(same)).names).to.deep.equal(["one"]);
  });

  it("is rejected if it is a file, or below a file", async () => {
    using folder = tree({ "note.ts": hostedText(), data: "" });
    for (const data of ["data", "data/below"])
      await refused(
        { in: folder.path, flags: ["--port", "0", "--data-dir", data] },
        /data.*: it is not a directory, or below a file: choose another one$/m,
      );
    expect(readdirSync(folder.path).sort()).to.deep.equal(["data", "note.ts", "state"]);
  });

  describe("on a file system of its own", () => {
    before(needsMounts);

    it("is rejected if it is read-only", async () => {
      await using dev = await stopped();
      const mounts = "mount --bind data data; mount -o remount,bind,ro data";
      await refused(again(dev, { mounts }), /data.*is not writable: give this user write permission/);
    });

    it("is rejected without sufficient permissions", async () => {
      await using dev = await stopped();
      const folder = join(dev.folder.path, "data");
      expect(await run("chmod", ["-R", "a-w", folder])).to.include({ ok: true });
      // In a user namespace without a mapping, root is an unmapped user.
      const mounts = 'set -- unshare --user "$@"';
      await refused(again(dev, { mounts }), /data.*is not writable: give this user write permission/);
      expect(await run("chmod", ["-R", "u+w", folder])).to.include({ ok: true });
      await using same = await Dev.start(again(dev));
      expect((await list(same)).names).to.deep.equal(["one"]);
    });

    it("rejects writes with 507 while it is full, serves reads, and accepts writes when there is space", async () => {
      await using dev = await start({ mounts: "mkdir data; mount -t tmpfs -o size=2m,mode=0700 tmpfs data" });
      const written: string[] = [];
      let code = 201;
      for (let at = 0; code === 201; at++) {
        code = await create(dev, `n${at}`, "x".repeat(100_000));
        if (code === 201) written.push(`n${at}`);
      }
      expect(code).to.equal(507);
      const note = { apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "last" }, spec: { text: "x" } };
      const { body } = await dev.send(`POST ${NOTES}?dryRun=All`, note);
      expect(JSON.parse(body).metadata.name, "asked, nothing is written").to.equal("last");
      const names = async (): Promise<string[]> => [...(await list(dev)).names].sort();
      expect(await names()).to.deep.equal([...written].sort());
      const room = ["--target", String(dev.pid), "--user", "--preserve-credentials", "--mount"];
      const { ok, output } = await run("nsenter", [
        ...[...room, "mount", "-o", "remount,size=16m", join(dev.folder.path, "data")],
      ]);
      expect(ok, output).to.equal(true);
      expect(await create(dev, "last")).to.equal(201);
      expect(await names()).to.deep.equal([...written, "last"].sort());
    });
  });
});
