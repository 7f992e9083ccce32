// Log files: rotation, and lines that cannot be written.
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { jsonLog, type LogFileOptions } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { lineWriter } from "../../packages/framework/src/observe/log/target.ts";
import { expectFault } from "../_setup/faults.ts";
import { tree } from "../_setup/tree.ts";
import { MEMOS, startAudited } from "../_support/audited.ts";

/** 61 bytes: two of them are more than 100. */
const LINE = Buffer.from(`${"x".repeat(60)}\n`);

/** Writes so many lines, with a callback after the first. @returns the reported problems */
async function write(options: LogFileOptions, lines: number, afterOne = (): void => undefined): Promise<string[]> {
  const said: string[] = [];
  const file = lineWriter(options, (error) => said.push(String(error)));
  await file.open();
  for (let at = 0; at < lines; at++) {
    await file.write(LINE);
    if (at === 0) afterOne();
  }
  await file.close();
  return said;
}

describe("a log file", () => {
  it("is renamed only if it is a regular file: neither a link nor a device", async function () {
    if (!existsSync("/dev/null")) this.skip();
    using folder = tree({});
    const path = join(folder.path, "out.log");
    symlinkSync("/dev/null", path);
    expect(await write({ path, maxSize: 100 }, 5)).to.deep.equal([]);
    expect(readdirSync(folder.path)).to.deep.equal(["out.log"]);
    expect(lstatSync(path).isSymbolicLink()).to.equal(true);
  });

  it("is created again after another process has renamed it", async () => {
    using folder = tree({});
    const path = join(folder.path, "a.log");
    expect(await write({ path, maxSize: 100 }, 3, () => renameSync(path, `${path}.1`))).to.deep.equal([]);
    const files = readdirSync(folder.path);
    expect(files).to.include("a.log").and.include("a.log.1");
    expect(files.reduce((sum, file) => sum + lstatSync(join(folder.path, file)).size, 0)).to.equal(3 * LINE.length);
  });

  it("grows on when it cannot be renamed, with one report", async () => {
    using folder = tree({});
    const path = join(folder.path, `${"long".repeat(60)}.log`); // with the time it exceeds the longest file name
    const said = await write({ path, maxSize: 200 }, 9);
    expect(lstatSync(path).size).to.equal(9 * LINE.length);
    expect(said).to.have.lengthOf(1);
    expect(said[0]).to.match(/ENAMETOOLONG/);
  });

  it("keeps all rotated files where the limits are 0, as in Kubernetes", async () => {
    using folder = tree({});
    const path = join(folder.path, "a.log");
    await write({ path, maxSize: 100, maxBackups: 0, maxAge: 0 }, 5);
    expect(readdirSync(folder.path)).to.have.lengthOf(5);
    const whole = join(folder.path, "whole.log");
    await write({ path: whole, maxSize: 0 }, 5);
    expect(lstatSync(whole).size).to.equal(5 * LINE.length);
  });

  it("reports in the log when an audit log or a log cannot be renamed", async () => {
    using folder = tree({});
    const path = join(folder.path, `${"long".repeat(60)}.log`);
    {
      await using server = await startAudited({ audit: { to: { path, maxSize: 10 } } });
      await (await server.ask(MEMOS)).text();
    }
    {
      await using again = await startAudited({ audit: { to: { path, maxSize: 10 } } });
      await (await again.ask(MEMOS)).text();
    }
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).to.have.lengthOf(4);
    expectFault(/audit log file not rotated.*ENAMETOOLONG/);

    const own = join(folder.path, `${"own!".repeat(60)}.log`);
    const log = jsonLog({ to: { path: own, maxSize: 10 } });
    for (const message of ["one", "two", "three"]) {
      log({ level: "info", message });
      await log[Symbol.asyncDispose](); // writes pending lines; a log may be used again
    }
    const messages = readFileSync(own, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).message);
    expect(messages).to.deep.equal(["one", "two", "log file not rotated", "three"]);
  });
});
